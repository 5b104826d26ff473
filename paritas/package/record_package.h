// A package as a target: what its chain of parts does with samples, as a recording.
#pragma once

#include <functional>
#include <optional>

#include "paritas/package/chain.h"
#include "paritas/recording/recording.h"

namespace paritas {

struct RecordPackageRequest {
  const Package* package = nullptr;
  std::vector<NamedTensors> samples;
  RuntimeSearch search;
  Path output;
  bool overwrite = false;
  WorkerOptions worker;  // scratch is set here
  Path scratch_root;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// "package:DIR", as targets are written: the folder. Empty: another target.
std::optional<Path> package_of_target(const std::string& target);

// Inputs, boundary tensors (as intermediates) and outputs. Placement counts all parts together; what each part did
// stands in the notes. Nothing is left at `output` when anything fails.
Result<RunInfo> record_package(const RecordPackageRequest& request);

// The package run on the inputs that `recorded` holds, sample by sample: for a comparison with it. The request's
// samples are not looked at.
Result<RunInfo> record_on_inputs_of(RecordPackageRequest request, SampleStream& recorded);

// Inputs against the contract: names, types, shapes; none too many.
Status check_package_inputs(const Package& package, const NamedTensors& inputs);

// Of a recording that chain runs made: which tensor has which role. `tensors` as they are stored.
std::vector<TensorInfo> describe_package_tensors(const Package& package, const NamedTensors& tensors,
                                                 const std::vector<Stage>& stages);

}  // namespace paritas
