#include "paritas/runtime/record.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/base/sha256.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/record_tflite.h"
#include "paritas/runtime/run_info.h"
#include "paritas/tflite/model.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;

class Recorder {
 public:
  explicit Recorder(const RecordRequest& request) : request_(request) {}

  Result<RunInfo> run() {
    const auto start = std::chrono::steady_clock::now();
    const std::string started = utc_now();
    PARITAS_ASSIGN(auto given, onnx_model::Model::load(request_.model));
    PARITAS_TRY(check_samples(given));
    std::vector<std::string> pinned;
    const onnx_model::Model& runs = request_.edited != nullptr ? *request_.edited : given;
    PARITAS_ASSIGN(auto model, pin_to_inputs(runs, request_.samples.front(), request_.dims, &pinned));
    PARITAS_ASSIGN(auto index, GraphIndex::build(model));
    PARITAS_ASSIGN(auto marks, choose_marks(model, index));
    PARITAS_ASSIGN(auto writer, RecordingWriter::create(request_.output, request_.overwrite));
    PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    WorkerOptions options = request_.worker;
    options.scratch = scratch.path();
    PARITAS_ASSIGN(Runner runner, Runner::start(request_.target, options));
    RunInfo info;
    for (size_t i = 0; i < request_.samples.size(); ++i) {
      if (request_.progress) request_.progress(fmt::format("sample {} of {}", i + 1, request_.samples.size()));
      PARITAS_TRY(run_sample(runner, model, index, marks, i, info, writer));
    }
    finish_info(given, runner, pinned, info);
    info.start = started;
    info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    PARITAS_TRY(writer.finish(info));
    return info;
  }

 private:
  // Every sample must be lawful and have the shapes of the first: free dimensions are pinned once.
  Status check_samples(const onnx_model::Model& model) const {
    for (const NamedTensors& sample : request_.samples) {
      PARITAS_TRY(check_inputs(model, sample));
      for (const auto& [name, tensor] : sample)
        for (const auto& [other, first] : request_.samples.front())
          if (name == other && tensor.shape != first.shape)
            return input_error("",
                               fmt::format("samples differ in the shape of \"{}\": {} and {}", name,
                                           to_string(first.shape), to_string(tensor.shape)),
                               "record them separately");
    }
    return {};
  }

  Result<std::vector<std::string>> choose_marks(const onnx_model::Model& model, const GraphIndex& index) const {
    std::vector<std::string> names;
    for (const auto& node : index.nodes())
      for (const auto& output : node.outputs)
        if (!index.is_output(output)) names.push_back(output);
    const auto dependence = onnx_model::value_dependence(model, index);
    return paritas::choose_marks(
        request_.marks, names, [&](const std::string& tensor) { return dependence.depends(tensor); }, model.subject());
  }

  Status run_sample(Runner& runner, const onnx_model::Model& model, const GraphIndex& index,
                    const std::vector<std::string>& marks, size_t number, RunInfo& info, RecordingWriter& writer) {
    MarkedRequest marked;
    marked.model = &model;
    marked.inputs = request_.samples[number];
    marked.marks = marks;
    marked.memory_budget = request_.memory_budget;
    PARITAS_ASSIGN(MarkedRun run, run_marked(runner, marked));
    for (const auto& [tensor, reason] : run.failed)
      if (number == 0) info.notes.push_back(fmt::format("\"{}\" could not be recorded: {}", tensor, reason));
    if (number == 0 && !run.unoptimised_because.empty())
      info.notes.push_back(unoptimised_note(request_.target, run.unoptimised_because));
    if (number == 0) PARITAS_TRY(place(run, info));
    NamedTensors tensors = request_.samples[number];
    for (const auto& output : index.outputs())
      if (auto it = run.tensors.find(output); it != run.tensors.end()) tensors.emplace_back(output, it->second);
    for (const auto& mark : marks)
      if (auto it = run.tensors.find(mark); it != run.tensors.end()) tensors.emplace_back(mark, it->second);
    if (number == 0) describe_tensors(index, tensors, info);
    return writer.add_sample(tensors);
  }

