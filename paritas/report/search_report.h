// The search for islands to restore, as part of locate's report and JSON.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/types.h"
#include "paritas/report/style.h"

namespace paritas {

Json to_json(const RestoreSearch& search);
std::string search_block(const RestoreSearch& search, const Style& style);

}  // namespace paritas
