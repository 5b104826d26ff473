// extract: the part of a graph between two sets of tensors.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

// Walks backwards from the outputs to the given inputs and collects what lies between.
class Backward {
 public:
  Backward(const Model& model, const GraphIndex& index, const std::vector<std::string>& inputs)
      : model_(model), index_(index), stops_(inputs.begin(), inputs.end()) {}

  Status add(const std::string& output) {
    via_.emplace(output, std::string());
    std::vector<std::string> open{output};
    while (!open.empty()) {
      const std::string tensor = std::move(open.back());
      open.pop_back();
      if (!reached_.insert(tensor).second || stops_.count(tensor) != 0) continue;
      if (index_.is_input(tensor)) return leak(output, tensor);
      const int producer = index_.producer(tensor);
      if (producer < 0) continue;  // an initialiser
      nodes_.insert(producer);
      const auto& node = index_.nodes()[static_cast<size_t>(producer)];
      for (const auto* names : {&node.inputs, &node.captures})
        for (const auto& name : *names) {
          via_.emplace(name, tensor);
          open.push_back(name);
        }
    }
    return {};
  }

  bool reached(const std::string& tensor) const { return reached_.count(tensor) != 0; }
  bool has_node(int node) const { return nodes_.count(node) != 0; }

 private:
  Unexpected leak(const std::string& output, const std::string& input) const {
    const auto it = via_.find(input);
    const std::string through = it == via_.end() || it->second.empty() || it->second == output
                                    ? std::string()
                                    : fmt::format(" through \"{}\"", it->second);
    return usage_error(model_.subject(),
                       fmt::format("\"{}\" also depends on the graph input \"{}\"{}, which the cut does not hold",
                                   output, input, through),
                       fmt::format("add \"{}\" to the inputs, or a tensor behind it", input));
  }

  const Model& model_;
  const GraphIndex& index_;
  std::unordered_set<std::string> stops_;
  std::unordered_set<std::string> reached_;
  std::unordered_map<std::string, std::string> via_;  // tensor -> the tensor that is made from it, towards the output
  std::unordered_set<int> nodes_;
};

}  // namespace

Result<Model> extract(const Model& model, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const std::map<std::string, TensorType>& types) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  for (const auto* names : {&inputs, &outputs})
    for (const auto& name : *names)
      if (!is_known(index, name)) return unknown_tensor(model, name);
  if (outputs.empty()) return usage_error(model.subject(), "no output is named for the extracted part");
  Backward between(model, index, inputs);
  for (const auto& output : outputs) PARITAS_TRY(between.add(output));

  Model result = model.clone();
  Transplant part(result, index, types);
  std::unordered_set<std::string> fed;
  for (const auto& name : inputs)
    if (between.reached(name) && fed.insert(name).second) PARITAS_TRY(part.add_input(name, name));
  std::unordered_set<std::string> written;
  for (const auto& name : outputs)
    if (written.insert(name).second) part.add_output(name, name);
  part.move_constants([&](const std::string& name) { return between.reached(name) && fed.count(name) == 0; });
  for (size_t i = 0; i < index.nodes().size(); ++i)
    if (between.has_node(static_cast<int>(i))) part.move_node(static_cast<int>(i));
  // A node may also make a tensor that is fed (it is needed for another of its outputs).
  UniqueNames names(model.graph());
  for (auto& node : *part.graph().mutable_node())
    for (auto& output : *node.mutable_output())
      if (fed.count(output) != 0) output = names.make(output + "__paritas_computed");
  part.move_declarations();
  return result;
}

}  // namespace paritas::onnx_model
