#include "paritas/runtime/record_tflite.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include <fmt/format.h>

#include "paritas/runtime/run_info.h"
#include "paritas/tflite/promote.h"

namespace paritas {
namespace {

using tflite::GraphTensor;

// Names by which applications know inputs may be those of a signature: then the tensor's own is meant.
std::string tensor_of_input(const tflite::Model& model, const std::string& given) {
  if (model.main().find(given)) return given;
  for (const tflite::Signature& signature : model.signatures()) {
    if (signature.graph != 0) continue;
    for (const auto& [name, tensor] : signature.inputs)
      if (name == given) return model.main().tensors[static_cast<size_t>(tensor)].id;
  }
  return given;
}

NamedTensors by_tensor(const tflite::Model& model, const NamedTensors& given) {
  NamedTensors sample;
  for (const auto& [name, value] : given) sample.emplace_back(tensor_of_input(model, name), value);
  return sample;
}

std::string declared_inputs(const tflite::Model& model) {
  std::string text;
  for (const int input : model.main().inputs) {
    const GraphTensor& tensor = model.main().tensors[static_cast<size_t>(input)];
    text +=
        fmt::format("{}\"{}\" {} {}", text.empty() ? "" : ", ", tensor.id, tensor.type_name, to_string(tensor.shape));
  }
  return text.empty() ? "no inputs" : text;
}

Status check_names(const tflite::Model& model, const NamedTensors& sample) {
  const auto& inputs = model.main().inputs;
  const auto id = [&](int input) { return model.main().tensors[static_cast<size_t>(input)].id; };
  for (const auto& [name, value] : sample) {
    const auto is_name = [&n = name](const auto& each) { return each.first == n; };
    if (std::count_if(sample.begin(), sample.end(), is_name) > 1)
      return usage_error("--input " + name, "was given twice");
    if (std::none_of(inputs.begin(), inputs.end(), [&, &n = name](int input) { return id(input) == n; }))
      return input_error(
          "", fmt::format("input \"{}\" is not in {}; it has {}", name, model.subject(), declared_inputs(model)));
  }
  for (const int input : inputs)
    if (std::none_of(sample.begin(), sample.end(), [&](const auto& each) { return each.first == id(input); }))
      return input_error(model.subject(), fmt::format("input \"{}\" was not given", id(input)),
                         fmt::format("add --input {}=FILE", id(input)));
  return {};
}

class TfliteRecorder {
 public:
  TfliteRecorder(const RecordRequest& request, tflite::Model model) : request_(request), model_(std::move(model)) {}

  Result<RunInfo> run() {
    const auto start = std::chrono::steady_clock::now();
    const std::string started = utc_now();
    if (!request_.dims.empty())
      return usage_error("--dim", "TFLite models take their shapes from the inputs", "leave it out");
    PARITAS_TRY(prepare_samples());
    PARITAS_TRY(choose());
    PARITAS_ASSIGN(auto writer, RecordingWriter::create(request_.output, request_.overwrite));
    PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    WorkerOptions options = request_.worker;
    options.scratch = scratch.path();
    PARITAS_ASSIGN(Runner runner, Runner::start(request_.target, options));
    PARITAS_ASSIGN(Session session, runner.open_file(model_.path(), fetch_));
    if (request_.target.runtime == RuntimeKind::kTflite) PARITAS_TRY(place(session.info()));
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (request_.progress) request_.progress(fmt::format("sample {} of {}", i + 1, samples_.size()));
      PARITAS_TRY(run_sample(session, samples_[i], i == 0, writer));
    }
    if (request_.target.runtime == RuntimeKind::kLitert) PARITAS_TRY(place_by_calls(session.info()));
    finish_info(runner);
    info_.start = started;
    info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    PARITAS_TRY(writer.finish(info_));
    return std::move(info_);
  }

 private:
  const GraphTensor& tensor(int index) const { return model_.main().tensors[static_cast<size_t>(index)]; }

  Status prepare_samples() {
    for (const NamedTensors& given : request_.samples) {
      NamedTensors sample = by_tensor(model_, given);
      PARITAS_TRY(check_names(model_, sample));
      if (request_.steps) PARITAS_TRY(count_steps(sample));
      for (const auto& [name, value] : sample)
        for (const auto& [other, first] : samples_.empty() ? sample : samples_.front())
          if (name == other && value.shape != first.shape)
            return input_error("",
                               fmt::format("samples differ in the shape of \"{}\": {} and {}", name,
                                           to_string(first.shape), to_string(value.shape)),
                               "record them separately");
      samples_.push_back(std::move(sample));
    }
    return {};
  }

