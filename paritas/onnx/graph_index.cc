#include "paritas/onnx/graph_index.h"

#include <algorithm>
#include <queue>

#include <fmt/format.h>

#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

Unexpected graph_error(const Model& model, const std::string& cause) {
  return input_error(model.subject(), cause, "the graph is not valid ONNX: export it again");
}

std::string op_of(const ::onnx::NodeProto& node) {
  if (node.domain().empty() || node.domain() == "ai.onnx") return node.op_type();
  return node.domain() + "::" + node.op_type();
}

// Outputs inside a body must be made once, too.
Status check_bodies(const Model& model, const ::onnx::NodeProto& node) {
  for (const auto* body : bodies_of(node)) {
    std::unordered_set<std::string_view> made;
    for (const auto& inner : body->node()) {
      for (const auto& output : inner.output())
        if (!output.empty() && !made.insert(output).second)
          return graph_error(model, fmt::format("tensor \"{}\" is made by two nodes of a body", output));
      PARITAS_TRY(check_bodies(model, inner));
    }
  }
  return {};
}

const std::vector<int> kNoConsumers;

}  // namespace

Status GraphIndex::add_names(const Model& model) {
  const auto& graph = model.graph();
  const auto add_initializer = [&](const std::string& name) -> Status {
    if (!initializers_.insert(name).second)
      return graph_error(model, fmt::format("initialiser \"{}\" is given twice", name));
    return {};
  };
  for (const auto& tensor : graph.initializer()) PARITAS_TRY(add_initializer(tensor.name()));
  for (const auto& sparse : graph.sparse_initializer()) PARITAS_TRY(add_initializer(sparse.values().name()));
  std::unordered_set<std::string_view> seen;
  for (const auto& input : graph.input()) {
    if (!seen.insert(input.name()).second)
      return graph_error(model, fmt::format("graph input \"{}\" is given twice", input.name()));
    if (is_initializer(input.name())) continue;
    inputs_.push_back(input.name());
    input_set_.insert(input.name());
  }
  for (const auto& output : graph.output())
    if (output_set_.insert(output.name()).second) outputs_.push_back(output.name());
  return {};
}

Status GraphIndex::add_node(const Model& model, int proto_index) {
  const auto& proto = model.graph().node(proto_index);
  Node node;
  node.proto_index = proto_index;
  node.op = op_of(proto);
  for (const auto& input : proto.input())
    if (!input.empty()) node.inputs.push_back(input);
  for (const auto& output : proto.output()) {
    if (output.empty()) continue;
    if (is_initializer(output) || is_input(output) || !producer_.emplace(output, proto_index).second)
      return graph_error(model, fmt::format("tensor \"{}\" is made twice", output));
    node.outputs.push_back(output);
  }
  node.name = !proto.name().empty()  ? proto.name()
              : node.outputs.empty() ? fmt::format("#{}", proto_index)
                                     : node.outputs[0];
  PARITAS_TRY(check_bodies(model, proto));
  node.captures = captures_of(proto);
  nodes_.push_back(std::move(node));
  return {};
}

// Kahn's algorithm; among nodes that are ready the one that stands first in the file comes first, so that a graph in
// order stays as it is.
Status GraphIndex::sort(const Model& model) {
  const size_t count = nodes_.size();
  std::vector<int> waits(count, 0);
  std::vector<std::vector<int>> feeds(count);
  for (size_t i = 0; i < count; ++i) {
    for (const auto* names : {&nodes_[i].inputs, &nodes_[i].captures}) {
      for (const auto& name : *names) {
        const int from = producer(name);
        if (from < 0 && !is_initializer(name) && !is_input(name))
          return graph_error(model, fmt::format("node \"{}\" reads \"{}\", which nothing makes", nodes_[i].name, name));
        if (from < 0) continue;
        feeds[static_cast<size_t>(from)].push_back(static_cast<int>(i));
        ++waits[i];
      }
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i)
    if (waits[i] == 0) ready.push(static_cast<int>(i));
  std::vector<Node> sorted;
  sorted.reserve(count);
  while (!ready.empty()) {
    const auto next = static_cast<size_t>(ready.top());
    ready.pop();
    sorted.push_back(std::move(nodes_[next]));
    for (const int to : feeds[next])
      if (--waits[static_cast<size_t>(to)] == 0) ready.push(to);
  }
  if (sorted.size() != count) {
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](int wait) { return wait > 0; }) - waits.begin();
    return graph_error(model, fmt::format("node \"{}\" is part of a cycle", nodes_[static_cast<size_t>(stuck)].name));
  }
  nodes_ = std::move(sorted);
  return {};
}

// Producers and consumers by position in the sorted list.
Status GraphIndex::link(const Model& model) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    for (const auto& output : node.outputs) producer_[output] = static_cast<int>(i);
    for (const auto* names : {&node.inputs, &node.captures}) {
      for (const auto& name : *names) {
        auto& readers = consumers_[name];
        if (readers.empty() || readers.back() != static_cast<int>(i)) readers.push_back(static_cast<int>(i));
      }
    }
  }
  for (const auto& output : outputs_)
    if (producer(output) < 0 && !is_initializer(output) && !is_input(output))
      return graph_error(model, fmt::format("graph output \"{}\" is made by nothing", output));
  return {};
}

Result<GraphIndex> GraphIndex::build(const Model& model) {
  GraphIndex index;
  PARITAS_TRY(index.add_names(model));
  const int count = model.graph().node_size();
  index.nodes_.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) PARITAS_TRY(index.add_node(model, i));
  PARITAS_TRY(index.sort(model));
  PARITAS_TRY(index.link(model));
  return index;
}

const std::vector<GraphIndex::Node>& GraphIndex::nodes() const { return nodes_; }
const std::vector<std::string>& GraphIndex::inputs() const { return inputs_; }
const std::vector<std::string>& GraphIndex::outputs() const { return outputs_; }
bool GraphIndex::is_initializer(std::string_view tensor) const {
  return initializers_.find(tensor) != initializers_.end();
}
bool GraphIndex::is_input(std::string_view tensor) const { return input_set_.find(tensor) != input_set_.end(); }
bool GraphIndex::is_output(std::string_view tensor) const { return output_set_.find(tensor) != output_set_.end(); }

int GraphIndex::producer(std::string_view tensor) const {
  const auto it = producer_.find(tensor);
  return it == producer_.end() ? -1 : it->second;
}

const std::vector<int>& GraphIndex::consumers(std::string_view tensor) const {
  const auto it = consumers_.find(tensor);
  return it == consumers_.end() ? kNoConsumers : it->second;
}

}  // namespace paritas::onnx_model
