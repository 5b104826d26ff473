// Places for other viewers: node data for Model Explorer, and node metadata in a copy of the model, which Netron shows.
#pragma once

#include "paritas/placement/audit_types.h"

namespace paritas {

// Model Explorer's custom node data: {"main": {"results": {OUTPUT TENSOR: {"value", "bgColor"}}}}. Nodes are keyed by
// their first output, since names need not be unique.
Result<Json> node_data(const Path& model, const PlacementAudit& placement);

// A folder with a copy of the model (model.onnx, and model.weights where there are large weights) whose nodes have
// metadata: paritas.place, paritas.provider, paritas.partition, paritas.evidence. Refuses an existing folder unless
// `overwrite` and it holds a model.onnx.
Status write_annotated(const Path& model, const PlacementAudit& placement, const Path& folder, bool overwrite);

}  // namespace paritas
