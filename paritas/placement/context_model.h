// Models that hold compiled partitions (EPContext nodes of com.microsoft): what stayed an ordinary node did not go into
// a context; what lies between a context's inputs and outputs did.
#pragma once

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

// Nodes of the source model that a context computes: everything from its outputs back to its inputs. `unknown` receives
// tensors at its edge that the source model does not have by any rule.
std::vector<int> nodes_inside(const ContextNode& context, const onnx_model::GraphIndex& source, const NameMap& names,
                              std::vector<std::string>* unknown);

}  // namespace paritas
