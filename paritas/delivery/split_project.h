// From a project file to a request for splitting.
#pragma once

#include "paritas/delivery/split.h"

namespace paritas {

struct ProjectSplitOptions {
  Path project;
  bool allow_outside = false;
  RuntimeSearch search;
  std::string device;      // of device parts, instead of the project's; empty: the project's
  std::string cpu_target;  // of CPU parts that the project does not name
  Path scratch;            // an existing folder for frozen inputs
};

// Fills model, samples, dims, cuts, parts, boundary, contract, judge_tasks and reference; the rest is left as it is.
// Tasks that are commands are left out, and told in `notes`: a package runs nothing but its parts.
Status fill_from_project(const ProjectSplitOptions& options, SplitRequest& request, std::vector<std::string>& notes);

// "encoder" and "decoder", else "part_1", "part_2"...: device and CPU in turn.
Result<std::vector<SplitPartTarget>> default_parts(size_t parts, const std::string& device, const std::string& cpu,
                                                   const RuntimeSearch& search);

}  // namespace paritas
