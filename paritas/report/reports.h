// Reports: pure functions from result structs to text. Nothing is computed here.
#pragma once

#include <string>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/compare/compare.h"
#include "paritas/inspect/inspect.h"
#include "paritas/locate/types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const CompareResult& result, const Style& style);
std::string terminal(const LocateResult& result, const Style& style);
std::string terminal(const Inspection& inspection, const Style& style);

Json to_json(const CompareResult& result);   // schema paritas.compare/1, docs/results.md
Json to_json(const LocateResult& result);    // schema paritas.locate/1
Json to_json(const Inspection& inspection);  // schema paritas.inspect/1

}  // namespace paritas
