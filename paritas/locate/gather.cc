#include "paritas/locate/gather.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/locate/constants.h"
#include "paritas/locate/decisions.h"
#include "paritas/locate/quantised_units.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

// Forced runs are repeated when feeding some decisions changed others; a network that goes on doing so is left there.
constexpr int kMaxForcedRounds = 3;
// Below this the reference's own movement (kernels chosen otherwise once a weight is a constant) is float32 rounding.
constexpr double kNotableNoise = 1e-11;
// What "few marks" means: enough to touch every part of the network, too few to break up most fusions.
constexpr size_t kFewMarks = 8;

class Gatherer {
 public:
  Gatherer(const LocateRequest& request, const onnx_model::Model& model, Runner& reference, Runner& device,
           Runner& probes)
      : request_(request), model_(model), reference_(reference), device_(device), probes_(probes) {}

  Result<Gathering> run() {
    // The unmarked device run needs nothing from the reference: both go at once.
    auto unmarked = std::async(std::launch::async, [this] { return run_unmarked(); });
    auto reference_status = run_reference();
    Result<SessionInfo> session = unmarked.get();
    PARITAS_TRY(reference_status);
    PARITAS_TRY(session);
    PARITAS_TRY(place(*session));
    progress("device run with every tensor marked, and local probes");
    // Both only read the reference; each writes its own part of the evidence.
    auto probes = std::async(std::launch::async, [this] { return run_all_probes(); });
    auto marked = run_marked_device();
    if (marked) marked = run_forced_device();
    if (marked && request_.few_marks) marked = run_few_marks();
    const Status probed = probes.get();
    PARITAS_TRY(marked);
    PARITAS_TRY(probed);
    if (!probe_note_.empty()) gathering_.notes.push_back(probe_note_);
    gathering_.device_sessions += evidence().probes.sessions;
    return std::move(gathering_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }
  Evidence& evidence() { return gathering_.evidence; }
  // Three workers may hold tensors at the same time, and a runtime needs room for the tensors that it is working on.
  uint64_t budget() const { return std::max<uint64_t>(request_.memory_budget / 4, uint64_t{16} << 20); }

  // The device may compute several nodes as one: what it does then, it does not do to parts of them.
  bool fuses() const { return device_.target().capabilities.device || device_.target().optimisation != "none"; }

  Result<SessionInfo> run_unmarked() {
    const auto start = Clock::now();
    PARITAS_ASSIGN(Session session, device_.open(model_, /*op_trace=*/true));
    PARITAS_ASSIGN(RunReply reply, session.run(request_.inputs));
    evidence().device_outputs = std::move(reply.outputs);
    unmarked_seconds_ = since(start);
    return session.info();
  }

  Status run_reference() {
    const auto start = Clock::now();
    progress("reference run");
    PARITAS_ASSIGN(evidence().prepared, prepare(model_, request_.inputs, reference_));
    const Prepared& prepared = *evidence().prepared;
    for (const auto& note : prepared.notes) gathering_.notes.push_back(note);
    MarkedRequest marked;
    marked.model = &prepared.folded;
    marked.inputs = request_.inputs;
    marked.memory_budget = budget();
    for (const auto& node : prepared.index.nodes())
      for (const auto& output : node.outputs)
        if (prepared.dependence.depends(output) && !prepared.index.is_output(output)) marked.marks.push_back(output);
    PARITAS_ASSIGN(MarkedRun run, run_marked(reference_, marked));
    if (!run.failed.empty())
      gathering_.notes.push_back(fmt::format("{} tensors could not be recorded on the reference (\"{}\": {})",
                                             run.failed.size(), run.failed.begin()->first, run.failed.begin()->second));
    PARITAS_TRY(check_folding(prepared, run));
    evidence().reference = std::move(run.tensors);
    for (const auto& [name, tensor] : request_.inputs) evidence().reference.emplace(name, tensor);
    gathering_.seconds_reference = since(start);
    return {};
  }

  // Folding and marking must not have moved the reference.
  Status check_folding(const Prepared& prepared, const MarkedRun& run) {
    for (const auto& [name, tensor] : prepared.outputs) {
      auto other = run.tensors.find(name);
      if (other == run.tensors.end()) continue;
      PARITAS_ASSIGN(bool equal, equal_bytes(tensor, other->second));
      if (equal || !is_float(tensor.dtype) || tensor.shape != other->second.shape) continue;
      PARITAS_ASSIGN(PairMetrics m, compare_tensors(tensor, other->second, {}));
      if (m.differing > 0 && m.nmse > kNotableNoise)
        gathering_.notes.push_back(
            fmt::format("the reference's {} moves by up to {:.2g} when its tensors are recorded: "
                        "differences of that size mean nothing",
                        name, m.max_abs));
    }
    return {};
  }

  Status place(const SessionInfo& session) {
    const auto& index = evidence().prepared->index;
    if (!session.unoptimised_because.empty())
      gathering_.notes.push_back(unoptimised_note(device_.target(), session.unoptimised_because));
    evidence().placement = node_table(device_.target().provider, session.assignment, session.partitions, index);
    PARITAS_TRY(require_device_took_part(device_.target(), evidence().placement.counts));
    for (const Path& path : session.op_traces) {
      auto trace = read_qnn_op_trace(path);
      if (!trace) {
        gathering_.notes.push_back("the op trace could not be used: " + trace.error().message());
        continue;
      }
      evidence().placement.counts.evidence.push_back("op trace");
      auto groups = fused_groups(*trace, index);
      evidence().groups.insert(evidence().groups.end(), groups.begin(), groups.end());
    }
    return {};
  }

  // Value-dependent tensors that a device run should hand out: floats, and decisions. Not what lies inside quantised
  // operators, where the device may compute them as such.
  std::vector<std::string> device_marks(const std::unordered_set<std::string>& decisions) {
    std::vector<std::string> marks;
    inside_units_ = 0;
    const auto& index = evidence().prepared->index;
    for (const auto& node : index.nodes())
      for (const auto& output : node.outputs) {
        auto it = evidence().reference.find(output);
        if (it == evidence().reference.end() || index.is_output(output)) continue;
        if (!is_float(it->second.dtype) && decisions.count(output) == 0) continue;
        if (fuses() && inside_quantised_unit(index, output))
          ++inside_units_;
        else
          marks.push_back(output);
      }
    return marks;
  }

  MarkedRequest device_request(const onnx_model::Model& model, NamedTensors inputs) {
    std::unordered_set<std::string> decisions;
    for (const DecisionPoint& point : points_) decisions.insert(point.tensor);
    MarkedRequest request;
    request.model = &model;
    request.inputs = std::move(inputs);
    request.memory_budget = budget();
    request.marks = device_marks(decisions);
    request.marks_per_session = request_.marks_per_session;
    for (const auto& [name, tensor] : evidence().reference) request.bytes[name] = tensor.bytes.size();
    return request;
  }

  Status run_marked_device() {
    points_ = find_decisions(*evidence().prepared, evidence().reference);
    const MarkedRequest request = device_request(evidence().prepared->folded, request_.inputs);
    PARITAS_ASSIGN(evidence().marked, run_marked(device_, request));
    if (inside_units_ > 0)
      gathering_.notes.push_back(fmt::format(
          "{} tensors inside quantised operators are not marked: marks would make the device compute them in floating "
          "point; what QuantizeLinear and DequantizeLinear make of them is",
          inside_units_));
    gathering_.device_sessions += evidence().marked.sessions + 1;
    gathering_.seconds_device = unmarked_seconds_ + evidence().marked.seconds;
    if (!evidence().marked.failed.empty())
      gathering_.notes.push_back(fmt::format(
          "{} of {} tensors could not be marked on the device (\"{}\": {})", evidence().marked.failed.size(),
          request.marks.size(), evidence().marked.failed.begin()->first, evidence().marked.failed.begin()->second));
    PARITAS_ASSIGN(evidence().decisions, compare_decisions(evidence().marked));
    return {};
  }

  // Between the unmarked graph and the one with all marks.
  Status run_few_marks() {
    MarkedRequest request = device_request(evidence().prepared->folded, request_.inputs);
    const std::vector<std::string> all = std::move(request.marks);
    request.marks.clear();
    const size_t count = std::min(kFewMarks, all.size());
    for (size_t i = 0; i < count; ++i) request.marks.push_back(all[(2 * i + 1) * all.size() / (2 * count)]);
    request.marks_per_session = 0;
    auto run = run_marked(device_, request);
    if (!run) {
      gathering_.notes.push_back("the device could not be run with few marks: " + run.error().cause);
      return {};
    }
    gathering_.device_sessions += run->sessions;
    gathering_.seconds_device += run->seconds;
    evidence().few_marks = count - run->failed.size();
    evidence().few = std::move(*run);
    return {};
  }

  Result<std::vector<DecisionReport>> compare_decisions(const MarkedRun& run) {
    std::vector<DecisionReport> reports;
    for (const DecisionPoint& point : points_) {
      auto device = run.tensors.find(point.tensor);
      if (device == run.tensors.end()) continue;
      const auto& node = evidence().prepared->index.nodes()[static_cast<size_t>(point.node)];
      PARITAS_ASSIGN(auto report,
                     compare_decision(node, point.tensor, evidence().reference.at(point.tensor), device->second));
      reports.push_back(std::move(report));
    }
    return reports;
  }

  // Feeds the reference's decisions where the device decided otherwise, until no other decision changes.
  Status run_forced_device() {
    std::vector<std::string> forced;
    auto add_changed = [&](const std::vector<DecisionReport>& reports) {
      bool added = false;
      for (const DecisionReport& report : reports)
        if (report.changed() && std::find(forced.begin(), forced.end(), report.tensor) == forced.end()) {
          forced.push_back(report.tensor);
          added = true;
        }
      return added;
    };
    bool more = add_changed(evidence().decisions);
    for (int round = 0; more && round < kMaxForcedRounds && device_.target().capabilities.integer_inputs; ++round) {
      auto run = run_with_decisions(forced);
      if (!run) {
        gathering_.notes.push_back("the device refuses the reference's decisions as inputs: " + run.error().cause);
        return {};
      }
      PARITAS_ASSIGN(auto reports, compare_decisions(*run));
      evidence().marked_forced = std::move(*run);
      evidence().forced = forced;
      more = add_changed(reports);
    }
    return {};
  }

  Result<MarkedRun> run_with_decisions(const std::vector<std::string>& forced) {
    NamedTensors inputs = request_.inputs;
    PARITAS_ASSIGN(const auto fed,
                   feed_from_reference(evidence().prepared->folded, forced, evidence().reference, inputs));
    MarkedRequest request = device_request(fed, std::move(inputs));
    // Fed tensors are inputs now, and nodes that only made them are gone.
    PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(fed));
    std::erase_if(request.marks, [&](const std::string& mark) {
      return index.producer(mark) < 0 || std::find(forced.begin(), forced.end(), mark) != forced.end();
    });
    PARITAS_ASSIGN(MarkedRun run, run_marked(device_, request));
    gathering_.device_sessions += run.sessions;
    gathering_.seconds_device += run.seconds;
    return run;
  }

