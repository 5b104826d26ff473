#include "paritas/placement/node_table.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "paritas/placement/name_map.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;

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
  return NameMap(index).find(optimised_name);
}

NodeTable node_table(const std::string& requested, const std::vector<AssignedNode>& assignment, int partitions,
                     const GraphIndex& index) {
  NodeTable table;
  table.counts.requested = requested;
  table.counts.partitions = static_cast<uint64_t>(std::max(0, partitions));
  table.provider.resize(index.nodes().size());
  if (!assignment.empty()) table.counts.evidence.push_back("session assignment");
  const NameMap lookup(index);
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
  const NameMap lookup(index);
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
