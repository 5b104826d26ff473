// Two models' weights, on the terminal and as JSON (paritas.weights/1).
#pragma once

#include "paritas/base/json.h"
#include "paritas/report/style.h"
#include "paritas/weights/compare_weights.h"

namespace paritas {

std::string terminal(const WeightsComparison& result, const Style& style);
Json to_json(const WeightsComparison& result);

}  // namespace paritas
