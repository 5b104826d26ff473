#include "paritas/base/error.h"

#include <system_error>

namespace paritas {

std::string Error::message() const {
  std::string text = subject.empty() ? cause : subject + ": " + cause;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

Unexpected usage_error(std::string subject, std::string cause, std::string remedy) {
  return Unexpected(Error{ErrorKind::kUsage, std::move(subject), std::move(cause), std::move(remedy), {}});
}

Unexpected input_error(std::string subject, std::string cause, std::string remedy) {
  return Unexpected(Error{ErrorKind::kInput, std::move(subject), std::move(cause), std::move(remedy), {}});
}

Unexpected runtime_error(std::string subject, std::string cause, std::string remedy, std::string details) {
  return Unexpected(
      Error{ErrorKind::kRuntime, std::move(subject), std::move(cause), std::move(remedy), std::move(details)});
}

std::string errno_text(int number) { return std::generic_category().message(number); }

}  // namespace paritas
