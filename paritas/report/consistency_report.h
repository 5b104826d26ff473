// Noise floors and the probe effect, as part of locate's report and JSON.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/types.h"
#include "paritas/report/style.h"

namespace paritas {

Json to_json(const Consistency& consistency);
// Null when the output moves in no check.
Json noise_floor_json(const Consistency& consistency, const std::string& output);

std::string consistency_block(const Consistency& consistency, const Style& style);
// Which graphs the figures come from, where that matters; empty otherwise.
std::string graphs_block(const LocateResult& result, const Style& style);

}  // namespace paritas
