// What the commands that run a reference against a device fill in alike.
#pragma once

#include <optional>
#include <string>

#include "paritas/cli/common.h"
#include "paritas/locate/locate.h"

namespace paritas::cli {

// Targets, dimensions, memory, worker, scratch and threads of `request`; not its model, inputs and gates. Without
// `device` the request's stays as it is.
Status fill_diagnosis(const RunOptions& run, const CommonOptions& common, const std::string& reference,
                      const std::optional<std::string>& device, LocateRequest& request);

}  // namespace paritas::cli
