// The result as JSON (schema paritas.placement/1, docs/schemas/placement.schema.json), and back as far as two results
// are compared.
#pragma once

#include "paritas/placement/audit_types.h"

namespace paritas {

Json to_json(const PlacementResult& result);

// What an older result says of its nodes.
struct StoredPlacement {
  std::string file;
  std::string model_sha256;
  std::vector<NodePlacement> nodes;  // name, op, place, provider
  uint64_t partitions = 0, crossings = 0;
  double share = 0;
};
Result<StoredPlacement> read_stored_placement(const Path& path);

PlacementChange compare_placements(const StoredPlacement& before, const PlacementAudit& after);

}  // namespace paritas
