// `locate` over many samples: every sample is diagnosed by itself, in sessions that stay open, and what it came to is
// written down before the next begins; the whole is made from what is written.
#pragma once

#include <optional>

#include "paritas/locate/locate.h"
#include "paritas/locate/sample_source.h"
#include "paritas/locate/samples_types.h"

namespace paritas {

// Runs that injection may take on one sample, unless the request says so: a number of runs and no time, so that a
// result does not depend on how fast a machine is.
inline constexpr int kInjectionRunsPerSample = 200;

struct SamplesRequest {
  LocateRequest base;  // its inputs and search are not used; groups, probe checks and --full are for one sample
  SampleSource* samples = nullptr;
  // Asked on all samples at once, after the diagnosis of each; samples of the search are set here.
  std::optional<LocateRequest::Search> search;
  std::optional<Path> state;  // folder that a killed run can go on from; none: in scratch
};

// Samples that cannot be diagnosed are named in the result and make it invalid. Fails when none can, and at once when
// the request itself is wrong.
Result<SamplesResult> locate_samples(const SamplesRequest& request);

// What a state is of: everything that a result depends on besides the inputs. Keys are words for the user.
Result<Json> subject_of(const LocateRequest& request);
// The part of it that a target is.
Result<Json> subject_of(const Target& target);
// The model file, the graph as it was loaded (small weights that lie in other files are part of it), and the files that
// large weights lie in, those of bodies and Constant nodes among them.
Result<std::string> sha256_of_model(const onnx_model::Model& model);

}  // namespace paritas