  // How many calls the inputs hold: along their first axes, by what one call takes.
  Status count_steps(const NamedTensors& sample) {
    for (const auto& [name, value] : sample) {
      const GraphTensor& port = tensor(*model_.main().find(name));
      const int64_t each = port.shape.empty() ? 0 : port.shape[0];
      if (each <= 0 || value.shape.empty() || value.shape[0] <= 0 || value.shape[0] % each != 0)
        return input_error("--steps", fmt::format("the first axis of \"{}\" {} holds no whole number of calls of {}",
                                                  name, to_string(value.shape), to_string(port.shape)));
      const auto steps = static_cast<uint64_t>(value.shape[0] / each);
      if (info_.steps != 0 && info_.steps != steps)
        return input_error("--steps", fmt::format("inputs hold {} and {} calls", info_.steps, steps));
      info_.steps = steps;
    }
    return {};
  }

  Status choose() {
    std::vector<std::string> names;
    for (const int index : tflite::promotable(model_)) names.push_back(tensor(index).id);
    PARITAS_ASSIGN(marks_, choose_marks(
                               request_.marks, names, [](const std::string&) { return true; }, model_.subject()));
    for (const int output : model_.main().outputs)
      if (std::find(fetch_.begin(), fetch_.end(), tensor(output).id) == fetch_.end())
        fetch_.push_back(tensor(output).id);
    fetch_.insert(fetch_.end(), marks_.begin(), marks_.end());
    return {};
  }

  Status place(const SessionInfo& session) {
    PlacementCounts counts = count_assignment(request_.target, session.assignment, session.partitions);
    if (counts.total() > 0) counts.evidence = {"execution plan"};
    PARITAS_TRY(require_device_took_part(request_.target, counts));
    if (request_.target.capabilities.device && counts.total() == 0)
      info_.notes.push_back("the library does not show its plan: which operators the delegate took is not known");
    info_.placement = std::move(counts);
    std::vector<std::pair<std::pair<std::string, int>, PlannedPart>> parts;
    for (const AssignedNode& node : session.assignment) {
      const auto key = std::pair(node.provider, node.partition);
      auto it = std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.first == key; });
      if (it == parts.end()) it = parts.insert(parts.end(), {key, {node.provider, {}}});
      it->second.nodes.push_back(node.name);
    }
    std::stable_partition(parts.begin(), parts.end(), [](const auto& part) { return part.first.second >= 0; });
    for (auto& part : parts) info_.plan.push_back(std::move(part.second));
    return {};
  }

  // LiteRT shows no plan. Its profiler counted what ran, without saying which operators of the model these were, and a
  // delegate's own operators need not be the model's.
  Status place_by_calls(const SessionInfo& session) {
    PlacementCounts counts;
    counts.requested = request_.target.provider;
    counts.nodes = calls_;
    if (!calls_.empty()) counts.evidence = {"profiler events"};
    PARITAS_TRY(require_device_took_part(request_.target, counts));
    if (calls_.empty())
      info_.notes.push_back("LiteRT's profiler saw no operators: where they ran is not known");
    else
      info_.notes.push_back(
          "placement counts operators that LiteRT's profiler saw in one call; those of a delegate are its own, not the "
          "model's");
    if (session.fully_accelerated)
      info_.notes.push_back(
          fmt::format("LiteRT says that the model is {}fully accelerated", *session.fully_accelerated ? "" : "not "));
    info_.placement = std::move(counts);
    return {};
  }

  // Tensors of one sample, as many at a time as the budget of memory allows.
  Status run_sample(Session& session, const NamedTensors& sample, bool first, RecordingWriter& writer) {
    NamedTensors tensors = sample;
    std::vector<std::string> part;
    uint64_t bytes = 0;
    const auto run_part = [&]() -> Status {
      if (part.empty()) return {};
      PARITAS_ASSIGN(RunReply reply,
                     info_.steps > 0 ? session.run_steps(sample, info_.steps, part) : session.run(sample, part));
      if (calls_.empty()) calls_ = reply.calls;
      for (auto& output : reply.outputs) tensors.push_back(std::move(output));
      part.clear();
      bytes = 0;
      return {};
    };
    for (const std::string& id : fetch_) {
      const GraphTensor& wanted = tensor(*model_.main().find(id));
      const auto count = element_count(wanted.shape);
      const uint64_t size = byte_size(*wanted.dtype, count ? *count : 0) * std::max<uint64_t>(1, info_.steps);
      if (bytes + size > request_.memory_budget) PARITAS_TRY(run_part());
      part.push_back(id);
      bytes += size;
    }
    PARITAS_TRY(run_part());
    if (first) describe(sample, tensors);
    return writer.add_sample(tensors);
  }

  void describe(const NamedTensors& sample, const NamedTensors& tensors) {
    for (const auto& [name, value] : tensors) {
      const int index = *model_.main().find(name);
      const auto& outputs = model_.main().outputs;
      const bool input = std::any_of(sample.begin(), sample.end(), [&n = name](const auto& s) { return s.first == n; });
      const bool output = std::find(outputs.begin(), outputs.end(), index) != outputs.end();
      info_.tensors.push_back(describe_tensor(model_, index,
                                              output  ? Role::kOutput
                                              : input ? Role::kInput
                                                      : Role::kIntermediate));
    }
  }

  void finish_info(Runner& runner) {
    RunInfo made = make_run_info(model_.path(), request_.target, runner.worker().identity());
    made.producer = model_.description();
    made.tool_version = request_.tool_version;
    made.notes.insert(made.notes.end(), info_.notes.begin(), info_.notes.end());
    if (model_.random()) made.notes.push_back("the model draws random numbers: two runs need not agree");
    made.placement = std::move(info_.placement);
    made.plan = std::move(info_.plan);
    made.steps = info_.steps;
    made.tensors = std::move(info_.tensors);
    for (const auto& mark : request_.marks) made.marks += (made.marks.empty() ? "" : " ") + mark;
    if (made.marks.empty()) made.marks = "none";
    hash_after_run(made);
    if (request_.portable) forget_folders(made);
    info_ = std::move(made);
  }

  const RecordRequest& request_;
  const tflite::Model model_;
  std::vector<NamedTensors> samples_;
  std::vector<std::string> marks_, fetch_;
  std::vector<std::pair<std::string, uint64_t>> calls_;  // of one run, where the runtime counts them
  RunInfo info_;
};

}  // namespace

