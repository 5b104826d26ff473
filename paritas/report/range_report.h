// Report of the range preflight (inspect --range).
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/preflight_types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const PreflightResult& result, const Style& style);
Json to_json(const PreflightResult& result);  // schema paritas.range/1

}  // namespace paritas
