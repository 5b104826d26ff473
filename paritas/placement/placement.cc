#include "paritas/placement/placement.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/judge/random_draws.h"
#include "paritas/placement/claims.h"
#include "paritas/placement/conclude.h"
#include "paritas/placement/live.h"
#include "paritas/placement/pin.h"
#include "paritas/placement/placement_json.h"
#include "paritas/placement/requirement.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;

class Placing {
 public:
  explicit Placing(const PlacementRequest& request) : request_(request) {}

  Result<PlacementResult> run() {
    const auto start = std::chrono::steady_clock::now();
    // Everything that can be wrong with what was given is found before anything runs.
    PARITAS_TRY(check_request());
    PARITAS_ASSIGN(pins_, parse_pins(request_.pins));
    for (const std::string& text : request_.requirements) {
      PARITAS_ASSIGN(Requirement requirement, parse_requirement(text));
      requirements_.push_back(std::move(requirement));
    }
    if (request_.against) {
      PARITAS_ASSIGN(stored_, read_stored_placement(*request_.against));
    }
    PARITAS_ASSIGN(const Model given, Model::load(request_.model));
    result_.model = request_.model.string();
    PARITAS_ASSIGN(result_.model_sha256, sha256_of_file(request_.model));
    PARITAS_TRY(check_gates(given));
    declared_ = declared_bytes(given);
    PARITAS_ASSIGN(const Model model, pinned_model(given));
    PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
    PARITAS_TRY(request_.target ? from_sessions(given, model, index) : from_files(model, index));
    for (const Requirement& requirement : requirements_) {
      PARITAS_ASSIGN(auto outcome, check_requirement(requirement, result_.placement, given.subject()));
      result_.requirements.push_back(std::move(outcome));
    }
    if (stored_) compare_with_stored();
    conclude(!request_.gates.empty(), result_);
    result_.seconds_total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }

  Status check_request() const {
    const bool files = request_.profile || request_.op_trace || request_.cycles;
    if (request_.target && (files || !request_.provider.empty()))
      return usage_error("--target", "evidence files are of another session than the one that would be run",
                         "give either --target or --profile, --op-trace, --cycles and --provider");
    if (!request_.target && !files && !request_.context && request_.pins.empty())
      return usage_error("paritas placement", "nothing says where the model ran",
                         "give --target, or evidence files: --profile, --op-trace, --cycles, --context");
    if (!request_.target && !(request_.inputs.empty() && request_.dims.empty()))
      return usage_error("--input", "inputs are for a session, and no --target is given",
                         "give --target, or leave them out");
    if (!request_.target && !request_.gates.empty())
      return usage_error("--gate", "gates are for outputs of a pinned session", "give --target and --pin");
    if (!request_.gates.empty() && request_.pins.empty())
      return usage_error("--gate", "outputs are compared only when something is pinned",
                         "give --pin too, or compare recordings: paritas compare");
    if (request_.target && !request_.pins.empty()) return check_pinned_target(*request_.target);
    return {};
  }

  Status check_pinned_target(const Target& target) const {
    if (!target.capabilities.op_affinity)
      return usage_error("--pin", fmt::format("{} cannot pin operator types", target.spec.text), "qnn:htp can");
    if (target.provider_options.count("op_affinity") != 0)
      return usage_error("--pin", fmt::format("{} brings an op_affinity of its own", target.spec.text),
                         "give one of the two");
    if (request_.inputs.empty())
      return usage_error("--pin", "what a pin does to the outputs is seen only in a run", "give --input NAME=FILE");
    return {};
  }

  Status check_gates(const Model& model) const {
    std::vector<GateSubject> subjects;
    for (const auto& output : onnx_model::describe_outputs(model))
      subjects.emplace_back(output.name, Role::kOutput, "", output.dtype);
    PARITAS_TRY(check_gates_match(request_.gates, subjects, kNoRolesHere));
    return {};
  }

  Result<Model> pinned_model(const Model& given) {
    if (!request_.target || request_.inputs.empty()) {
      if (!request_.dims.empty())
        return usage_error("--dim", "dimensions are pinned together with inputs", "give --input NAME=FILE too");
      return given.clone();
    }
    PARITAS_TRY(check_inputs(given, request_.inputs));
    return pin_to_inputs(given, request_.inputs, request_.dims, &result_.pinned_dimensions);
  }

  AuditRequest audit_request(const Model& model, const GraphIndex& index) const {
    AuditRequest audit;
    audit.model = &model;
    audit.index = &index;
    audit.planned = request_.planned;
    audit.tensor_bytes = declared_;
    return audit;
  }

  Status add_context(PlacementEvidence& evidence) const {
    if (!request_.context) return {};
    PARITAS_ASSIGN(auto context, read_context_model(*request_.context));
    evidence.context = FromFile<ContextModel>{request_.context->string(), std::move(context)};
    return {};
  }

  Status from_files(const Model& model, const GraphIndex& index) {
    PlacementEvidence evidence;
    PARITAS_TRY(add_context(evidence));
    if (request_.profile) {
      PARITAS_ASSIGN(auto profile, read_ort_profile(*request_.profile));
      evidence.profile = FromFile<OrtProfile>{request_.profile->string(), std::move(profile)};
    }
    if (request_.op_trace) {
      PARITAS_ASSIGN(auto trace, read_qnn_op_trace(*request_.op_trace));
      evidence.op_trace = FromFile<OpTrace>{request_.op_trace->string(), std::move(trace)};
    }
    if (request_.cycles) {
      PARITAS_ASSIGN(auto cycles, read_qnn_cycles(*request_.cycles));
      evidence.cycles = FromFile<QnnCycles>{request_.cycles->string(), std::move(cycles)};
    }
    AuditRequest audit = audit_request(model, index);
    audit.requested = request_.provider;
    PARITAS_ASSIGN(result_.placement, audit_placement(audit, evidence));
    list_pins(index);
    return {};
  }

