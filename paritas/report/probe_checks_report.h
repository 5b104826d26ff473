// Local probes in depth, as part of locate's report and JSON.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/probe_checks_types.h"
#include "paritas/report/style.h"

namespace paritas {

Json to_json(const ProbeChecks& checks);
std::string probe_checks_blocks(const ProbeChecks& checks, const Style& style);

}  // namespace paritas
