// Findings from figures: which wording of the catalogue fits, with its facts.
#pragma once

#include <unordered_set>
#include <vector>

#include "paritas/locate/evidence.h"
#include "paritas/locate/sensitivity.h"
#include "paritas/locate/types.h"
#include "paritas/onnx/random_operators.h"

namespace paritas {

struct ExplainInput {
  const Evidence* evidence = nullptr;
  const Sensitivities* sensitivities = nullptr;
  std::string storage_format;                            // "float16"; empty: as declared
  const onnx_model::RandomDependence* random = nullptr;  // draws that decisions may hang on; null: none
  bool outputs_deviate = false;
  bool demanded = false;          // a gate failed, or the device alone made NaN, infinities or a dead output
  bool device_is_plugin = false;  // placement must be known for these
};

// Appends to result.findings; reads everything else of result.
void explain(const ExplainInput& input, LocateResult& result);

// What the search for islands to restore found.
void explain_search(const RestoreSearch& search, LocateResult& result);

}  // namespace paritas
