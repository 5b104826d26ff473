// `paritas explain`: why a layer of a quantised network errs, from its weights and its recorded values.
#pragma once

#include <optional>

#include "paritas/compare/pairing.h"
#include "paritas/explain/types.h"

namespace paritas {

struct ExplainRequest {
  std::vector<std::string> layers;  // node, "17:CONV_2D", tensor, or a pattern with * and ?
  uint64_t worst = 0;               // instead: the layers with the largest error of the two recordings
  Path model;
  std::optional<Path> float_model, reference, device;
  PairingRules names;
};

// Errors: a file; a layer that is not there; recordings of other models, or of different numbers of samples.
Result<ExplainResult> explain(const ExplainRequest& request);

}  // namespace paritas
