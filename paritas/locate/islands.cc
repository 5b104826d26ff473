#include "paritas/locate/islands.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/locate/graph_patterns.h"
#include "paritas/locate/probe_checks.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;

// The outermost module path around the node that matches; empty: none.
std::string matching_path(const std::string& pattern, const std::string& node) {
  const std::string path = module_path(node);
  for (size_t end = path.find('/', 1); !path.empty(); end = path.find('/', end + 1)) {
    const std::string outer = path.substr(0, end);
    if (glob_match(pattern, outer)) return outer;
    if (end == std::string::npos) break;
  }
  return {};
}

class Grouping {
 public:
  Grouping(const GraphIndex& index, const onnx_model::ValueDependence& dependence)
      : index_(index), dependence_(dependence), taken_(index.nodes().size(), false) {}

  void add(const std::string& name, const std::vector<int>& nodes) {
    IslandGroup group{name, {}};
    for (int node : nodes)
      if (depends(node) && !taken_[static_cast<size_t>(node)]) group.nodes.push_back(node);
    if (group.nodes.size() < 2) return;
    for (int node : group.nodes) taken_[static_cast<size_t>(node)] = true;
    groups_.push_back(std::move(group));
  }

  // Nodes with the same key, in order of first appearance; an empty key: in no group.
  template <class Key>
  void add_by(Key key) {
    std::map<std::string, std::vector<int>> nodes;
    std::vector<std::string> order;
    for (size_t i = 0; i < index_.nodes().size(); ++i) {
      const std::string name = key(index_.nodes()[i].name);
      if (name.empty()) continue;
      auto [it, fresh] = nodes.try_emplace(name);
      if (fresh) order.push_back(name);
      it->second.push_back(static_cast<int>(i));
    }
    for (const std::string& name : order) add(name, nodes[name]);
  }

  std::vector<IslandGroup> take() { return std::move(groups_); }

 private:
  bool depends(int node) const {
    const auto& outputs = index_.nodes()[static_cast<size_t>(node)].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](const auto& o) { return dependence_.depends(o); });
  }
  const GraphIndex& index_;
  const onnx_model::ValueDependence& dependence_;
  std::vector<bool> taken_;
  std::vector<IslandGroup> groups_;
};

}  // namespace

std::string IslandChoice::text() const {
  switch (kind) {
    case Kind::kFused:
      return "fused";
    case Kind::kNodes:
      return "nodes";
    case Kind::kBlocks:
      return "blocks";
    case Kind::kPatterns:
      return "patterns";
    case Kind::kNamed:
      break;
  }
  return pattern;
}

IslandChoice parse_islands(const std::string& text) {
  using Kind = IslandChoice::Kind;
  for (const Kind kind : {Kind::kFused, Kind::kNodes, Kind::kBlocks, Kind::kPatterns})
    if (IslandChoice{kind, {}}.text() == text) return {kind, {}};
  return {Kind::kNamed, text};
}

Status check_islands(const IslandChoice& choice, const GraphIndex& index) {
  if (choice.kind != IslandChoice::Kind::kNamed) return {};
  std::set<std::string> paths;
  for (const auto& node : index.nodes()) {
    if (glob_match(choice.pattern, node.name) || !matching_path(choice.pattern, node.name).empty()) return {};
    if (auto path = module_path(node.name); !path.empty()) paths.insert(std::move(path));
  }
  std::string some;
  size_t shown = 0;
  for (const auto& path : paths)
    if (shown++ < 4) some += fmt::format("{}\"{}\"", some.empty() ? "" : ", ", path);
  return usage_error("--islands",
                     fmt::format("\"{}\" matches no module path and no node of the model{}{}", choice.pattern,
                                 some.empty() ? "" : "; there are " + some,
                                 paths.size() > 4 ? fmt::format(" and {} more paths", paths.size() - 4) : ""),
                     "write blocks, nodes, fused, patterns, or a pattern with * that matches");
}

std::vector<IslandGroup> island_groups(const IslandChoice& choice, const std::vector<FusedGroup>& fused,
                                       const onnx_model::Model& model, const GraphIndex& index,
                                       const onnx_model::ValueDependence& dependence) {
  using Kind = IslandChoice::Kind;
  const auto& nodes = index.nodes();
  Grouping grouping(index, dependence);
  if (choice.kind == Kind::kBlocks) grouping.add_by(module_path);
  if (choice.kind == Kind::kPatterns) {
    for (const SoftmaxSite& site : find_softmax(model, index))
      grouping.add(nodes[static_cast<size_t>(site.nodes.back())].name, site.nodes);
    for (const NormSite& site : find_norms(model, index))
      grouping.add(nodes[static_cast<size_t>(site.nodes.back())].name, site.nodes);
  }
  if (choice.kind == Kind::kNamed) {
    const bool paths = std::any_of(nodes.begin(), nodes.end(),
                                   [&](const auto& n) { return !matching_path(choice.pattern, n.name).empty(); });
    grouping.add_by([&](const std::string& node) {
      if (paths) return matching_path(choice.pattern, node);
      return glob_match(choice.pattern, node) ? choice.pattern : std::string();
    });
  }
  std::vector<IslandGroup> groups = grouping.take();
  if (choice.kind != Kind::kFused) return groups;
  for (const FusedGroup& group : fused)
    // The device names a fused operation after its first source; the last one's output is what the group hands out.
    groups.push_back({nodes[static_cast<size_t>(group.nodes.back())].name, group.nodes});
  return groups;
}

}  // namespace paritas
