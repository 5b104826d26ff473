#include "paritas/placement/claims.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace paritas {
namespace {

// "1 node", "2 nodes"
std::string counted(uint64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string_view without_domain(std::string_view op) {
  const auto at = op.rfind("::");
  return at == std::string_view::npos ? op : op.substr(at + 2);
}

// What ONNX Runtime 1.32 may call an operator of the model in the optimised graph, under the node's own name: fused
// with an activation, in another layout, on quantised tensors (seen in profiles: FusedConv, QGemm, QLinearAdd,
// QLinearMatMul, QLinearSoftmax ...), or replaced by one that does the same.
bool may_become(std::string_view model, std::string_view ran) {
  model = without_domain(model);
  ran = without_domain(ran);
  static constexpr std::string_view kPrefixes[] = {"Nhwc", "Fused", "QLinear", "Q", "Bias", "Skip", "Fast", "Quick"};
  static constexpr std::pair<std::string_view, std::string_view> kReplaced[] = {
      {"MatMul", "Gemm"},
      {"MatMul", "MatMulNBits"},
      {"MatMul", "MatMulIntegerToFloat"},
      {"Dropout", "Identity"},
      {"Upsample", "Resize"},
      {"Resize", "Upsample"},  // in blocked layout
      {"MatMul", "DynamicQuantizeMatMul"},
      {"Flatten", "Reshape"},
      {"Squeeze", "Reshape"},
      {"Unsqueeze", "Reshape"},
      {"Transpose", "Reshape"},
      {"Gelu", "FastGelu"},
      {"LayerNormalization", "SimplifiedLayerNormalization"},
      {"MatMul", "TransposeMatMul"},
      {"Attention", "MultiHeadAttention"}};
  for (bool stripped = true; stripped && model != ran;) {
    stripped = false;
    for (const auto prefix : kPrefixes)
      if (ran.starts_with(prefix) && ran.size() > prefix.size() && !model.starts_with(prefix)) {
        ran.remove_prefix(prefix.size());
        stripped = true;
        break;
      }
  }
  return model == ran || std::any_of(std::begin(kReplaced), std::end(kReplaced),
                                     [&](const auto& pair) { return pair.first == model && pair.second == ran; });
}

class Collector {
 public:
  Collector(const onnx_model::Model& model, const onnx_model::GraphIndex& index,
            const onnx_model::ValueDependence& dependence, std::string device)
      : index_(index),
        dependence_(dependence),
        names_(index),
        device_(std::move(device)),
        model_(model.subject()),
        own_(context_model(model, index)) {
    const size_t count = index.nodes().size();
    claims_.of.resize(count);
    claims_.seen_as.resize(count);
    claims_.device_ops.resize(count);
    claims_.cycles.resize(count);
    claims_.cycles_shared.resize(count);
    claims_.microseconds.resize(count);
  }

  Result<Claims> run(const PlacementEvidence& evidence) {
    if (!evidence.assignment.empty()) take_assignment(evidence.assignment);
    take_own_contexts();
    if (evidence.context) PARITAS_TRY(take_context(*evidence.context));
    if (evidence.profile) PARITAS_TRY(take_profile(*evidence.profile));
    if (evidence.op_trace && is_of_own_context(evidence.op_trace->content)) {
      take_trace_of_context(*evidence.op_trace);
    } else if (evidence.op_trace) {
      PARITAS_TRY(take_trace(*evidence.op_trace));
    }
    if (evidence.cycles) PARITAS_TRY(take_cycles(*evidence.cycles, evidence.op_trace ? &*evidence.op_trace : nullptr));
    return std::move(claims_);
  }

 private:
  // Names of one source, each counted once.
  struct Names {
    std::set<std::string> known, unknown;
  };

  // `of_the_file`: the session ran the model's file as it is, so that nodes without a name are known by their number.
  std::vector<int> map(const std::string& name, Names& names, bool of_the_file = false) {
    auto nodes = names_.find(name);
    if (const int node = of_the_file && nodes.empty() ? names_.numbered(name) : -1; node >= 0) nodes = {node};
    if (!nodes.empty()) {
      names.known.insert(name);
      for (int node : nodes)
        if (index_.nodes()[static_cast<size_t>(node)].name != name) add_once(claims_.seen_as[at(node)], name);
    } else if (names_.is_ambiguous(name)) {
      names.known.insert(name);
      add_once(claims_.ambiguous, name);
    } else if (is_made_up(name)) {
      if (made_up_.insert(name).second) ++claims_.made_up;
    } else {
      names.unknown.insert(name);
    }
    return nodes;
  }

  static size_t at(int node) { return static_cast<size_t>(node); }
  static void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }

  void claim(int node, Claim made) {
    for (const Claim& other : claims_.of[at(node)])
      if (other.source == made.source && other.provider == made.provider && other.partition == made.partition) return;
    claims_.of[at(node)].push_back(std::move(made));
  }

  std::string why_not(const std::string& name) const {
    const int node = names_.exact(name);
    return node < 0 ? fmt::format("\"{}\" does not", name)
                    : fmt::format("\"{}\" has another operator than {}", name, index_.nodes()[at(node)].op);
  }

  // Refuses a file whose names are not the model's.
  Status finish(EvidenceSource source, const std::string& file, const Names& names, std::string says) {
    EvidenceUse use{source, file, names.known.size() + names.unknown.size(), names.known.size(), std::move(says)};
    for (const std::string& name : names.unknown) add_once(claims_.unmapped, name);
    if (!file.empty() && use.names > 0 && static_cast<double>(use.mapped) < kOwnNames * static_cast<double>(use.names))
      return input_error(file,
                         fmt::format("is of another model: {} of its {} node names lead to a node of {} ({})",
                                     use.mapped, use.names, model_, why_not(*names.unknown.begin())),
                         "give the evidence of a session with this model");
    claims_.uses.push_back(std::move(use));
    return {};
  }

  // The model says itself that these nodes were compiled for a provider.
  void take_own_contexts() {
    if (own_.contexts.empty()) return;
    for (const ContextNode& context : own_.contexts) {
      const int node = names_.exact(context.name);
      if (node < 0) {
        add_once(claims_.ambiguous, context.name);
        continue;
      }
      claim(node, {EvidenceSource::kContext, context.provider.empty() ? device_ : context.provider, {}, context.name});
    }
    claims_.uses.push_back(
        {EvidenceSource::kContext,
         {},
         own_.contexts.size(),
         own_.contexts.size(),
         fmt::format("{} in the model itself", counted(own_.contexts.size(), "compiled partition"))});
  }

  // An op trace names the nodes of the model that a context was compiled from, which the context no longer has. What
  // binds the two is the name of the partition.
  bool is_of_own_context(const OpTrace& trace) const {
    return std::any_of(trace.graphs.begin(), trace.graphs.end(), [&](const std::string& graph) {
      return std::any_of(own_.contexts.begin(), own_.contexts.end(),
                         [&](const ContextNode& context) { return context.name == graph; });
    });
  }

  void take_trace_of_context(const FromFile<OpTrace>& trace) {
    uint64_t known = 0;
    for (size_t g = 0; g < trace.content.graphs.size(); ++g) {
      const int node = names_.exact(trace.content.graphs[g]);
      if (node < 0) continue;
      ++known;
      claim(node, {EvidenceSource::kOpTrace, device_, {}, trace.content.graphs[g]});
      for (const DeviceOp& op : trace.content.ops)
        if (op.graph == g) add_once(claims_.device_ops[at(node)], op.op);
    }
    claims_.uses.push_back(
        {EvidenceSource::kOpTrace, trace.file, trace.content.graphs.size(), known,
         fmt::format("{} inside the compiled partitions", counted(trace.content.ops.size(), "device operation"))});
  }

  void take_assignment(const std::vector<AssignedNode>& assignment) {
    Names names;
    std::map<std::string, uint64_t> counts;
    std::set<int> partitions;
    for (const AssignedNode& node : assignment) {
      ++counts[node.provider];
      if (node.provider == device_) partitions.insert(node.partition);
      const std::string partition = node.provider == kCpuProvider ? std::string() : std::to_string(node.partition);
      for (int source : map(node.name, names))
        claim(source, {EvidenceSource::kAssignment, node.provider, {}, partition});
    }
    std::string says;
    for (const auto& [provider, count] : counts) {
      says += fmt::format("{}{} on {}", says.empty() ? "" : ", ", counted(count, "node"), provider);
      if (provider == device_ && provider != kCpuProvider)
        says += fmt::format(" in {}", counted(partitions.size(), "partition"));
    }
    // The session ran this model: nothing to refuse.
    static_cast<void>(finish(EvidenceSource::kAssignment, {}, names, std::move(says)));
  }

  Status take_context(const FromFile<ContextModel>& context) {
    Names names;
    std::set<int> taken;
    for (const std::string& name : context.content.ordinary)
      for (int node : map(name, names)) {
        claim(node, {EvidenceSource::kContext, {}, device_, {}});
        taken.insert(node);
      }
    std::vector<std::string> unknown;
    for (const ContextNode& made : context.content.contexts) {
      const std::string provider = made.provider.empty() ? device_ : made.provider;
      for (int node : nodes_inside(made, index_, dependence_, names_, taken, &unknown)) {
        taken.insert(node);
        claim(node, {EvidenceSource::kContext, provider, {}, made.name});
        names.known.insert(index_.nodes()[at(node)].name);
      }
    }
    names.unknown.insert(unknown.begin(), unknown.end());
    return finish(EvidenceSource::kContext, context.file, names,
                  fmt::format("{}, {} outside", counted(context.content.contexts.size(), "compiled partition"),
                              counted(context.content.ordinary.size(), "node")));
  }

  Status take_profile(const FromFile<OrtProfile>& profile) {
    Names names;
    std::map<std::string, uint64_t> partitions;
    uint64_t others = 0;
    for (const ProfiledNode& node : profile.content.nodes) {
      if (is_partition(node)) {
        ++partitions[node.provider];
        continue;
      }
      ++others;
      if (is_other_operator(node)) {
        names.unknown.insert(node.name);  // not a name of this model's: it only sounds alike
        continue;
      }
      const auto sources = map(node.name, names, !profile.file.empty());
      for (int source : sources) {
        claim(source, {EvidenceSource::kProfile, node.provider, {}, {}});
        auto& time = claims_.microseconds[at(source)];
        time = time.value_or(0) + node.microseconds;
      }
    }
    std::string says = fmt::format("{}: ", counted(profile.content.runs, "run"));
    for (const auto& [provider, count] : partitions)
      says += fmt::format("{} on {}, ", counted(count, "partition"), provider);
    says += fmt::format("{} one by one", counted(others, "node"));
    PARITAS_TRY(finish(EvidenceSource::kProfile, profile.file, names, std::move(says)));
    note_other_operators(profile.content);
    return {};
  }

  // The profile calls a node by a name of the model, but its operator is another, and not one that ONNX Runtime makes
  // of the model's.
  bool is_other_operator(const ProfiledNode& node) const {
    if (node.op.empty()) return false;
    const auto fits = [&](int source) { return may_become(index_.nodes()[at(source)].op, node.op); };
    if (const int source = names_.exact(node.name); source >= 0) return !fits(source);
    const auto blocked = names_.in_blocked_layout(node.name);
    return !blocked.empty() && std::none_of(blocked.begin(), blocked.end(), fits);
  }

  std::string operator_of(const std::string& name) const {
    const int source = names_.exact(name);
    return index_.nodes()[at(source >= 0 ? source : names_.in_blocked_layout(name).front())].op;
  }

  void note_other_operators(const OrtProfile& profile) {
    std::vector<std::string> nodes;
    std::string example;
    for (const ProfiledNode& node : profile.nodes) {
      if (is_partition(node) || !is_other_operator(node)) continue;
      if (example.empty())
        example = fmt::format("\"{}\" is {} there and {} in the model", node.name, node.op, operator_of(node.name));
      add_once(nodes, node.name);
      std::erase(claims_.unmapped, node.name);
    }
    if (nodes.empty()) return;
    std::string text =
        fmt::format("the profile has another operator than the model for {} ({}), and is not believed about {}",
                    counted(nodes.size(), "node"), example, nodes.size() == 1 ? "it" : "them");
    claims_.contradictions.push_back(
        {EvidenceSource::kProfile, EvidenceSource::kProfile, std::move(nodes), std::move(text)});
  }

  Status take_trace(const FromFile<OpTrace>& trace) {
    Names names;
    for (const DeviceOp& op : trace.content.ops)
      for (const std::string& source : op.sources)
        for (int node : map(source, names)) {
          const auto& graphs = trace.content.graphs;
          claim(node, {EvidenceSource::kOpTrace, device_, {}, op.graph < graphs.size() ? graphs[op.graph] : ""});
          add_once(claims_.device_ops[at(node)], op.op);
        }
    for (const LeftNode& left : trace.content.left)
      for (int node : map(left.name, names)) claim(node, {EvidenceSource::kOpTrace, {}, device_, {}});
    return finish(
        EvidenceSource::kOpTrace, trace.file, names,
        fmt::format("{} from {} in {}, {} left to others", counted(trace.content.ops.size(), "device operation"),
                    counted(names.known.size() + names.unknown.size() - trace.content.left.size(), "named node"),
                    counted(trace.content.graphs.size(), "partition"), counted(trace.content.left.size(), "node")));
  }

  Status take_cycles(const FromFile<QnnCycles>& cycles, const FromFile<OpTrace>* trace) {
    Names names;
    std::unordered_map<std::string, const DeviceOp*> by_name;
    if (trace != nullptr)
      for (const DeviceOp& op : trace->content.ops) by_name.emplace(op.name, &op);
    for (const DeviceCycles& op : cycles.content.ops) {
      // Without a column of sources the device operation's own name is all there is; the op trace knows it.
      auto traced = by_name.find(op.name);
      std::vector<int> nodes;
      if (!op.sources.empty()) {
        nodes = mapped_pieces(op.sources, names);
      } else if (traced != by_name.end()) {
        nodes = mapped_pieces(traced->second->sources, names);
      } else {
        nodes = map(op.name, names);
      }
      for (int node : nodes) {
        claim(node, {EvidenceSource::kCycles, device_, {}, {}});
        auto& sum = claims_.cycles[at(node)];
        sum = sum.value_or(0) + op.cycles;
        if (nodes.size() > 1) claims_.cycles_shared[at(node)] = true;
      }
    }
    return finish(EvidenceSource::kCycles, cycles.file, names,
                  fmt::format("{} cycles in {}, {} of partitions", cycles.content.op_cycles(),
                              counted(cycles.content.ops.size(), "device operation"),
                              counted(cycles.content.executions, "execution")));
  }

  std::vector<int> mapped_pieces(const std::vector<std::string>& pieces, Names& names) {
    size_t unknown = 0;
    auto nodes = names_.find_joined(pieces, &unknown);
    if (unknown == 0 && !nodes.empty()) {
      for (const std::string& piece : pieces)
        if (!is_made_up(piece)) names.known.insert(piece);
      return nodes;
    }
    for (const std::string& piece : pieces) static_cast<void>(map(piece, names));
    return nodes;
  }

  const onnx_model::GraphIndex& index_;
  const onnx_model::ValueDependence& dependence_;
  NameMap names_;
  std::string device_, model_;
  ContextModel own_;  // compiled partitions that the model itself holds
  std::set<std::string> made_up_;
  Claims claims_;
};

}  // namespace

bool is_partition(const ProfiledNode& node) {
  // ONNX Runtime names the operator of a compiled partition after the partition, and the node "OP_N" or
  // "PROVIDER_OP_N".
  return node.provider != kCpuProvider && !node.op.empty() && node.name.find(node.op) != std::string::npos &&
         node.op.find(node.provider) != std::string::npos;
}

Result<Claims> collect_claims(const PlacementEvidence& evidence, const onnx_model::Model& model,
                              const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                              const std::string& device) {
  return Collector(model, index, dependence, device).run(evidence);
}

}  // namespace paritas
