// What paritas inspect shows of a package. Its sums were checked when it was opened; nothing was run.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/package/package.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const Package& package, const Style& style);
Json to_json(const Package& package);

}  // namespace paritas
