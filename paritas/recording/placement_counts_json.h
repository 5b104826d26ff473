// Placement counts as they stand in run.json and in manifests.
#pragma once

#include "paritas/recording/provenance.h"

namespace paritas {

Result<PlacementCounts> placement_from_json(const Json& json, const std::string& subject);

}  // namespace paritas
