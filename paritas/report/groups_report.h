// Errors by groups, as part of locate's report and JSON.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/group_checks.h"
#include "paritas/report/style.h"

namespace paritas {

Json to_json(const GroupReport& report);
std::string group_block(const GroupReport& report, const Style& style);

}  // namespace paritas
