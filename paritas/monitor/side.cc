#include "paritas/monitor/side.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/graph_index.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/record.h"
#include "paritas/runtime/record_tflite.h"
#include "paritas/runtime/run_info.h"
#include "paritas/tflite/promote.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;

constexpr size_t kKeptSessions = 12;  // parts that --memory splits one graph into

bool decides(const std::string& op) {
  static const std::array kOps = {"TopK",
                                  "ArgMax",
                                  "ArgMin",
                                  "NonZero",
                                  "NonMaxSuppression",
                                  "Unique",
                                  "ARG_MAX",
                                  "ARG_MIN",
                                  "TOPK_V2",
                                  "NON_MAX_SUPPRESSION_V4",
                                  "WHERE",
                                  "NON_MAX_SUPPRESSION_V5"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

class OnnxSide : public MonitorSide {
 public:
  static Result<std::unique_ptr<MonitorSide>> start(const SideRequest& request) {
    PARITAS_ASSIGN(const auto given, onnx_model::Model::load(request.model));
    PARITAS_TRY(check_inputs(given, request.first));
    std::vector<std::string> pinned;
    PARITAS_ASSIGN(auto model, pin_to_inputs(given, request.first, request.dims, &pinned));
    PARITAS_ASSIGN(auto index, GraphIndex::build(model));
    PARITAS_ASSIGN(auto runner, Runner::start_in(request.scratch, request.role, request.target, request.worker));
    runner.keep_sessions(kKeptSessions);
    auto side = std::unique_ptr<OnnxSide>(new OnnxSide(std::move(model), std::move(index), std::move(runner)));
    PARITAS_TRY(side->choose(request));
    side->describe(request, given, std::move(pinned));
    return std::unique_ptr<MonitorSide>(std::move(side));
  }

  Result<NamedTensors> run(const NamedTensors& inputs) override {
    PARITAS_TRY(check_inputs(model_, inputs));
    MarkedRequest marked;
    marked.model = &model_;
    marked.inputs = inputs;
    marked.marks = marks_;
    marked.memory_budget = memory_budget_;
    PARITAS_ASSIGN(MarkedRun run, run_marked(runner_, marked));
    if (const auto died = runner_.worker().died()) return runtime_error(died->subject, died->cause);
    if (!placed_) {
      PlacementCounts counts = count_assignment(runner_.target(), run.assignment, run.partitions);
      PARITAS_TRY(require_device_took_part(runner_.target(), counts));
      info_.placement = std::move(counts);
      placed_ = true;
    }
    NamedTensors tensors;
    for (const TensorInfo& tensor : info_.tensors)
      if (auto it = run.tensors.find(tensor.name); it != run.tensors.end())
        tensors.emplace_back(tensor.name, it->second);
    return tensors;
  }

 private:
  OnnxSide(onnx_model::Model model, GraphIndex index, Runner runner)
      : model_(std::move(model)), index_(std::move(index)), runner_(std::move(runner)) {}

  Status choose(const SideRequest& request) {
    memory_budget_ = request.memory_budget;
    std::vector<std::string> names;
    for (const auto& node : index_.nodes())
      for (const auto& output : node.outputs)
        if (!index_.is_output(output)) names.push_back(output);
    const auto dependence = onnx_model::value_dependence(model_, index_);
    PARITAS_ASSIGN(marks_, choose_marks(
                               request.marks, names, [&](const std::string& t) { return dependence.depends(t); },
                               model_.subject()));
    return {};
  }

  const GraphIndex::Node* maker(const std::string& tensor) const {
    const int producer = index_.producer(tensor);
    return producer < 0 ? nullptr : &index_.nodes()[static_cast<size_t>(producer)];
  }

  // The largest scale, when it stands in the model.
  std::optional<double> step_of(const GraphIndex::Node& node) const {
    if (node.inputs.size() < 2) return std::nullopt;
    for (const auto& initializer : model_.graph().initializer()) {
      if (initializer.name() != node.inputs[1]) continue;
      const auto tensor = model_.tensor(initializer);
      if (!tensor || !is_float(tensor->dtype)) return std::nullopt;
      const auto view = TensorView::of(*tensor);
      if (!view || view->count() == 0) return std::nullopt;
      std::vector<double> scales(view->count());
      load_as_double(view->dtype(), view->bytes(), 0, scales);
      return *std::max_element(scales.begin(), scales.end());
    }
    return std::nullopt;
  }

  void describe(const SideRequest& request, const onnx_model::Model& given, std::vector<std::string> pinned) {
    info_ = make_run_info(given, request.target, runner_.worker().identity());
    info_.pinned = std::move(pinned);
    std::vector<std::string> names = index_.outputs();
    names.insert(names.end(), marks_.begin(), marks_.end());
    for (const std::string& name : names) {
      TensorInfo entry;
      entry.name = name;
      entry.role = index_.is_output(name) ? Role::kOutput : Role::kIntermediate;
      entry.storage_type = request.target.capabilities.storage_type;
      if (const auto* node = maker(name)) {
        entry.node = node->name;
        entry.op = node->op;
        if (const auto step = node->op == "DequantizeLinear" ? step_of(*node) : std::nullopt) steps_[name] = *step;
      }
      info_.tensors.push_back(std::move(entry));
    }
    for (const auto& node : index_.nodes()) describe(node);
  }

  void describe(const GraphIndex::Node& node) {
    if (decides(node.op)) decisions_.push_back(node.name + ": " + node.op);
    if (node.op == "DequantizeLinear" && !node.inputs.empty() && !node.outputs.empty()) {
      const auto* quantise = maker(node.inputs[0]);
      if (quantise != nullptr && quantise->op == "QuantizeLinear" && !quantise->inputs.empty())
        twins_.emplace(quantise->inputs[0], node.outputs[0]);
    }
    if ((node.op == "Clip" || node.op == "Relu") && !node.inputs.empty() && !node.outputs.empty() &&
        index_.consumers(node.inputs[0]).size() == 1 && !index_.is_output(node.inputs[0]))
      activations_.emplace(node.inputs[0], node.outputs[0]);
  }

  onnx_model::Model model_;
  GraphIndex index_;
  Runner runner_;
  std::vector<std::string> marks_;
  uint64_t memory_budget_ = 0;
  bool placed_ = false;
};

class TfliteSide : public MonitorSide {
 public:
  static Result<std::unique_ptr<MonitorSide>> start(const SideRequest& request) {
    PARITAS_ASSIGN(auto model, tflite::Model::load(request.model));
    if (!request.dims.empty())
      return usage_error("dims", "TFLite models take their shapes from the inputs", "leave them out");
    PARITAS_TRY(check_inputs(model, request.first));
    if (model.stateful())
      return input_error(model.subject(), "keeps a state from call to call, which monitor does not step",
                         "record its steps with paritas run --steps, and compare the recordings");
    PARITAS_ASSIGN(auto runner, Runner::start_in(request.scratch, request.role, request.target, request.worker));
    auto side = std::unique_ptr<TfliteSide>(new TfliteSide(std::move(model), std::move(runner)));
    PARITAS_TRY(side->open(request));
    return std::unique_ptr<MonitorSide>(std::move(side));
  }

  Result<NamedTensors> run(const NamedTensors& inputs) override {
    PARITAS_TRY(check_inputs(model_, inputs));
    NamedTensors tensors;
    std::vector<std::string> part;
    uint64_t bytes = 0;
    const auto run_part = [&]() -> Status {
      if (part.empty()) return {};
      PARITAS_ASSIGN(RunReply reply, session_->run(inputs, part));
      for (auto& output : reply.outputs) tensors.push_back(std::move(output));
      part.clear();
      bytes = 0;
      return {};
    };
    for (const TensorInfo& tensor : info_.tensors) {
      const auto& wanted = model_.main().tensors[static_cast<size_t>(*model_.main().find(tensor.name))];
      const auto count = element_count(wanted.shape);
      const uint64_t size = byte_size(*wanted.dtype, count ? *count : 0);
      if (bytes + size > memory_budget_) PARITAS_TRY(run_part());
      part.push_back(tensor.name);
      bytes += size;
    }
    PARITAS_TRY(run_part());
    return tensors;
  }

 private:
  TfliteSide(tflite::Model model, Runner runner) : model_(std::move(model)), runner_(std::move(runner)) {}

  Status open(const SideRequest& request) {
    memory_budget_ = request.memory_budget;
    const auto& graph = model_.main();
    const auto id = [&](int index) { return graph.tensors[static_cast<size_t>(index)].id; };
    std::vector<std::string> names, fetch;
    for (const int index : tflite::promotable(model_)) names.push_back(id(index));
    PARITAS_ASSIGN(const auto marks,
                   choose_marks(
                       request.marks, names, [](const std::string&) { return true; }, model_.subject()));
    for (const int output : graph.outputs)
      if (std::find(fetch.begin(), fetch.end(), id(output)) == fetch.end()) fetch.push_back(id(output));
    fetch.insert(fetch.end(), marks.begin(), marks.end());
    PARITAS_ASSIGN(Session session, runner_.open_file(model_.path(), fetch));
    session_.emplace(std::move(session));
    info_ = make_run_info(model_.path(), request.target, runner_.worker().identity());
    PlacementCounts counts = count_assignment(request.target, session_->info().assignment, session_->info().partitions);
    PARITAS_TRY(require_device_took_part(request.target, counts));
    info_.placement = std::move(counts);
    for (const std::string& name : fetch) {
      const int index = *graph.find(name);
      const bool output = std::find(graph.outputs.begin(), graph.outputs.end(), index) != graph.outputs.end();
      info_.tensors.push_back(describe_tensor(model_, index, output ? Role::kOutput : Role::kIntermediate));
      if (const auto& q = info_.tensors.back().quantisation; q && !q->scale.empty())
        steps_[name] = *std::max_element(q->scale.begin(), q->scale.end());
      if (decides(info_.tensors.back().op))
        decisions_.push_back(info_.tensors.back().node + ": " + info_.tensors.back().op);
    }
    return {};
  }

  tflite::Model model_;
  Runner runner_;
  std::optional<Session> session_;  // ends before its runner
  uint64_t memory_budget_ = 0;
};

}  // namespace

Result<std::unique_ptr<MonitorSide>> start_side(const SideRequest& request) {
  const bool tflite_model = tflite::is_tflite(request.model);
  if (tflite_model != (request.target.runtime == RuntimeKind::kTflite))
    return usage_error(
        request.target.spec.text,
        fmt::format("does not run {}, {} model", request.model.string(),
                    tflite_model ? "a TFLite" : "which is no TFLite"),
        tflite_model ? "take tflite:ref or another TFLite target" : "take cpu, or another target of ONNX Runtime");
  return tflite_model ? TfliteSide::start(request) : OnnxSide::start(request);
}

}  // namespace paritas
