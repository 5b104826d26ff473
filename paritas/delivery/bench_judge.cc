#include "paritas/delivery/bench_judge.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/delivery/judge_recordings.h"
#include "paritas/recording/recording.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/runner.h"

namespace paritas {
namespace {

// One sample: what was fed, and what came out.
class OneSample : public SampleStream {
 public:
  OneSample(std::string subject, const NamedTensors& inputs) : subject_(std::move(subject)) {
    for (const auto& [name, tensor] : inputs) add(name, tensor, Role::kInput, std::nullopt);
    sample_.id = "sample-000000";
  }
  void add(const std::string& name, const Tensor& tensor, Role role, std::optional<DType> storage) {
    if (info_.find(name) != nullptr) return;
    TensorInfo tensor_info;
    tensor_info.name = name;
    tensor_info.dtype = tensor.dtype;
    tensor_info.role = role;
    if (is_float(tensor.dtype)) tensor_info.storage_type = storage;
    info_.tensors.push_back(std::move(tensor_info));
    sample_.tensors.emplace_back(name, tensor);
  }
  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return 1; }
  Result<Sample> sample(uint64_t) override { return sample_; }

 private:
  std::string subject_;
  RunInfo info_;
  Sample sample_;
};

std::optional<DType> storage_of(const BenchSubject& subject, const std::string& output) {
  for (const BenchStage& stage : subject.stages)
    for (const auto& [port, tensor] : stage.outputs)
      if (tensor == output) return stage.target.capabilities.storage_type;
  return std::nullopt;
}

// What the reference makes of the same inputs; nothing when there is none.
Result<NamedTensors> reference_outputs(const BenchRequest& request, const BenchSubject& subject, const Path& folder) {
  if (subject.reference_model.empty() || !request.with_reference) return subject.reference_outputs;
  PARITAS_ASSIGN(const auto given, onnx_model::Model::load(subject.reference_model));
  std::vector<std::string> pinned;
  PARITAS_ASSIGN(const auto model, pin_to_inputs(given, subject.inputs, request.dims, &pinned));
  PARITAS_ASSIGN(Runner runner, Runner::start_in(folder, "reference", request.reference, request.worker));
  PARITAS_ASSIGN(Session session, runner.open(model));
  PARITAS_ASSIGN(RunReply reply, session.run(subject.inputs));
  return std::move(reply.outputs);
}

Status record_sample(const Path& folder, const BenchSubject& subject, const NamedTensors& outputs) {
  PARITAS_ASSIGN(RecordingWriter writer, RecordingWriter::create(folder, /*overwrite=*/false));
  NamedTensors tensors = subject.inputs;
  tensors.insert(tensors.end(), outputs.begin(), outputs.end());
  PARITAS_TRY(writer.add_sample(tensors));
  RunInfo info;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TensorInfo tensor;
    tensor.name = tensors[i].first;
    tensor.dtype = tensors[i].second.dtype;
    tensor.role = i < subject.inputs.size() ? Role::kInput : Role::kOutput;
    info.tensors.push_back(std::move(tensor));
  }
  return writer.finish(info);
}

// As verify judges the chain, but for the tensors between the parts, which timing does not bring back.
Result<BenchJudgement> judge_package(const BenchRequest& request, const BenchSubject& subject,
                                     const NamedTensors& expected, const NamedTensors& outputs, const Path& folder) {
  BenchJudgement judged;
  JudgeRequest judge;
  judge.subject = subject.name;
  judge.declared = *subject.declared;
  judge.gates = gates_for(request, subject);
  TypedNames typed;
  for (const auto& [name, tensor] : expected) typed.emplace_back(name, tensor.dtype);
  std::vector<std::string> left_out;
  restrict_to(typed, judge.declared, judge.gates, left_out);
  for (const std::string& text : left_out) judged.notes.push_back("not judged here: " + text);
  judge.reference = folder / "reference";
  judge.device = folder / "timed";
  PARITAS_TRY(record_sample(judge.reference, subject, expected));
  PARITAS_TRY(record_sample(judge.device, subject, outputs));
  judge.threads = request.threads;
  judge.scratch = folder;
  PARITAS_ASSIGN(CheckResult checked, judge_recordings(judge));
  judged.verdict = checked.verdict;
  judged.reasons = std::move(checked.reasons);
  judged.comparison = std::move(checked.comparison);
  return judged;
}

}  // namespace

const GateSet& gates_for(const BenchRequest& request, const BenchSubject& subject) {
  return request.gates.empty() && subject.gates ? *subject.gates : request.gates;
}

Result<BenchJudgement> judge_outputs(const BenchRequest& request, const BenchSubject& subject,
                                     const NamedTensors& outputs, const Path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return runtime_error(folder.string(), fmt::format("cannot be created: {}", code.message()));
  PARITAS_ASSIGN(const NamedTensors expected, reference_outputs(request, subject, folder));
  BenchJudgement judged;
  if (expected.empty()) {
    judged.reasons = {"there is no reference to hold the outputs against"};
    return judged;
  }
  if (subject.declared) return judge_package(request, subject, expected, outputs, folder);
  OneSample reference(request.reference.spec.text, subject.inputs);
  OneSample device(subject.name, subject.inputs);
  for (const auto& [name, tensor] : expected) reference.add(name, tensor, Role::kOutput, std::nullopt);
  for (const auto& [name, tensor] : outputs) device.add(name, tensor, Role::kOutput, storage_of(subject, name));
  CompareOptions options;
  options.gates = gates_for(request, subject);
  options.roles = subject.roles;
  options.threads = request.threads;
  PARITAS_ASSIGN(CompareResult compared, compare_streams(reference, device, options));
  judged.verdict = compared.verdict;
  judged.reasons = compared.reasons;
  judged.comparison = std::move(compared);
  return judged;
}

}  // namespace paritas
