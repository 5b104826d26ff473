// What Environment fills and Session uses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/runtime/ort/api.h"
#include "paritas/runtime/ort/session.h"

namespace paritas::ort {

struct Session::Impl {
  std::string subject;  // the model's path
  std::string target;   // as the user wrote it
  Ort::Session session{nullptr};
  SessionInfo info;
  std::vector<std::string> fetch;  // what run() hands out unless told otherwise

  // `wanted`, or all outputs when it is empty; an error for a name that the model lacks or that is no tensor.
  Result<std::vector<std::string>> checked_fetch(const std::vector<std::string>& wanted) const;
};

}  // namespace paritas::ort
