// From declared inputs to the tensors that are fed, frozen and hashed.
#pragma once

#include "paritas/project/project.h"
#include "paritas/project/types.h"

namespace paritas {

// Where paths of a project file may lead.
struct ProjectFiles {
  std::string subject;  // the project file, for errors
  Path folder;          // that holds it
  bool allow_outside = false;

  Result<Path> resolve(const std::string& path) const;
};

struct PreparedInputs {
  std::vector<NamedTensors> samples;
  std::vector<NamedTensors> floats, dequantised;  // where a side asks for them
  std::vector<CheckedInput> records;

  const std::vector<NamedTensors>& of(Feed feed) const {
    return feed == Feed::kFloat ? floats : feed == Feed::kDequantised ? dequantised : samples;
  }
};

// Tensors made of images and values are written to `scratch` and stay there.
Result<PreparedInputs> prepare_inputs(const Project& project, const ProjectFiles& files, const Path& scratch);

}  // namespace paritas
