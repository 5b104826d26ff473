// Small rows and graphs for tests of the diagnosis: no runtime needed.
#pragma once

#include <string>
#include <vector>

#include "paritas/locate/types.h"
#include "paritas/onnx/graph_index.h"

namespace paritas::testing {

struct NodeSpec {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  // the node is named like its first output
};

// A float graph with the given inputs and outputs.
inline onnx_model::Model model_of(const std::vector<std::string>& inputs, const std::vector<NodeSpec>& nodes,
                                  const std::vector<std::string>& outputs) {
  ::onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  auto* graph = proto.mutable_graph();
  graph->set_name("test");
  auto port = [](::onnx::ValueInfoProto* info, const std::string& name) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(1);
    type->mutable_shape()->add_dim()->set_dim_value(4);
  };
  for (const auto& name : inputs) port(graph->add_input(), name);
  for (const auto& name : outputs) port(graph->add_output(), name);
  for (const NodeSpec& spec : nodes) {
    auto* node = graph->add_node();
    node->set_op_type(spec.op);
    node->set_name(spec.outputs.front());
    for (const auto& name : spec.inputs) node->add_input(name);
    for (const auto& name : spec.outputs) node->add_output(name);
  }
  const std::string bytes = proto.SerializeAsString();
  return std::move(*onnx_model::Model::parse(std::as_bytes(std::span(bytes)), ".", "test"));
}

inline PairMetrics metrics(double cosine, double nmse) {
  PairMetrics m;
  m.count = m.finite = 4;
  m.differing = nmse > 0 ? 4 : 0;
  m.cosine = cosine;
  m.nmse = nmse;
  m.max_abs = 1;
  m.reference_norm = 1;
  m.error_norm = std::sqrt(nmse);
  return m;
}

// A float row of node `name` whose tensor has the same name.
inline NodeRow row(const std::string& name, double accumulated_cosine, double local_nmse) {
  NodeRow r;
  r.name = r.tensor = name;
  r.op = "Mul";
  r.shape = {4};
  r.accumulated = metrics(accumulated_cosine, accumulated_cosine < 0.99 ? 0.5 : 1e-6);
  r.local = LocalError{};
  r.local->metrics = metrics(1, local_nmse);
  r.local->metrics.storage = StorageBaseline{};
  r.local->metrics.storage->max_abs = 1e-4;
  return r;
}

}  // namespace paritas::testing
