// Islands and the all-local graph.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

const GraphIndex::Node& node_at(const GraphIndex& index, int node) { return index.nodes()[static_cast<size_t>(node)]; }

template <class Visit>
void for_each_read(const GraphIndex::Node& node, Visit visit) {
  for (const auto* names : {&node.inputs, &node.captures})
    for (const auto& name : *names) visit(name);
}

// Inputs and outputs of a set of nodes (ascending).
Island make_island(const GraphIndex& index, const ValueDependence& dependence, const std::string& name,
                   std::vector<int> nodes) {
  Island island{name, std::move(nodes), {}, {}};
  const std::unordered_set<int> members(island.nodes.begin(), island.nodes.end());
  std::unordered_set<std::string> seen;
  for (const int node : island.nodes) {
    for_each_read(node_at(index, node), [&](const std::string& tensor) {
      if (members.count(index.producer(tensor)) != 0 || !dependence.depends(tensor)) return;
      if (seen.insert(tensor).second) island.inputs.push_back(tensor);
    });
    for (const auto& output : node_at(index, node).outputs) {
      const auto& consumers = index.consumers(output);
      const bool outside =
          std::any_of(consumers.begin(), consumers.end(), [&](int to) { return members.count(to) == 0; });
      if (outside || index.is_output(output)) island.outputs.push_back(output);
    }
  }
  return island;
}

// A path that leaves the members and comes back makes them impossible to run as one. Returns the node outside, or -1.
int node_between(const GraphIndex& index, const std::vector<int>& nodes) {
  const std::unordered_set<int> members(nodes.begin(), nodes.end());
  std::unordered_set<int> behind;  // nodes outside that depend on a member
  for (int node = nodes.front(); node <= nodes.back(); ++node) {
    const bool member = members.count(node) != 0;
    int culprit = -1;
    bool depends = false;
    for_each_read(node_at(index, node), [&](const std::string& tensor) {
      const int from = index.producer(tensor);
      if (behind.count(from) != 0) culprit = from;
      depends |= members.count(from) != 0 || behind.count(from) != 0;
    });
    if (member && culprit >= 0) return culprit;
    if (!member && depends) behind.insert(node);
  }
  return -1;
}

// Decides which nodes stand in the all-local graph and what has to be fed.
class LocalPlan {
 public:
  LocalPlan(const Model& model, const GraphIndex& index, const ValueDependence& dependence)
      : model_(model), index_(index), dependence_(dependence), island_of_(index.nodes().size(), kNone) {}

  Status add(const std::vector<Island>& islands) {
    for (size_t i = 0; i < islands.size(); ++i)
      for (const int node : islands[i].nodes) {
        int& owner = island_of_[static_cast<size_t>(node)];
        if (owner != kNone)
          return usage_error(model_.subject(), fmt::format("node \"{}\" is part of the islands \"{}\" and \"{}\"",
                                                           node_at(index_, node).name,
                                                           islands[static_cast<size_t>(owner)].name, islands[i].name));
        owner = static_cast<int>(i);
      }
    for (const auto& island : islands)
      for (const auto& input : island.inputs) {
        if (!is_known(index_, input)) return unknown_tensor(model_, input);
        feed(input);
      }
    for (const auto& island : islands)
      for (const int node : island.nodes) PARITAS_TRY(add_reads(node));
    return {};
  }

  static constexpr int kNone = -1;
  static constexpr int kConstantPart = -2;
  // Position of the island that a node belongs to, kConstantPart for a copied value-independent node, else kNone.
  int island_of(int node) const { return island_of_[static_cast<size_t>(node)]; }
  const std::vector<std::string>& feeds() const { return feeds_; }
  bool is_fed(const std::string& tensor) const { return fed_.count(tensor) != 0; }
  bool needs_constant(const std::string& tensor) const { return constants_.count(tensor) != 0; }

 private:
  void feed(const std::string& tensor) {
    if (fed_.insert(tensor).second) feeds_.push_back(tensor);
  }

