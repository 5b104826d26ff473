#include <algorithm>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/placement/claims.h"

namespace paritas {
namespace {

bool compatible(const Claim& a, const Claim& b) {
  if (!a.provider.empty() && !b.provider.empty()) return a.provider == b.provider;
  const std::string& provider = a.provider.empty() ? b.provider : a.provider;
  const std::string& not_on = a.provider.empty() ? a.not_on : b.not_on;
  return provider.empty() || provider != not_on;
}

std::string where(const Claim& claim) {
  return claim.provider.empty() ? fmt::format("not on {}", claim.not_on) : fmt::format("on {}", claim.provider);
}

// Copies of a node may run in several places: two sources contradict each other only where no pair of claims agrees.
void check_nodes(const Claims& claims, const onnx_model::GraphIndex& index, std::vector<Contradiction>& found) {
  struct Key {
    EvidenceSource a, b;
    std::string text;
    bool operator<(const Key& o) const { return std::tie(a, b, text) < std::tie(o.a, o.b, o.text); }
  };
  std::map<Key, std::vector<std::string>> groups;
  for (size_t n = 0; n < claims.of.size(); ++n) {
    for (int a = 0; a < kEvidenceSources; ++a)
      for (int b = a + 1; b < kEvidenceSources; ++b) {
        const Claim *first = nullptr, *second = nullptr;
        bool agree = false;
        for (const Claim& x : claims.of[n]) {
          if (x.source != static_cast<EvidenceSource>(a)) continue;
          for (const Claim& y : claims.of[n]) {
            if (y.source != static_cast<EvidenceSource>(b)) continue;
            agree = agree || compatible(x, y);
            first = &x;
            second = &y;
          }
        }
        if (first == nullptr || agree) continue;
        const Key key{first->source, second->source, where(*first) + "|" + where(*second)};
        groups[key].push_back(index.nodes()[n].name);
      }
  }
  for (auto& [key, nodes] : groups) {
    const auto bar = key.text.find('|');
    Contradiction made{key.a, key.b, std::move(nodes), {}};
    made.text =
        fmt::format("{} node{} {}: {} by the {}, {} by the {}", made.nodes.size(), made.nodes.size() == 1 ? "" : "s",
                    made.nodes.size() == 1 ? "has two places" : "have two places", key.text.substr(0, bar), name(key.a),
                    key.text.substr(bar + 1), name(key.b));
    found.push_back(std::move(made));
  }
}

void differ(EvidenceSource a, EvidenceSource b, uint64_t x, uint64_t y, const char* what,
            std::vector<Contradiction>& found) {
  if (x == y) return;
  found.push_back({a, b, {}, fmt::format("the {} has {} {}, the {} {}", name(a), x, what, name(b), y)});
}

bool has_bodies(const onnx_model::GraphIndex& index) {
  return std::any_of(index.nodes().begin(), index.nodes().end(),
                     [](const auto& node) { return node.op == "If" || node.op == "Loop" || node.op == "Scan"; });
}

struct Counts {
  uint64_t assigned_nodes = 0, assigned_partitions = 0;
  uint64_t profiled_partitions = 0, partition_calls = 0;
};

Counts count(const PlacementEvidence& evidence, const std::string& device) {
  Counts counts;
  std::set<int> partitions;
  for (const AssignedNode& node : evidence.assignment) {
    if (node.provider != device) continue;
    ++counts.assigned_nodes;
    partitions.insert(node.partition);
  }
  counts.assigned_partitions = partitions.size();
  if (!evidence.profile) return counts;
  for (const ProfiledNode& node : evidence.profile->content.nodes) {
    if (!is_partition(node) || node.provider != device) continue;
    ++counts.profiled_partitions;
    counts.partition_calls += node.calls;
  }
  return counts;
}

void check_traced_cycles(const OpTrace& trace, const QnnCycles& cycles, std::vector<Contradiction>& found) {
  std::unordered_set<std::string> traced;
  for (const DeviceOp& op : trace.ops) traced.insert(op.name);
  uint64_t unknown = 0;
  std::string example;
  for (const DeviceCycles& op : cycles.ops)
    if (traced.count(op.name) == 0 && unknown++ == 0) example = op.name;
  if (unknown == 0) return;
  found.push_back({EvidenceSource::kOpTrace,
                   EvidenceSource::kCycles,
                   {},
                   fmt::format("{} of {} device operations that have cycles are not in the op trace (\"{}\")", unknown,
                               cycles.ops.size(), example)});
}

}  // namespace

std::vector<Contradiction> cross_check(const PlacementEvidence& evidence, const Claims& claims,
                                       const onnx_model::GraphIndex& index, const std::string& device) {
  std::vector<Contradiction> found;
  check_nodes(claims, index, found);
  const Counts counts = count(evidence, device);
  const bool assigned = !evidence.assignment.empty() && device != kCpuProvider;
  if (assigned && evidence.op_trace) {
    const OpTrace& trace = evidence.op_trace->content;
    differ(EvidenceSource::kAssignment, EvidenceSource::kOpTrace, counts.assigned_partitions, trace.graphs.size(),
           "partitions on the device", found);
    if (trace.taken_nodes)
      differ(EvidenceSource::kAssignment, EvidenceSource::kOpTrace, counts.assigned_nodes, *trace.taken_nodes,
             "nodes on the device", found);
  }
  // Partitions in a branch that was not taken do not run.
  const bool all_run = !has_bodies(index) && evidence.profile && evidence.profile->content.runs > 0;
  if (assigned && all_run)
    differ(EvidenceSource::kAssignment, EvidenceSource::kProfile, counts.assigned_partitions,
           counts.profiled_partitions, "partitions on the device", found);
  if (all_run && evidence.op_trace)
    differ(EvidenceSource::kProfile, EvidenceSource::kOpTrace, counts.profiled_partitions,
           evidence.op_trace->content.graphs.size(), "partitions on the device", found);
  if (evidence.context && evidence.op_trace)
    differ(EvidenceSource::kContext, EvidenceSource::kOpTrace, evidence.context->content.contexts.size(),
           evidence.op_trace->content.graphs.size(), "partitions on the device", found);
  if (evidence.profile && evidence.profile->content.runs > 0 && evidence.cycles &&
      evidence.cycles->content.executions > 0)
    differ(EvidenceSource::kProfile, EvidenceSource::kCycles, counts.partition_calls,
           evidence.cycles->content.executions, "executions of partitions", found);
  if (evidence.op_trace && evidence.cycles)
    check_traced_cycles(evidence.op_trace->content, evidence.cycles->content, found);
  return found;
}

}  // namespace paritas
