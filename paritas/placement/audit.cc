#include "paritas/placement/audit.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/placement/claims.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;

// The provider that the audit is about when nobody named one.
std::string provider_of(const PlacementEvidence& evidence, const ContextModel& own) {
  if (!own.contexts.empty() && !own.contexts.front().provider.empty()) return own.contexts.front().provider;
  if (evidence.context && !evidence.context->content.contexts.empty()) {
    const std::string& told = evidence.context->content.contexts.front().provider;
    return told.empty() ? kQnnProvider : told;
  }
  if (evidence.op_trace || evidence.cycles) return kQnnProvider;
  if (evidence.profile)
    for (const ProfiledNode& node : evidence.profile->content.nodes)
      if (node.provider != kCpuProvider) return node.provider;
  for (const AssignedNode& node : evidence.assignment)
    if (node.provider != kCpuProvider) return node.provider;
  return kCpuProvider;
}

}  // namespace

std::map<std::string, uint64_t> declared_bytes(const onnx_model::Model& model) {
  std::map<std::string, uint64_t> bytes;
  auto take = [&](const ::onnx::ValueInfoProto& info) {
    if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return;
    const auto dtype = dtype_from_onnx(info.type().tensor_type().elem_type());
    Shape shape;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value() || dim.dim_value() < 0) return;
      shape.push_back(dim.dim_value());
    }
    const auto count = element_count(shape);
    if (dtype && count) bytes[info.name()] = byte_size(*dtype, *count);
  };
  for (const auto& info : model.graph().value_info()) take(info);
  for (const auto& info : model.graph().input()) take(info);
  for (const auto& info : model.graph().output()) take(info);
  return bytes;
}

namespace {

class Auditor {
 public:
  Auditor(const AuditRequest& request, const PlacementEvidence& evidence)
      : request_(request), evidence_(evidence), index_(*request.index) {
    audit_.requested =
        request.requested.empty() ? provider_of(evidence, context_model(*request.model, index_)) : request.requested;
    audit_.device_requested = audit_.requested != kCpuProvider;
    audit_.cpu_backend = request.cpu_backend || (evidence.op_trace && evidence.op_trace->content.backend == "cpu");
  }

  Result<PlacementAudit> run() {
    dependence_ = onnx_model::value_dependence(*request_.model, index_);
    PARITAS_ASSIGN(claims_, collect_claims(evidence_, *request_.model, index_, dependence_, audit_.requested));
    audit_.evidence = claims_.uses;
    audit_.unmapped = claims_.unmapped;
    audit_.ambiguous = claims_.ambiguous;
    audit_.made_up = claims_.made_up;
    audit_.contradictions = claims_.contradictions;
    for (Contradiction& found : cross_check(evidence_, claims_, index_, audit_.requested))
      audit_.contradictions.push_back(std::move(found));
    choose_partition_source();
    for (size_t n = 0; n < index_.nodes().size(); ++n) audit_.nodes.push_back(place(n));
    infer();
    name_partitions();
    describe_partitions();
    find_crossings();
    count();
    add_notes();
    return std::move(audit_);
  }

 private:
  bool planned(const NodePlacement& node) const {
    return std::any_of(request_.planned.begin(), request_.planned.end(),
                       [&](const std::string& pattern) { return pattern_fits(pattern, node.name, node.op); });
  }

