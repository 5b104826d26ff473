// `paritas explain` on the terminal and as JSON (paritas.explain/1).
#pragma once

#include "paritas/base/json.h"
#include "paritas/explain/types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const ExplainResult& result, const Style& style);
Json to_json(const ExplainResult& result);

}  // namespace paritas