  bool in_quantised_unit(const onnx_model::Island& island) const {
    const auto& index = gathering_.evidence.prepared->index;
    return std::any_of(island.nodes.begin(), island.nodes.end(), [&](int node) {
      const auto& outputs = index.nodes()[static_cast<size_t>(node)].outputs;
      return std::any_of(outputs.begin(), outputs.end(),
                         [&](const std::string& output) { return inside_quantised_unit(index, output); });
    });
  }

  Status run_all_probes() {
    std::unordered_map<std::string, onnx_model::TensorType> types;
    for (const auto& [name, tensor] : evidence().reference) types[name] = {tensor.dtype, tensor.shape};
    const Prepared& prepared = *evidence().prepared;
    if (request_.islands.kind != IslandChoice::Kind::kFused) evidence().island_kind = "inside the island ";
    std::vector<std::string> refused;
    evidence().islands = choose_islands(
        prepared,
        island_groups(request_.islands, evidence().groups, prepared.folded, prepared.index, prepared.dependence), types,
        &refused);
    if (!refused.empty() && request_.islands.kind != IslandChoice::Kind::kFused)
      probe_note_ =
          fmt::format("{} island{} probed node by node, since a path leaves {} and comes back ({}{})", refused.size(),
                      refused.size() == 1 ? " is" : "s are", refused.size() == 1 ? "it" : "them", refused.front(),
                      refused.size() == 1 ? "" : ", ...");
    ProbeRequest request;
    request.prepared = &*evidence().prepared;
    std::map<std::string, std::string> quantised;
    for (const auto& island : evidence().islands)
      if (fuses() && in_quantised_unit(island))
        quantised.emplace(island.name,
                          "part of a quantised operator, which the device would compute in floating point when alone");
      else
        request.islands.push_back(island);
    request.reference = &evidence().reference;
    request.memory_budget = budget();
    ProbeRequest rounded = request;
    const auto storage = device_.target().capabilities.storage_type;
    rounded.round_inputs = storage;
    auto baseline = std::async(std::launch::async, [&]() -> Result<Probes> {
      return storage ? run_probes(reference_, rounded) : Result<Probes>(Probes{});
    });
    auto probes = run_probes(probes_, request);
    if (storage) {
      PARITAS_ASSIGN(evidence().bad_constants,
                     constants_out_of_range(*evidence().prepared, *storage, request_.threads));
    }
    auto rounded_probes = baseline.get();
    PARITAS_TRY(probes);
    PARITAS_TRY(rounded_probes);
    evidence().probes = std::move(*probes);
    evidence().probes.not_probed.merge(quantised);
    evidence().rounded_inputs = std::move(rounded_probes->local);
    gathering_.seconds_probes = evidence().probes.seconds;
    return {};
  }

  const LocateRequest& request_;
  const onnx_model::Model& model_;
  Runner& reference_;
  Runner& device_;
  Runner& probes_;
  double unmarked_seconds_ = 0;
  std::vector<DecisionPoint> points_;
  size_t inside_units_ = 0;  // tensors that device_marks left out
  std::string probe_note_;   // of the probes, which run beside the rest
  Gathering gathering_;
};

}  // namespace

Result<Gathering> gather(const LocateRequest& request, const onnx_model::Model& model, Runner& reference,
                         Runner& device, Runner& probes) {
  return Gatherer(request, model, reference, device, probes).run();
}

}  // namespace paritas