  Status add_reads(int node) {
    std::vector<int> open{node};
    while (!open.empty()) {
      const int reader = open.back();
      open.pop_back();
      const int island = island_of(reader);
      Status status;
      for_each_read(node_at(index_, reader), [&](const std::string& tensor) {
        const int from = index_.producer(tensor);
        if (is_fed(tensor) || (from >= 0 && island >= 0 && island_of(from) == island)) return;
        if (index_.is_initializer(tensor)) {
          constants_.insert(tensor);
        } else if (dependence_.depends(tensor)) {
          // A copied node that asks for the shape of a tensor needs the tensor; an island's inputs are the caller's.
          if (island != kConstantPart)
            status = not_an_input(reader, tensor);
          else
            feed(tensor);
        } else if (from >= 0 && island_of(from) == kNone) {
          island_of_[static_cast<size_t>(from)] = kConstantPart;
          open.push_back(from);
        }
      });
      PARITAS_TRY(status);
    }
    return {};
  }

  Unexpected not_an_input(int node, const std::string& tensor) const {
    return usage_error(model_.subject(),
                       fmt::format("node \"{}\" reads \"{}\", which its island does not list as an input",
                                   node_at(index_, node).name, tensor));
  }

  const Model& model_;
  const GraphIndex& index_;
  const ValueDependence& dependence_;
  std::vector<int> island_of_;
  std::vector<std::string> feeds_;
  std::unordered_set<std::string> fed_;
  std::unordered_set<std::string> constants_;
};

}  // namespace

Island single_node_island(const Model&, const GraphIndex& index, const ValueDependence& dependence, int node) {
  return make_island(index, dependence, node_at(index, node).name, {node});
}

Result<Island> group_island(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                            const std::string& name, const std::vector<int>& nodes) {
  std::vector<int> sorted = nodes;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.empty() || sorted.front() < 0 || static_cast<size_t>(sorted.back()) >= index.nodes().size())
    return usage_error(model.subject(), fmt::format("group \"{}\" holds no nodes of this graph", name));
  if (const int between = node_between(index, sorted); between >= 0)
    return usage_error(model.subject(),
                       fmt::format("group \"{}\" cannot run as one: node \"{}\" lies between its nodes", name,
                                   node_at(index, between).name),
                       "add the node to the group or split it");
  return make_island(index, dependence, name, std::move(sorted));
}

Result<AllLocal> all_local(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                           const std::vector<Island>& islands, const std::map<std::string, TensorType>& types) {
  LocalPlan plan(model, index, dependence);
  PARITAS_TRY(plan.add(islands));
  AllLocal local{model.clone(), {}, {}};
  Transplant part(local.model, index, types);
  for (const auto& tensor : plan.feeds()) {
    PARITAS_TRY(part.add_input(tensor, tensor));
    local.feeds.emplace(tensor, tensor);
  }
  // A tensor that is fed gives its name to the graph input; what an island makes of it locally is called otherwise.
  UniqueNames names(model.graph());
  std::vector<Renames> renames(islands.size());
  for (size_t i = 0; i < islands.size(); ++i)
    for (const int node : islands[i].nodes)
      for (const auto& output : node_at(index, node).outputs)
        if (plan.is_fed(output)) renames[i].emplace(output, names.make(output + "__local"));
  for (size_t i = 0; i < islands.size(); ++i)
    for (const auto& tensor : islands[i].outputs) {
      const auto it = renames[i].find(tensor);
      const std::string& output = it == renames[i].end() ? tensor : it->second;
      part.add_output(output, tensor);
      local.outputs.emplace(tensor, output);
    }
  part.move_constants([&](const std::string& name) { return plan.needs_constant(name); });
  for (int node = 0; node < static_cast<int>(index.nodes().size()); ++node) {
    const int island = plan.island_of(node);
    if (island == LocalPlan::kNone) continue;
    auto& proto = part.move_node(node);
    proto.set_name(node_at(index, node).name);
    if (island < 0) continue;
    const Renames& own = renames[static_cast<size_t>(island)];
    rename_reads(proto, own);
    for (auto& output : *proto.mutable_output())
      if (const auto it = own.find(output); it != own.end()) output = it->second;
  }
  part.move_declarations();
  return local;
}

}  // namespace paritas::onnx_model