  // What a pin would touch, without running anything.
  void list_pins(const GraphIndex& index) {
    if (pins_.empty()) return;
    PinExperiment& pin = result_.pin.emplace();
    pin.pins = request_.pins;
    pin.touched_source = touched_nodes(pins_, index);
  }

  Status from_sessions(const Model& given, const Model& model, const GraphIndex& index) {
    list_pins(index);
    PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    progress("device session");
    PARITAS_ASSIGN(LiveSession live,
                   run_live(*request_.target, model, request_.inputs, request_.worker, scratch.path() / "device"));
    std::optional<LiveSession> pinned;
    if (!pins_.empty()) {
      PARITAS_ASSIGN(pinned, run_pinned(model, live, scratch.path()));
    }
    PARITAS_TRY(audit_session(model, index, pinned ? *pinned : live, pinned.has_value(), result_.placement));
    if (pinned) PARITAS_TRY(audit_session(model, index, live, false, result_.pin->before));
    PARITAS_TRY(run_reference(model, index, live, pinned, scratch.path()));
    LiveSession& shown = pinned ? *pinned : live;
    result_.target = request_.target->spec.text;
    result_.info = make_run_info(given, *request_.target, shown.identity);
    result_.info.tool_version = request_.tool_version;
    result_.info.pinned = result_.pinned_dimensions;
    result_.notes.insert(result_.notes.end(), request_.target->notes.begin(), request_.target->notes.end());
    result_.notes.insert(result_.notes.end(), shown.notes.begin(), shown.notes.end());
    return {};
  }

  Result<LiveSession> run_pinned(const Model& model, const LiveSession& before, const Path& scratch) {
    progress("device session with the pin");
    const Path file = scratch / "op_affinity.json";
    PARITAS_TRY(write_text_atomically(file, op_affinity_json(pins_), /*overwrite=*/true));
    Target target = *request_.target;
    target.provider_options["op_affinity"] = file.string();
    PARITAS_ASSIGN(LiveSession pinned, run_live(target, model, request_.inputs, request_.worker, scratch / "pinned"));
    trace_pins(pins_, target.provider, before.info.assignment, pinned.info.assignment, *result_.pin);
    result_.pin->ran = true;
    return pinned;
  }

  Status audit_session(const Model& model, const GraphIndex& index, LiveSession& live, bool with_pin,
                       PlacementAudit& audit) const {
    AuditRequest request = audit_request(model, index);
    request.requested = request_.target->provider;
    request.cpu_backend = request_.target->capabilities.cpu_backend;
    if (with_pin)
      for (const Pin& pin : pins_) request.planned.push_back("op:" + pin.op);
    PARITAS_TRY(add_context(live.evidence));
    PARITAS_ASSIGN(audit, audit_placement(request, live.evidence));
    return {};
  }

  // The reference run gives outputs to judge a pin by, and sizes of crossing tensors that the model does not declare.
  Status run_reference(const Model& model, const GraphIndex& index, LiveSession& live,
                       std::optional<LiveSession>& pinned, const Path& scratch) {
    MarkedRequest marked;
    for (const PlacementAudit* audit : {&result_.placement, pinned ? &result_.pin->before : &result_.placement})
      for (const Crossing& crossing : audit->crossings)
        if (!crossing.bytes && !index.is_output(crossing.tensor) &&
            std::find(marked.marks.begin(), marked.marks.end(), crossing.tensor) == marked.marks.end())
          marked.marks.push_back(crossing.tensor);
    if (request_.inputs.empty() || (!pinned && marked.marks.empty())) return {};
    progress("reference run");
    WorkerOptions options = request_.worker;
    options.scratch = scratch / "reference";
    PARITAS_ASSIGN(Runner runner, Runner::start(request_.reference, options));
    marked.model = &model;
    marked.inputs = request_.inputs;
    marked.memory_budget = request_.memory_budget / 4;
    PARITAS_ASSIGN(const MarkedRun run, run_marked(runner, marked));
    for (const auto& [name, tensor] : run.tensors) declared_[name] = tensor.bytes.size();
    PARITAS_TRY(audit_session(model, index, pinned ? *pinned : live, pinned.has_value(), result_.placement));
    if (!pinned) return {};
    PARITAS_TRY(audit_session(model, index, live, false, result_.pin->before));
    NamedTensors reference;
    for (const std::string& output : index.outputs())
      if (auto it = run.tensors.find(output); it != run.tensors.end()) reference.emplace_back(output, it->second);
    // No seed is enough: a provider that takes pins promises nothing about draws.
    const auto random = random_draws(model, index, request_.reference, *request_.target, /*first_runs=*/false);
    return judge_pin(reference, live.outputs, pinned->outputs, request_.gates, &random, request_.threads, *result_.pin);
  }

  void compare_with_stored() {
    result_.change = compare_placements(*stored_, result_.placement);
    if (stored_->model_sha256 != result_.model_sha256)
      result_.notes.push_back(fmt::format("{} is of another model file; nodes were compared by name", stored_->file));
  }

  const PlacementRequest& request_;
  std::vector<Pin> pins_;
  std::vector<Requirement> requirements_;
  std::optional<StoredPlacement> stored_;
  std::map<std::string, uint64_t> declared_;
  PlacementResult result_;
};

}  // namespace

Result<PlacementResult> find_placement(const PlacementRequest& request) { return Placing(request).run(); }

}  // namespace paritas
