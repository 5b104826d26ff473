// Detectors that scale their boxes by a size input: do they read it as [width, height] or as [height, width]? Names do
// not tell, so the reference is asked: each element is doubled in turn, and what follows is x, y, or neither.
#pragma once

#include "paritas/project/project.h"
#include "paritas/project/types.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

// From the boxes of three runs (`plain`; element 0 doubled; element 1 doubled), each [..., 4]: how coordinates moved.
// Pure, so that it can be tested without a model. Fills found, text, verdict and the figures.
Status conclude_size_probe(const Tensor& plain, const Tensor& first, const Tensor& second, BoxFormat format,
                           SizeProbeResult& result);

struct SizeProbeRequest {
  SizeProbeStep step;
  Path model;
  std::map<std::string, int64_t> dims;
  NamedTensors inputs;
  Target target;
  WorkerOptions worker;  // scratch is its own folder
};
Result<SizeProbeResult> probe_size(const SizeProbeRequest& request, const std::string& subject);

}  // namespace paritas
