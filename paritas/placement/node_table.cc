#include "paritas/placement/node_table.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace paritas {
namespace {

using onnx_model::GraphIndex;

constexpr std::string_view kMatMulAdd = "/MatMulAddFusion";

// "X_token_12" -> "X"
std::string without_token(const std::string& name) {
  const auto at = name.rfind("_token_");
  if (at == std::string::npos || at + 7 >= name.size()) return name;
  for (size_t i = at + 7; i < name.size(); ++i)
    if (name[i] < '0' || name[i] > '9') return name;
  return name.substr(0, at);
}

class Lookup {
 public:
  explicit Lookup(const GraphIndex& index) : index_(index) {
    for (size_t i = 0; i < index.nodes().size(); ++i) by_name_.emplace(index.nodes()[i].name, static_cast<int>(i));
  }

  std::vector<int> find(const std::string& optimised) const {
    for (const std::string& name : {optimised, without_token(optimised)}) {
      if (auto it = by_name_.find(name); it != by_name_.end()) return {it->second};
      if (name.size() > kMatMulAdd.size() && name.ends_with(kMatMulAdd)) {
        auto matmul = by_name_.find(name.substr(0, name.size() - kMatMulAdd.size()));
        if (matmul != by_name_.end()) return with_add(matmul->second);
      }
    }
    return {};
  }

  // By its own name only: what a fused group must consist of.
  int exact(const std::string& name) const {
    auto it = by_name_.find(name);
    return it == by_name_.end() ? -1 : it->second;
  }

 private:
  std::vector<int> with_add(int matmul) const {
    std::vector<int> found = {matmul};
    for (const std::string& output : index_.nodes()[static_cast<size_t>(matmul)].outputs)
      for (int consumer : index_.consumers(output))
        if (index_.nodes()[static_cast<size_t>(consumer)].op == "Add") found.push_back(consumer);
    return found;
  }

  const GraphIndex& index_;
  std::unordered_map<std::string, int> by_name_;
};

void count(PlacementCounts& counts, const std::string& provider) {
  for (auto& [name, number] : counts.nodes)
    if (name == provider) {
      ++number;
      return;
    }
  counts.nodes.emplace_back(provider, 1);
}

}  // namespace

std::vector<int> source_nodes(const std::string& optimised_name, const GraphIndex& index) {
  return Lookup(index).find(optimised_name);
}

NodeTable node_table(const std::string& requested, const std::vector<AssignedNode>& assignment, int partitions,
                     const GraphIndex& index) {
  NodeTable table;
  table.counts.requested = requested;
  table.counts.partitions = static_cast<uint64_t>(std::max(0, partitions));
  table.provider.resize(index.nodes().size());
  if (!assignment.empty()) table.counts.evidence.push_back("session assignment");
  const Lookup lookup(index);
  std::map<std::string, std::vector<std::string>> elsewhere;
  for (const AssignedNode& node : assignment) {
    count(table.counts, node.provider);
    const auto sources = lookup.find(node.name);
    if (sources.empty()) table.unmapped.push_back(node.name);
    for (int source : sources) table.provider[static_cast<size_t>(source)] = node.provider;
    if (node.provider != requested) elsewhere[fmt::format("{} on {}", node.op, node.provider)].push_back(node.name);
  }
  for (const auto& [what, names] : elsewhere) {
    std::string line = fmt::format("{} x {}", names.size(), what);
    for (size_t i = 0; i < names.size() && i < 3; ++i) line += (i ? ", " : ": ") + names[i];
    if (names.size() > 3) line += ", ...";
    table.elsewhere.push_back(std::move(line));
  }
  return table;
}

std::vector<FusedGroup> fused_groups(const OpTrace& trace, const GraphIndex& index) {
  const Lookup lookup(index);
  std::vector<FusedGroup> groups;
  std::set<int> taken;
  for (const DeviceOp& op : trace.ops) {
    if (op.sources.size() < 2) continue;
    FusedGroup group{op.group, {}};
    for (const std::string& source : op.sources) {
      const int node = lookup.exact(source);
      if (node < 0 || taken.count(node) != 0) {
        group.nodes.clear();
        break;
      }
      group.nodes.push_back(node);
    }
    std::sort(group.nodes.begin(), group.nodes.end());
    group.nodes.erase(std::unique(group.nodes.begin(), group.nodes.end()), group.nodes.end());
    if (group.nodes.size() < 2) continue;
    taken.insert(group.nodes.begin(), group.nodes.end());
    groups.push_back(std::move(group));
  }
  std::sort(groups.begin(), groups.end(), [](const FusedGroup& a, const FusedGroup& b) { return a.nodes < b.nodes; });
  return groups;
}

}  // namespace paritas
