// What several edits need. Not for use outside paritas/onnx.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/onnx/edit.h"

namespace paritas::onnx_model {

// Types that the model states for the tensors of its main graph.
class DeclaredTypes {
 public:
  // Refers to `graph`, which must not change meanwhile.
  explicit DeclaredTypes(const ::onnx::GraphProto& graph);
  // nullptr: not declared.
  const ::onnx::TypeProto* find(const std::string& tensor) const;

 private:
  std::unordered_map<std::string, const ::onnx::TypeProto*> declared_;
  std::unordered_map<std::string, ::onnx::TypeProto> constants_;
};

::onnx::TypeProto to_proto(const TensorType& type);

// A graph that is built anew from parts of an old one.
class Transplant {
 public:
  using NamePredicate = std::function<bool(const std::string& tensor)>;

  // Empties the graph of `result` (a clone of the model that `index` describes); name and metadata stay.
  Transplant(Model& result, const GraphIndex& index, const std::map<std::string, TensorType>& types);

  ::onnx::GraphProto& graph() { return graph_; }
  // A graph input or output `name` of the type of the old graph's `tensor`. Inputs need a type; outputs may do without.
  Status add_input(const std::string& name, const std::string& tensor);
  void add_output(const std::string& name, const std::string& tensor);
  // Moves a node, given by its position in the index; each at most once, in ascending order.
  ::onnx::NodeProto& move_node(int node);
  void move_constants(const NamePredicate& wanted);
  // Last step: the declared types of all tensors that the new nodes make and that are no graph inputs or outputs.
  void move_declarations();

 private:
  std::optional<::onnx::TypeProto> type_of(const std::string& tensor) const;

  const std::string subject_;
  const GraphIndex& index_;
  const std::map<std::string, TensorType>& types_;
  ::onnx::GraphProto& graph_;
  ::onnx::GraphProto old_;
  std::optional<DeclaredTypes> declared_;
};

// "does a tensor of this name exist": graph input, initialiser or node output.
bool is_known(const GraphIndex& index, const std::string& tensor);
Unexpected unknown_tensor(const Model& model, const std::string& tensor);

// Puts nodes in front of all others.
void prepend_nodes(::onnx::GraphProto& graph, std::vector<::onnx::NodeProto> nodes);

// Takes the initialiser `tensor` out (from the graph inputs, too).
void remove_constant(::onnx::GraphProto& graph, const std::string& tensor);

// From IR version 4 on, initialisers need not be graph inputs.
void need_free_initializers(::onnx::ModelProto& proto);

// Removes nodes that no graph output needs, initialisers that nothing reads (from the inputs, too), and the type
// declarations of tensors that are gone. Other graph inputs stay: callers feed them.
void prune(::onnx::GraphProto& graph);

// Removes elements of a repeated field for which `gone` holds; the others keep their order.
template <class Field, class Predicate>
void erase_if(Field& field, Predicate gone) {
  int kept = 0;
  for (int i = 0; i < field.size(); ++i) {
    if (gone(field.Get(i))) continue;
    if (i != kept) field.SwapElements(i, kept);
    ++kept;
  }
  field.DeleteSubrange(kept, field.size() - kept);
}

}  // namespace paritas::onnx_model
