// Errors are values. Each says which file (or option) it is about, what is wrong, and what the user can do.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace paritas {

enum class ErrorKind {
  kUsage,    // the command line or a declaration is wrong            -> exit code 2
  kInput,    // a file is missing, malformed, or refuses to be written -> exit code 2
  kRuntime,  // a run, a session, a worker or the environment failed   -> exit code 3
};

struct Error {
  ErrorKind kind = ErrorKind::kInput;
  std::string subject;  // file, option or target that the error is about; may be empty
  std::string cause;    // what is wrong, one clause, no full stop
  std::string remedy;   // what to do about it; may be empty
  std::string details;  // captured output of a worker and the like; shown below the sentence; may be empty

  // "subject: cause; remedy"
  std::string message() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;
using Unexpected = tl::unexpected<Error>;

Unexpected usage_error(std::string subject, std::string cause, std::string remedy = {});
Unexpected input_error(std::string subject, std::string cause, std::string remedy = {});
Unexpected runtime_error(std::string subject, std::string cause, std::string remedy = {}, std::string details = {});

// The text of errno, e.g. "No space left on device".
std::string errno_text(int number);

}  // namespace paritas

#define PARITAS_CONCAT_INNER(a, b) a##b
#define PARITAS_CONCAT(a, b) PARITAS_CONCAT_INNER(a, b)

// PARITAS_TRY(status_expression);             returns the error of a Status or Result to the caller
#define PARITAS_TRY(expression)                                                                 \
  do {                                                                                          \
    auto&& paritas_try_result = (expression);                                                   \
    if (!paritas_try_result) return tl::make_unexpected(std::move(paritas_try_result).error()); \
  } while (false)

// PARITAS_ASSIGN(auto x, result_expression);  declares or assigns x, or returns the error to the caller
#define PARITAS_ASSIGN(lhs, expression) PARITAS_ASSIGN_INNER(PARITAS_CONCAT(paritas_result_, __LINE__), lhs, expression)
#define PARITAS_ASSIGN_INNER(result, lhs, expression)                 \
  auto result = (expression);                                         \
  if (!result) return tl::make_unexpected(std::move(result).error()); \
  lhs = std::move(*result)
