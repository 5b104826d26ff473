// The samples that are monitored, one at a time: declared inputs made into tensors, with nothing kept open.
#pragma once

#include "paritas/monitor/monitor.h"
#include "paritas/project/prepared.h"
#include "paritas/project/project.h"

namespace paritas {

// Puts the files of request.folder or request.list in the place of those that the project declares.
Status take_samples(const MonitorRequest& request, Project& project);

// Samples of the project; an error when inputs disagree.
Result<uint64_t> count_samples(const Project& project);

struct FedSample {
  std::string file;    // of the first input that is read from files
  std::string sha256;  // of what is fed
  NamedTensors reference, device;
};

// Tensors lie in `scratch`, which is emptied first: those of the sample before must be gone.
Result<FedSample> feed_sample(const Project& project, const ProjectFiles& files, uint64_t index, Feed reference,
                              Feed device, const Path& scratch);

}  // namespace paritas