  bool depends(size_t n) const {
    const auto& outputs = index_.nodes()[n].outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const std::string& tensor) { return dependence_.depends(tensor); });
  }

  Place place_on(const std::string& provider, const NodePlacement& node) const {
    if (provider == audit_.requested && provider != kCpuProvider)
      return audit_.cpu_backend ? Place::kVendorCpu : Place::kDevice;
    if (provider != kCpuProvider) return Place::kElsewhere;
    return provider == audit_.requested || planned(node) ? Place::kPlannedCpu : Place::kFallbackCpu;
  }

  NodePlacement place(size_t n) {
    const auto& source = index_.nodes()[n];
    NodePlacement node;
    node.name = source.name;
    node.op = source.op;
    node.seen_as = claims_.seen_as[n];
    node.device_ops = claims_.device_ops[n];
    node.cycles = claims_.cycles[n];
    node.cycles_shared = claims_.cycles_shared[n];
    node.microseconds = claims_.microseconds[n];
    const Claim* best = nullptr;
    for (const Claim& claim : claims_.of[n]) {
      if (std::find(node.evidence.begin(), node.evidence.end(), claim.source) == node.evidence.end())
        node.evidence.push_back(claim.source);
      // A source that names a provider tells more than one that only says where the node is not. Of one source that
      // names several places (copies of a node, or a contradiction) the one that is not the device counts: a node is on
      // the device when all of it is.
      const auto rank = [this](const Claim& each) {
        return std::tuple(each.provider.empty(), each.source, each.provider == audit_.requested);
      };
      if (best == nullptr || rank(claim) < rank(*best)) best = &claim;
    }
    std::sort(node.evidence.begin(), node.evidence.end());
    if (best == nullptr) {
      node.place = depends(n) ? Place::kUnknown : Place::kConstant;
      return node;
    }
    if (best->provider == audit_.requested)
      for (const Claim& claim : claims_.of[n])
        if (claim.source == best->source && claim.provider.empty() && claim.not_on == audit_.requested) best = &claim;
    node.provider = best->provider;
    node.place = best->provider.empty() ? Place::kElsewhere : place_on(best->provider, node);
    node.partition = node.place == Place::kElsewhere && node.provider.empty() ? "elsewhere" : partition_of(n, *best);
    return node;
  }

  // Sources name partitions in their own ways; the first that names them is used, the others are translated to it by
  // the nodes that both have.
  void choose_partition_source() {
    for (EvidenceSource source : {EvidenceSource::kAssignment, EvidenceSource::kContext, EvidenceSource::kOpTrace}) {
      if (!partition_source_ && has_partitions(source)) partition_source_ = source;
    }
    if (!partition_source_) return;
    for (const auto& claims : claims_.of) {
      const Claim* own = find(claims, *partition_source_);
      if (own == nullptr) continue;
      for (const Claim& other : claims)
        if (other.source != *partition_source_ && !other.partition.empty())
          translated_.emplace(std::pair(other.source, other.partition), own->partition);
    }
  }

  bool has_partitions(EvidenceSource source) const {
    return std::any_of(claims_.of.begin(), claims_.of.end(),
                       [&](const auto& claims) { return find(claims, source) != nullptr; });
  }

  static const Claim* find(const std::vector<Claim>& claims, EvidenceSource source) {
    for (const Claim& claim : claims)
      if (claim.source == source && !claim.partition.empty()) return &claim;
    return nullptr;
  }

  // A key that name_partitions() turns into a name.
  std::string partition_of(size_t n, const Claim& best) const {
    if (best.provider == kCpuProvider) return kCpuProvider;
    if (partition_source_) {
      if (const Claim* own = find(claims_.of[n], *partition_source_)) return best.provider + '\n' + own->partition;
      for (const Claim& claim : claims_.of[n]) {
        auto it = translated_.find({claim.source, claim.partition});
        if (it != translated_.end()) return best.provider + '\n' + it->second;
      }
    }
    return best.provider + '\n' + best.partition;
  }

  // Nodes that no source names, as connected groups: where everything around a group is in one partition, so is it.
  void infer() {
    std::vector<bool> seen(audit_.nodes.size());
    for (size_t n = 0; n < audit_.nodes.size(); ++n) {
      if (seen[n] || audit_.nodes[n].place != Place::kUnknown) continue;
      std::vector<size_t> group = {n};
      seen[n] = true;
      const NodePlacement* around = nullptr;
      bool one = true;
      for (size_t i = 0; i < group.size(); ++i)
        for (size_t other : neighbours(group[i])) {
          const NodePlacement& node = audit_.nodes[other];
          if (node.place == Place::kUnknown) {
            if (!seen[other]) group.push_back(other);
            seen[other] = true;
          } else if (node.place != Place::kConstant) {
            one = one && (around == nullptr || around->partition == node.partition);
            around = &node;
          }
        }
      if (around == nullptr || !one || around->place == Place::kElsewhere) continue;
      const NodePlacement copied = *around;
      for (size_t member : group) {
        NodePlacement& node = audit_.nodes[member];
        node.provider = copied.provider;
        node.partition = copied.partition;
        node.place = copied.provider == kCpuProvider ? place_on(kCpuProvider, node) : copied.place;
        node.inferred = true;
      }
    }
  }

  std::vector<size_t> neighbours(size_t n) const {
    std::vector<size_t> found;
    const auto& node = index_.nodes()[n];
    for (const auto* tensors : {&node.inputs, &node.captures})
      for (const std::string& tensor : *tensors)
        if (const int from = index_.producer(tensor); from >= 0) found.push_back(static_cast<size_t>(from));
    for (const std::string& tensor : node.outputs)
      for (int to : index_.consumers(tensor)) found.push_back(static_cast<size_t>(to));
    return found;
  }

  // Partitions are numbered in graph order.
  void name_partitions() {
    std::map<std::string, std::string> names;
    std::map<std::string, int> number;
    for (NodePlacement& node : audit_.nodes) {
      if (node.partition.empty()) continue;
      const auto line = node.partition.find('\n');
      auto [it, added] = names.emplace(node.partition, node.partition);
      if (added && line != std::string::npos) it->second = fmt::format("{} {}", node.provider, ++number[node.provider]);
      if (added) {
        keys_[it->second] = node.partition;
        audit_.partitions.push_back({it->second, node.provider, {}, 0, 0, {}, {}, {}});
      }
      node.partition = it->second;
      for (PartitionRow& row : audit_.partitions) row.source_nodes += row.name == node.partition;
    }
  }

  void describe_partitions() {
    std::map<std::string, PartitionRow*> by_key;
    for (PartitionRow& row : audit_.partitions) by_key[keys_[row.name]] = &row;
    for (const AssignedNode& node : evidence_.assignment) {
      const std::string key = node.provider == kCpuProvider ? std::string(kCpuProvider)
                                                            : node.provider + '\n' + std::to_string(node.partition);
      if (auto it = by_key.find(key); it != by_key.end()) ++it->second->optimised_nodes;
    }
    auto name_it = [&](const std::string& provider, EvidenceSource source, const std::string& partition) {
      const std::string& key = source == partition_source_ ? partition : translated_[{source, partition}];
      if (auto it = by_key.find(provider + '\n' + key); it != by_key.end()) it->second->compiled_as = partition;
    };
    for (size_t n = 0; n < claims_.of.size(); ++n)
      for (const Claim& claim : claims_.of[n])
        if ((claim.source == EvidenceSource::kOpTrace || claim.source == EvidenceSource::kContext) &&
            !claim.partition.empty())
          name_it(claim.provider, claim.source, claim.partition);
    if (!evidence_.profile) return;
    for (const ProfiledNode& node : evidence_.profile->content.nodes)
      for (PartitionRow& row : audit_.partitions)
        if (node.provider == row.provider &&
            (is_partition(node) ? node.name == row.compiled_as : row.name == kCpuProvider)) {
          row.microseconds = row.microseconds.value_or(0) + node.microseconds;
          if (!is_partition(node)) continue;
          row.input_bytes = node.input_bytes;
          row.output_bytes = node.output_bytes;
        }
  }

  // Partitions other than `from` that read the tensor, directly or through nodes whose place is unknown (the optimiser
  // merged these into one side or the other: what crosses is the tensor or what they make of it).
  std::set<std::string> readers_elsewhere(const std::string& tensor, const std::string& from) const {
    std::set<std::string> to;
    std::vector<std::string> open = {tensor};
    std::set<int> passed;
    while (!open.empty()) {
      const std::string each = std::move(open.back());
      open.pop_back();
      for (int consumer : index_.consumers(each)) {
        const NodePlacement& node = audit_.nodes[static_cast<size_t>(consumer)];
        if (!node.partition.empty() && node.partition != from) to.insert(node.partition);
        if (node.place != Place::kUnknown || !passed.insert(consumer).second) continue;
        const auto& outputs = index_.nodes()[static_cast<size_t>(consumer)].outputs;
        open.insert(open.end(), outputs.begin(), outputs.end());
      }
    }
    return to;
  }

  void find_crossings() {
    auto bytes = declared_bytes(*request_.model);
    for (const auto& [tensor, size] : request_.tensor_bytes) bytes[tensor] = size;
    for (size_t n = 0; n < audit_.nodes.size(); ++n) {
      const std::string& from = audit_.nodes[n].partition;
      if (from.empty()) continue;
      for (const std::string& tensor : index_.nodes()[n].outputs) {
        const std::set<std::string> to = readers_elsewhere(tensor, from);
        if (to.empty()) continue;
        Crossing crossing{tensor, from, {to.begin(), to.end()}, {}};
        if (auto it = bytes.find(tensor); it != bytes.end()) crossing.bytes = it->second;
        audit_.crossings.push_back(std::move(crossing));
      }
    }
  }

  void count() {
    PlacementTotals& totals = audit_.totals;
    totals.source_nodes = audit_.nodes.size();
    for (const NodePlacement& node : audit_.nodes) {
      ++totals.by_place[static_cast<size_t>(node.place)];
      totals.inferred += node.inferred;
    }
    count_optimised();
    for (const PartitionRow& row : audit_.partitions)
      totals.device_partitions += row.provider == audit_.requested && row.provider != kCpuProvider;
    for (const Crossing& crossing : audit_.crossings) {
      totals.crossings += crossing.to.size();
      if (crossing.bytes)
        totals.crossing_bytes += *crossing.bytes * crossing.to.size();
      else
        totals.crossings_of_unknown_size += crossing.to.size();
    }
    if (evidence_.op_trace) audit_.traced_ops = evidence_.op_trace->content.ops.size();
    if (evidence_.profile) count_time(evidence_.profile->content);
    if (evidence_.cycles) {
      totals.device_cycles = evidence_.cycles->content.op_cycles();
      totals.other_cycles = evidence_.cycles->content.other_cycles;
      for (const DeviceCycles& op : evidence_.cycles->content.ops) audit_.executed_ops += op.cycles > 0;
    }
  }

  void count_optimised() {
    PlacementTotals& totals = audit_.totals;
    std::map<std::string, uint64_t> providers;
    if (!evidence_.assignment.empty()) {
      for (const AssignedNode& node : evidence_.assignment) ++providers[node.provider];
    } else if (evidence_.op_trace && evidence_.op_trace->content.taken_nodes) {
      const OpTrace& trace = evidence_.op_trace->content;
      if (*trace.taken_nodes > 0) providers[audit_.requested] = *trace.taken_nodes;
      if (!trace.left.empty()) providers["left to others"] = trace.left.size();
    }
    if (providers.empty()) return;
    totals.optimised_nodes = 0;
    for (const auto& [provider, nodes] : providers) {
      *totals.optimised_nodes += nodes;
      if (provider == audit_.requested && provider != kCpuProvider) totals.optimised_on_device = nodes;
      audit_.optimised.emplace_back(provider, nodes);
    }
  }

  void count_time(const OrtProfile& profile) {
    audit_.totals.profile_runs = profile.runs;
    uint64_t device = 0, all = 0;
    for (const ProfiledNode& node : profile.nodes) {
      // The time of a body's nodes is within the time of the node that holds the body.
      if (node.op == "If" || node.op == "Loop" || node.op == "Scan") continue;
      all += node.microseconds;
      if (node.provider == audit_.requested && !audit_.cpu_backend) device += node.microseconds;
    }
    if (all > 0 && audit_.device_requested)
      audit_.totals.device_share_by_time = static_cast<double>(device) / static_cast<double>(all);
  }

  void add_notes() {
    if (evidence_.cycles) {
      const QnnCycles& cycles = evidence_.cycles->content;
      const uint64_t sum = cycles.op_cycles() + cycles.other_cycles;
      if (cycles.accelerator_cycles != 0 && sum != cycles.accelerator_cycles)
        audit_.notes.push_back(
            fmt::format("cycles of single operations add up to {}, the accelerator counted {}: the "
                        "file may be cut off",
                        sum, cycles.accelerator_cycles));
      const auto zero =
          std::count_if(cycles.ops.begin(), cycles.ops.end(), [](const DeviceCycles& op) { return op.cycles == 0; });
      if (zero > 0)
        audit_.notes.push_back(
            fmt::format("{} of {} device operations have 0 cycles: the back end charges their work to "
                        "others",
                        zero, cycles.ops.size()));
    }
    if (evidence_.op_trace && !evidence_.op_trace->file.empty() && !evidence_.op_trace->content.model_name.empty())
      audit_.notes.push_back(
          fmt::format("the op trace calls its model \"{}\"", evidence_.op_trace->content.model_name));
  }

  const AuditRequest& request_;
  const PlacementEvidence& evidence_;
  const GraphIndex& index_;
  Claims claims_;
  onnx_model::ValueDependence dependence_;
  std::optional<EvidenceSource> partition_source_;
  std::map<std::pair<EvidenceSource, std::string>, std::string> translated_;
  std::map<std::string, std::string> keys_;  // name of a partition -> key
  PlacementAudit audit_;
};

}  // namespace

