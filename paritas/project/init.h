// `paritas init`: a commented project file for a model, and a dump if there is one.
#pragma once

#include <optional>
#include <string>

#include "paritas/base/files.h"
#include "paritas/vendor/import.h"

namespace paritas {

struct InitRequest {
  Path model;
  std::optional<Path> dump;  // the device's, recorded elsewhere
  Path output;               // where the file is to stand: paths in it are relative to its folder
  ImportOptions import;      // of the dump; its model is `model`. What is declared here is written into the file
};

// The text. Roles and gates are suggested in comments, never declared: only the user knows them.
Result<std::string> make_project(const InitRequest& request);

}  // namespace paritas
