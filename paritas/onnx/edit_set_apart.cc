// set_apart: nodes that are to be treated otherwise than the rest of the graph.
#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"
#include "paritas/onnx/element_types.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

class SettingApart {
 public:
  SettingApart(const Model& model, const std::unordered_set<std::string>& first_outputs)
      : result_{model.clone(), first_outputs, {}}, names_(result_.model.graph()) {}

  Result<SetApart> run() {
    auto& graph = result_.model.graph();
    const ElementTypes types(graph, nullptr);
    for (const auto& tensor : graph.initializer()) initializers_[tensor.name()] = &tensor;
    for (const auto& node : graph.node())
      if (node.op_type() == "Constant" && node.domain().empty() && node.output_size() == 1)
        constant_nodes_[node.output(0)] = &node;
    size_t found = 0;
    for (auto& node : *graph.mutable_node()) {
      if (!is_apart(node)) continue;
      ++found;
      copy_constants(node);
      for (const auto& output : node.output())
        if (!output.empty() && types.may_be_float(output))
          handed_on_[output] = names_.make(output + "__paritas_handed_on");
    }
    if (found != result_.first_outputs.size())
      return input_error(result_.model.subject(),
                         fmt::format("{} of the {} nodes to set apart are not in the graph",
                                     result_.first_outputs.size() - found, result_.first_outputs.size()));
    rebuild(graph);
    return std::move(result_);
  }

 private:
  bool is_apart(const ::onnx::NodeProto& node) const {
    return node.output_size() > 0 && result_.first_outputs.count(node.output(0)) != 0;
  }

  void copy_constants(::onnx::NodeProto& node) {
    std::vector<std::string> reads(node.input().begin(), node.input().end());
    for (const std::string& name : captures_of(node)) reads.push_back(name);
    Renames renames;
    for (const std::string& name : reads) {
      if (const auto known = copies_.find(name); known != copies_.end()) {
        renames[name] = known->second;
      } else if (const auto tensor = initializers_.find(name); tensor != initializers_.end()) {
        ::onnx::TensorProto copy = *tensor->second;
        copy.set_name(names_.make(name + "__paritas_apart"));
        renames[name] = copies_[name] = copy.name();
        result_.constants.insert(copy.name());
        new_initializers_.push_back(std::move(copy));
      } else if (const auto constant = constant_nodes_.find(name); constant != constant_nodes_.end()) {
        ::onnx::NodeProto copy = *constant->second;
        const std::string output = names_.make(name + "__paritas_apart");
        copy.set_output(0, output);
        copy.set_name(names_.make(copy.name() + "__paritas_apart"));
        renames[name] = copies_[name] = output;
        result_.constants.insert(output);
        copied_nodes_.push_back(output);
        new_constants_.push_back(std::move(copy));
      }
    }
    if (!renames.empty()) rename_reads(node, renames);
  }

  // Behind each node that is apart, an Identity for the others, which are rewired to it.
  void rebuild(::onnx::GraphProto& graph) {
    ::google::protobuf::RepeatedPtrField<::onnx::NodeProto> old;
    old.Swap(graph.mutable_node());
    for (auto& constant : new_constants_) graph.add_node()->Swap(&constant);
    for (auto& node : old) {
      const bool apart = is_apart(node);
      if (!apart) rename_reads(node, handed_on_);
      std::vector<::onnx::NodeProto> behind;
      if (apart)
        for (const auto& output : node.output())
          if (const auto it = handed_on_.find(output); it != handed_on_.end()) behind.push_back(identity(*it));
      graph.add_node()->Swap(&node);
      for (auto& added : behind) graph.add_node()->Swap(&added);
    }
    for (auto& tensor : new_initializers_) *graph.add_initializer() = std::move(tensor);
    if (!new_initializers_.empty()) need_free_initializers(result_.model.proto());
    // Constant nodes that were copied are treated like the nodes that read them.
    result_.first_outputs.insert(copied_nodes_.begin(), copied_nodes_.end());
  }

  ::onnx::NodeProto identity(const std::pair<const std::string, std::string>& from_to) {
    ::onnx::NodeProto node;
    node.set_op_type("Identity");
    node.set_name(names_.make(from_to.second));
    node.add_input(from_to.first);
    node.add_output(from_to.second);
    return node;
  }

  SetApart result_;
  UniqueNames names_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> initializers_;
  std::unordered_map<std::string, const ::onnx::NodeProto*> constant_nodes_;
  Renames copies_;     // constant -> its copy
  Renames handed_on_;  // result of a node that is apart -> what the others read
  std::vector<::onnx::TensorProto> new_initializers_;
  std::vector<::onnx::NodeProto> new_constants_;
  std::vector<std::string> copied_nodes_;
};

}  // namespace

Result<SetApart> set_apart(const Model& model, const std::unordered_set<std::string>& first_outputs) {
  PARITAS_TRY(GraphIndex::build(model));
  return SettingApart(model, first_outputs).run();
}

}  // namespace paritas::onnx_model
