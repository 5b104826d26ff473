// Models that hold compiled partitions (EPContext nodes of com.microsoft): what stayed an ordinary node did not go into
// a context; what lies between a context's inputs and outputs did.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/model.h"
#include "paritas/placement/name_map.h"

namespace paritas {

struct ContextNode {
  std::string name;  // equals the name of the partition in the provider's op trace
  std::string provider;
  bool embedded = false;  // the binary lies in the model
  std::string sdk_version;
  std::vector<std::string> inputs, outputs;  // tensors
};

struct ContextModel {
  std::string subject;
  std::vector<ContextNode> contexts;
  std::vector<std::string> ordinary;  // names of the nodes that are none
};

// No contexts when the model has none.
ContextModel context_model(const onnx_model::Model& model, const onnx_model::GraphIndex& index);
Result<ContextModel> read_context_model(const Path& path);

// Nodes of the source model that a context computes: everything that depends on the model's inputs, from the context's
// outputs back to its inputs. Nodes of `taken` (outside all contexts, or inside one that comes earlier) end the walk
// too: an input whose name the runtime made up must not lead into the partitions before. `unknown` receives tensors at
// the edge that the source model does not have by any rule.
std::vector<int> nodes_inside(const ContextNode& context, const onnx_model::GraphIndex& source,
                              const onnx_model::ValueDependence& dependence, const NameMap& names,
                              const std::set<int>& taken, std::vector<std::string>* unknown);

}  // namespace paritas
