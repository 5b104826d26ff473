// The words of gates, shared by their reader and their evaluation. Internal to judge.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "paritas/judge/gates.h"

namespace paritas {

std::span<const GateOp> all_ops();  // two-character ones first, so that a prefix search finds the longest
std::optional<GateOp> op_from_name(std::string_view text);
std::optional<GateUnit> unit_from_name(std::string_view text);

}  // namespace paritas