Status check_inputs(const tflite::Model& model, const NamedTensors& inputs) {
  const NamedTensors sample = by_tensor(model, inputs);
  PARITAS_TRY(check_names(model, sample));
  for (const auto& [name, value] : sample) {
    const GraphTensor& port = model.main().tensors[static_cast<size_t>(*model.main().find(name))];
    if (port.dtype != value.dtype)
      return input_error(model.subject(), fmt::format("input \"{}\" must be {}, the given tensor is {}", name,
                                                      port.type_name, paritas::name(value.dtype)));
    bool fits = port.shape.size() == value.shape.size();
    for (size_t i = 0; fits && i < value.shape.size(); ++i)
      fits = port.shape[i] == value.shape[i] || (i < port.shape_signature.size() && port.shape_signature[i] == -1);
    if (!fits)
      return input_error(model.subject(), fmt::format("input \"{}\" {} cannot take a tensor of shape {}", name,
                                                      to_string(port.shape), to_string(value.shape)));
  }
  return {};
}

TensorInfo describe_tensor(const tflite::Model& model, int index, Role role) {
  const tflite::Graph& graph = model.main();
  const GraphTensor& tensor = graph.tensors[static_cast<size_t>(index)];
  TensorInfo info;
  info.name = tensor.id;
  info.dtype = tensor.dtype.value_or(DType::kF32);
  info.role = role;
  if (const int producer = graph.producer(index); producer >= 0) {
    const tflite::Op& op = graph.ops[static_cast<size_t>(producer)];
    info.node = op.label();
    info.op = op.name;
  }
  if (tensor.quantisation) {
    info.quantisation.emplace();
    info.quantisation->scale.assign(tensor.quantisation->scale.begin(), tensor.quantisation->scale.end());
    info.quantisation->zero_point = tensor.quantisation->zero_point;
    info.quantisation->axis = tensor.quantisation->axis;
  }
  return info;
}

Result<RunInfo> record_tflite(const RecordRequest& request) {
  PARITAS_ASSIGN(tflite::Model model, tflite::Model::load(request.model));
  return TfliteRecorder(request, std::move(model)).run();
}

}  // namespace paritas
