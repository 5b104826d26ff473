// Figures of one weight, and of its error against the float model's.
#pragma once

#include <optional>

#include "paritas/explain/types.h"
#include "paritas/weights/weights.h"

namespace paritas {

// `floating`: the same weight of the float model, or nullptr. `axis`: where the output's channels lie, if known; the
// quantisation's own axis goes before it.
Result<WeightFigures> weight_figures(const Weight& weight, const Weight* floating, std::optional<int> axis);

}  // namespace paritas
