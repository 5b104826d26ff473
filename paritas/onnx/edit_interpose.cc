// interpose: a node of another operator behind tensors, bodies included.
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"
#include "paritas/onnx/element_types.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

// Tensors whose values decide shapes, by the operand that they are read as.
std::unordered_set<std::string> shape_operands(const ::onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& node : graph.node()) {
    const uint32_t operands = facts_of(node).shape_operands;
    for (int i = 0; i < node.input_size() && i < 32; ++i)
      if ((operands >> i & 1) != 0) names.insert(node.input(i));
  }
  return names;
}

class Interposer {
 public:
  Interposer(const Interpose& what, ::onnx::GraphProto& main) : what_(what), main_(main), names_(main) {}

  void run() { process(main_, nullptr, 0); }

 private:
  // What one graph needs to know while it is processed.
  struct Place {
    bool main = false;
    ElementTypes types;
    std::unordered_set<std::string> shape_operands;
  };

  bool wanted(const Place& place, const std::string& tensor) const {
    if (tensor.empty() || !place.types.may_be_float(tensor) || place.shape_operands.count(tensor) != 0) return false;
    return !what_.wanted || what_.wanted(place.main ? tensor : std::string());
  }

  ::onnx::NodeProto interposed(const std::string& tensor, const std::string& from, const std::string& to) {
    ::onnx::NodeProto node;
    node.set_op_type(what_.op_type);
    node.set_domain(what_.domain);
    node.set_name(names_.make(fmt::format("{}__paritas_{}", tensor, what_.op_type)));
    node.add_input(from);
    node.add_output(to);
    for (const auto& attribute : what_.attributes) *node.add_attribute() = attribute;
    return node;
  }

  // `first_input`: inputs of a body before it are counters and conditions.
  void process(::onnx::GraphProto& graph, const ElementTypes* outer, int first_input) {
    const Place place{&graph == &main_, ElementTypes(graph, outer), shape_operands(graph)};
    std::vector<::onnx::NodeProto> front;
    if (what_.initializers) behind_initializers(graph, place, front);
    const Renames rewired = what_.graph_inputs ? behind_inputs(graph, place, first_input, front) : Renames();
    ::google::protobuf::RepeatedPtrField<::onnx::NodeProto> old;
    old.Swap(graph.mutable_node());
    for (auto& node : front) graph.add_node()->Swap(&node);
    for (auto& node : old) {
      if (place.main && what_.untouched && node.output_size() > 0 && what_.untouched(node.output(0))) {
        graph.add_node()->Swap(&node);
        continue;
      }
      if (!rewired.empty()) rename_reads(node, rewired);
      for (auto* body : mutable_bodies_of(node)) process(*body, &place.types, node.op_type() == "Loop" ? 2 : 0);
      std::vector<::onnx::NodeProto> behind;
      if (what_.node_outputs) behind_outputs(node, place, behind);
      graph.add_node()->Swap(&node);
      for (auto& added : behind) graph.add_node()->Swap(&added);
    }
    if (place.main) return;
    // Callers know a body's outputs by position, so one that is an input of the body may be renamed.
    for (auto& output : *graph.mutable_output())
      if (const auto it = rewired.find(output.name()); it != rewired.end()) output.set_name(it->second);
  }

  void behind_initializers(::onnx::GraphProto& graph, const Place& place, std::vector<::onnx::NodeProto>& front) {
    std::unordered_set<std::string> moved;
    const auto move = [&](::onnx::TensorProto& tensor) {
      const std::string name = tensor.name();
      if (!wanted(place, name)) return;
      tensor.set_name(names_.make(name + "__paritas_raw"));
      front.push_back(interposed(name, tensor.name(), name));
      moved.insert(name);
    };
    for (auto& tensor : *graph.mutable_initializer()) move(tensor);
    for (auto& sparse : *graph.mutable_sparse_initializer()) move(*sparse.mutable_values());
    erase_if(*graph.mutable_input(), [&](const auto& input) { return moved.count(input.name()) != 0; });
  }

  Renames behind_inputs(::onnx::GraphProto& graph, const Place& place, int first_input,
                        std::vector<::onnx::NodeProto>& front) {
    std::unordered_set<std::string> constants;
    for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
    Renames rewired;
    for (int i = first_input; i < graph.input_size(); ++i) {
      const std::string& name = graph.input(i).name();
      if (constants.count(name) != 0 || !wanted(place, name)) continue;
      const std::string& to = rewired[name] = names_.make(name + "__paritas_interposed");
      front.push_back(interposed(name, name, to));
    }
    return rewired;
  }

  void behind_outputs(::onnx::NodeProto& node, const Place& place, std::vector<::onnx::NodeProto>& behind) {
    for (auto& output : *node.mutable_output()) {
      if (!wanted(place, output)) continue;
      const std::string name = output;
      output = names_.make(name + "__paritas_raw");
      behind.push_back(interposed(name, output, name));
    }
  }

  const Interpose& what_;
  ::onnx::GraphProto& main_;
  UniqueNames names_;
};

void import_domain(::onnx::ModelProto& proto, const std::string& domain) {
  if (domain.empty() || domain == "ai.onnx") return;
  for (const auto& import : proto.opset_import())
    if (import.domain() == domain) return;
  auto* import = proto.add_opset_import();
  import->set_domain(domain);
  import->set_version(1);
}

}  // namespace

Result<Model> interpose(const Model& model, const Interpose& what) {
  PARITAS_TRY(GraphIndex::build(model));
  Model result = model.clone();
  if (what.initializers) need_free_initializers(result.proto());
  import_domain(result.proto(), what.domain);
  Interposer(what, result.graph()).run();
  return result;
}

}  // namespace paritas::onnx_model
