// Parts that the JSON of several diagnoses shares.
#pragma once

#include "paritas/base/json.h"
#include "paritas/locate/types.h"

namespace paritas {

Json to_json(const OutputRow& row);
Json to_json(const DecisionReport& decision);

}  // namespace paritas
