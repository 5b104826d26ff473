// Places for other viewers: node data for Model Explorer, and node metadata in a copy of the model, which Netron shows.
#pragma once

#include "paritas/placement/audit_types.h"

namespace paritas {

// Model Explorer's custom node data for the graph that is shown: {"results": {NODE: {"value", "bgColor"}}}. Keys are
// names of nodes, as its ONNX adapter has them; where a node has none of its own, its first output.
Result<Json> node_data(const Path& model, const PlacementAudit& placement);

// A folder with a copy of the model (model.onnx, and model.weights where there are large weights) whose nodes have
// metadata: paritas.place, paritas.provider, paritas.partition, paritas.evidence. Refuses an existing folder unless
// `overwrite` and it holds a model.onnx.
Status write_annotated(const Path& model, const PlacementAudit& placement, const Path& folder, bool overwrite);

}  // namespace paritas