std::string_view name(EvidenceSource source) {
  switch (source) {
    case EvidenceSource::kAssignment:
      return "session assignment";
    case EvidenceSource::kContext:
      return "context model";
    case EvidenceSource::kProfile:
      return "profile";
    case EvidenceSource::kOpTrace:
      return "op trace";
    case EvidenceSource::kCycles:
      return "cycles";
  }
  return "";
}

std::string_view name(Place place) {
  switch (place) {
    case Place::kDevice:
      return "device";
    case Place::kVendorCpu:
      return "vendor cpu";
    case Place::kPlannedCpu:
      return "planned cpu";
    case Place::kFallbackCpu:
      return "cpu fallback";
    case Place::kElsewhere:
      return "elsewhere";
    case Place::kConstant:
      return "constant";
    case Place::kUnknown:
      return "unknown";
  }
  return "";
}

std::optional<Place> place_from_name(std::string_view text) {
  for (int i = 0; i < kPlaces; ++i)
    if (name(static_cast<Place>(i)) == text) return static_cast<Place>(i);
  return std::nullopt;
}

uint64_t PlacementAudit::counted() const {
  if (totals.optimised_nodes) return *totals.optimised_nodes;
  return totals.source_nodes - totals.of(Place::kConstant);
}

uint64_t PlacementAudit::on_device() const {
  if (cpu_backend) return 0;
  return totals.optimised_nodes ? totals.optimised_on_device : totals.of(Place::kDevice);
}

double PlacementAudit::device_share() const {
  return counted() == 0 ? 0 : static_cast<double>(on_device()) / static_cast<double>(counted());
}

bool pattern_fits(const std::string& pattern, const std::string& node, const std::string& op) {
  constexpr std::string_view kOp = "op:";
  if (pattern.rfind(kOp, 0) == 0) return glob_match(std::string_view(pattern).substr(kOp.size()), op);
  return glob_match(pattern, node);
}

Result<PlacementAudit> audit_placement(const AuditRequest& request, const PlacementEvidence& evidence) {
  return Auditor(request, evidence).run();
}

}  // namespace paritas
