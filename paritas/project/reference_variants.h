// The other answer of a quantised reference (runtime/qdq_variants.h), and what it means for a check: a difference that
// the reference makes by itself convicts nobody, and a gate that its own movement would fail proves nothing.
#pragma once

#include <functional>

#include "paritas/compare/compare.h"
#include "paritas/project/types.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct VariantsRequest {
  Path model;
  std::map<std::string, int64_t> dims;
  Target reference;
  const std::vector<NamedTensors>* samples = nullptr;  // inputs
  // As they were run, in the reference's words; made when they are read.
  std::function<std::unique_ptr<SampleStream>()> view_reference, view_device;
  WorkerOptions worker;
  Path scratch;
  CompareOptions options;  // as the device is compared with the reference
};

// nullopt: the model holds no QDQ pairs, or the reference does not run on ONNX Runtime's CPU. That the other variant
// cannot be run is part of the result; an error is one of this machine.
Result<std::optional<ReferenceVariants>> measure_variants(const VariantsRequest& request);

// Outputs of `comparison` whose gates cannot tell, by the rules of locate/consistency_judge.h, become invalid, with the
// reason as their rule, and stand in `variants.undecided`.
void judge_variants(const GateSet& gates, ReferenceVariants& variants, CompareResult& comparison);

}  // namespace paritas