  Status place(const MarkedRun& run, RunInfo& info) const {
    PlacementCounts counts = count_assignment(request_.target, run.assignment, run.partitions);
    PARITAS_TRY(require_device_took_part(request_.target, counts));
    info.placement = std::move(counts);
    return {};
  }

  void describe_tensors(const GraphIndex& index, const NamedTensors& tensors, RunInfo& info) const {
    std::unordered_map<std::string, bool> inputs;
    for (const auto& [name, tensor] : request_.samples.front()) inputs[name] = true;
    for (const auto& [name, tensor] : tensors) {
      TensorInfo entry;
      entry.name = name;
      entry.dtype = tensor.dtype;
      entry.role = index.is_output(name) ? Role::kOutput : inputs.count(name) != 0 ? Role::kInput : Role::kIntermediate;
      if (is_float(tensor.dtype)) entry.storage_type = request_.target.capabilities.storage_type;
      if (const int producer = index.producer(name); producer >= 0) {
        entry.node = index.nodes()[static_cast<size_t>(producer)].name;
        entry.op = index.nodes()[static_cast<size_t>(producer)].op;
      }
      info.tensors.push_back(std::move(entry));
    }
  }

  void finish_info(const onnx_model::Model& given, Runner& runner, std::vector<std::string> pinned,
                   RunInfo& info) const {
    RunInfo made = make_run_info(given, request_.target, runner.worker().identity());
    made.tool_version = request_.tool_version;
    made.pinned = std::move(pinned);
    made.notes.insert(made.notes.end(), info.notes.begin(), info.notes.end());
    made.placement = std::move(info.placement);
    made.tensors = std::move(info.tensors);
    for (const auto& mark : request_.marks) made.marks += (made.marks.empty() ? "" : " ") + mark;
    if (made.marks.empty()) made.marks = "none";
    hash_after_run(made);
    if (request_.portable) forget_folders(made);
    info = std::move(made);
  }

  const RecordRequest& request_;
};

}  // namespace

Result<std::vector<std::string>> choose_marks(const std::vector<std::string>& patterns,
                                              const std::vector<std::string>& names,
                                              const std::function<bool(const std::string&)>& by_all,
                                              const std::string& subject) {
  std::vector<std::string> marks;
  std::vector<bool> used(patterns.size(), false);
  for (const std::string& tensor : names)
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (!(patterns[i] == "all" ? by_all(tensor) : glob_match(patterns[i], tensor))) continue;
      used[i] = true;
      marks.push_back(tensor);
      break;
    }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i] && patterns[i] != "all" && patterns[i] != "none")
      return usage_error("--marks " + patterns[i], fmt::format("no intermediate tensor of {} is called so", subject),
                         "paritas inspect lists its tensors with --verbose");
  return marks;
}

Result<RunInfo> record(const RecordRequest& request) {
  const bool tflite_model = tflite::is_tflite(request.model);
  const bool tflite_target = request.target.runtime != RuntimeKind::kOnnxRuntime;
  if (tflite_model && !tflite_target)
    return usage_error(request.target.spec.text, fmt::format("does not run {}, a TFLite model", request.model.string()),
                       "take tflite:ref, tflite:builtin, tflite:xnnpack, tflite:delegate or litert:cpu");
  if (!tflite_target) {
    if (request.steps)
      return usage_error(request.target.spec.text, "keeps no state from call to call", "leave --steps out");
    return Recorder(request).run();
  }
  std::error_code code;
  if (!tflite_model && std::filesystem::exists(request.model, code))
    return usage_error(request.target.spec.text,
                       fmt::format("runs TFLite models, and {} is none", request.model.string()),
                       "take cpu, or another target of ONNX Runtime");
  return record_tflite(request);
}

}  // namespace paritas
