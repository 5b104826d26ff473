#include "paritas/monitor/monitor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/locate/probe_checks.h"
#include "paritas/locate/sample_state.h"
#include "paritas/locate/samples.h"
#include "paritas/monitor/judge_monitor.h"
#include "paritas/monitor/measure.h"
#include "paritas/monitor/reduce.h"
#include "paritas/monitor/sample_files.h"
#include "paritas/package/record_package.h"
#include "paritas/project/model_facts.h"
#include "paritas/project/task_checks.h"
#include "paritas/tflite/model.h"

namespace paritas {
namespace {

using Clock = std::chrono::steady_clock;

// When so many samples fail one behind the other, and none came through, it is not the samples that are wrong.
constexpr int kAlikeFailures = 5;

struct PlannedModel {
  Target target;
  Path model;
  std::string sha256;
  Feed feed = Feed::kDeclared;
};

std::string_view text_of(Feed feed) {
  return feed == Feed::kFloat ? "float" : feed == Feed::kDequantised ? "dequantised" : "declared";
}

// By module path, which converters write with slashes (ONNX) or dots (TFLite).
std::string block_of(const TensorInfo& info) {
  if (info.node.find('/') != std::string::npos) return module_path(info.node);
  if (info.name.find('/') != std::string::npos) return module_path(info.name);
  const size_t dot = info.name.rfind('.');
  return dot == std::string::npos ? std::string() : info.name.substr(0, dot);
}

Result<std::string> hash_of_model(const Path& path) {
  if (tflite::is_tflite(path)) return sha256_of_file(path);
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  return sha256_of_model(model);
}

class Monitoring {
 public:
  Monitoring(const MonitorRequest& request, const Path& scratch) : request_(request), scratch_(scratch) {}

  Result<MonitorResult> run() {
    const auto start = Clock::now();
    PARITAS_TRY(plan());
    PARITAS_ASSIGN(count_, count_samples(project_));
    PARITAS_TRY(read_all_labels());
    PARITAS_ASSIGN(FedSample first, feed(0));
    PARITAS_TRY(start_sides(first));
    PARITAS_TRY(pair());
    PARITAS_ASSIGN(const Json subject, subject_of_state());
    const Path folder = request_.resume ? *request_.resume : scratch_ / "state";
    PARITAS_ASSIGN(const SampleState state, SampleState::open(folder, subject));
    for (uint64_t i = 0; i < count_; ++i) PARITAS_TRY(take(i, state));
    PARITAS_TRY(refuse_other_models());
    PARITAS_TRY(conclude(state));
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result_);
  }

 private:
  Status plan() {
    PARITAS_ASSIGN(project_, load_project(request_.project));
    files_ = {project_.subject, request_.project.parent_path(), request_.allow_outside};
    if (!project_.declares_inputs())
      return usage_error(project_.subject, "declares no inputs, and monitor runs both models itself",
                         "declare [inputs.NAME] with \"images\" or \"files\"");
    for (const ProjectTask& task : project_.tasks)
      if (!std::holds_alternative<ClassificationSpec>(task.spec))
        return usage_error(project_.subject,
                           fmt::format("the task \"{}\" is no classification, and monitor judges no other", task.name),
                           "paritas check carries it out; monitor a project file without it");
    PARITAS_ASSIGN(result_.notes, check_task_gates(project_.gates, project_.tasks));
    PARITAS_ASSIGN(profile_, load_gates(GateSources{std::nullopt, {"monitor"}, {}}));
    PARITAS_TRY(plan_side("reference", project_.reference, project_.model.reference, reference_));
    PARITAS_TRY(plan_side("device", project_.device, project_.model.device, device_));
    for (const ProjectInput& input : project_.inputs)
      for (const std::string& file : input.files) PARITAS_TRY(files_.resolve(file));
    PARITAS_TRY(take_samples(request_, project_));
    // What the command line names may lie anywhere; what the project names was looked at above.
    if (request_.folder || request_.list) files_.allow_outside = true;
    if (!project_.further.empty() || !project_.steps.empty())
      result_.notes.push_back("further sides and steps of the project are not part of monitoring: paritas check");
    worker_ = request_.worker;
    if (reference_.target.runtime == RuntimeKind::kOnnxRuntime || device_.target.runtime == RuntimeKind::kOnnxRuntime) {
      PARITAS_ASSIGN(const OrtLibrary library, find_onnxruntime(request_.search));
      worker_.onnxruntime = library.path;
    }
    return {};
  }

  Status plan_side(const char* which, const ProjectSide& side, const std::string& model, PlannedModel& planned) {
    if (side.recording || side.target.empty() || package_of_target(side.target))
      return usage_error(fmt::format("{}, [targets]", project_.subject),
                         fmt::format("the {} is no target that runs a model", which),
                         "monitor runs both sides; paritas compare takes recordings, paritas check packages");
    PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(side.target));
    PARITAS_ASSIGN(planned.target, resolve_target(spec, request_.search));
    PARITAS_ASSIGN(planned.model, files_.resolve(model));
    PARITAS_ASSIGN(planned.sha256, hash_of_model(planned.model));
    PARITAS_ASSIGN(planned.feed, choose_feed(planned.model));
    return {};
  }

  // A float network beside a quantised one is fed with the values that became the codes.
  Result<Feed> choose_feed(const Path& model) const {
    PARITAS_ASSIGN(const ModelNames names, names_of_model(model));
    for (const ProjectInput& input : project_.inputs)
      for (const NamedPort& port : names.inputs) {
        const bool quantised = input.source == InputSource::kImages && input.steps &&
                               (input.steps->quantisation || input.steps->dtype == DType::kU8);
        const bool codes = input.source == InputSource::kFiles && input.quantisation.has_value();
        if (port.name != input.name || !port.dtype || !is_float(*port.dtype) || (!quantised && !codes)) continue;
        return quantised && input.steps->quantisation ? Feed::kFloat : Feed::kDequantised;
      }
    return Feed::kDeclared;
  }

  Status read_all_labels() {
    for (const ProjectTask& task : project_.tasks) {
      auto& labels = labels_.emplace_back();
      if (task.labels.empty()) continue;
      const ProjectFiles declared{files_.subject, files_.folder, request_.allow_outside};
      PARITAS_ASSIGN(const Path path, declared.resolve(task.labels));
      PARITAS_ASSIGN(labels, read_labels(path));
      if (labels.size() != count_)
        return input_error(path.string(), fmt::format("holds {} labels for {} samples", labels.size(), count_),
                           "give a label a sample, in the order of the samples (sorted names of a folder)");
    }
    return {};
  }

  Result<FedSample> feed(uint64_t i) const {
    return feed_sample(project_, files_, i, reference_.feed, device_.feed, scratch_ / "inputs");
  }

  Status start_sides(const FedSample& first) {
    ++started_;
    const auto request = [&](const char* role, const PlannedModel& side, const NamedTensors& inputs) {
      SideRequest made;
      made.role = fmt::format("{}-{}", role, started_);
      made.model = side.model;
      made.target = side.target;
      made.marks = request_.marks;
      made.dims = project_.model.dims;
      made.first = inputs;
      made.worker = worker_;
      made.scratch = scratch_;
      made.memory_budget = request_.memory_budget;
      return made;
    };
    PARITAS_ASSIGN(reference_side_, start_side(request("reference", reference_, first.reference)));
    PARITAS_ASSIGN(device_side_, start_side(request("device", device_, first.device)));
    return {};
  }

  Status pair() {
    PairingRules rules = project_.pairing;
    rules.normalised |= request_.pairing.normalised;
    for (const auto& [reference, device] : request_.pairing.aliases) rules.aliases[reference] = device;
    const auto names = [](const MonitorSide& side) {
      return LayerNames{side.tensors(), side.twins(), side.activations()};
    };
    PARITAS_ASSIGN(pairing_, pair_layers(names(*reference_side_), names(*device_side_), rules,
                                         reference_.model.string(), device_.model.string()));
    std::vector<GateSubject> subjects;
    for (const LayerPair& pair : pairing_.pairs) {
      const TensorInfo* info = reference_side_->info().find(pair.reference);
      subjects.emplace_back(pair.reference, info->role, declared_role(project_, pair.reference), info->dtype);
      MonitoredLayer layer;
      layer.name = pair.reference;
      layer.device_name = pair.device;
      layer.pairing = pair.rule;
      layer.node = info->node;
      layer.op = info->op;
      layer.role = info->role;
      layer.block = block_of(*info);
      result_.layers.push_back(std::move(layer));
      ++result_.pairing_rules[pair.rule];
    }
    // Outputs without a counterpart are judged as missing, so a gate may name them.
    for (const std::string& name : pairing_.unmatched_reference)
      if (const TensorInfo* info = reference_side_->info().find(name); info->role == Role::kOutput)
        subjects.emplace_back(name, info->role, declared_role(project_, name), info->dtype);
    for (const std::string& name : pairing_.unmatched_reference)
      if (reference_side_->info().find(name)->role == Role::kOutput) outputs_without_pair_.reference.push_back(name);
    for (const std::string& name : pairing_.unmatched_device)
      if (device_side_->info().find(name)->role == Role::kOutput) outputs_without_pair_.device.push_back(name);
    result_.decisions = reference_side_->decisions();
    PARITAS_ASSIGN(const auto notes, check_gates_match(project_.gates, subjects));
    result_.notes.insert(result_.notes.end(), notes.begin(), notes.end());
    return {};
  }

  Result<Json> subject_of_side(const PlannedModel& side) const {
    PARITAS_ASSIGN(Json json, subject_of(side.target));
    json["model"] = side.sha256;
    json["kernels"] = side.target.kernels;
    json["xnnpack"] = side.target.xnnpack;
    json["feed"] = text_of(side.feed);
    if (!side.target.runtime_library.empty()) {
      PARITAS_ASSIGN(json["runtime"], sha256_of_file(side.target.runtime_library));
    }
    return json;
  }

  // Everything that a sample's figures depend on besides its inputs. Keys are words for the user.
  Result<Json> subject_of_state() const {
    PARITAS_ASSIGN(const Json reference, subject_of_side(reference_));
    PARITAS_ASSIGN(const Json device, subject_of_side(device_));
    std::string runtime;
    if (!worker_.onnxruntime.empty()) {
      PARITAS_ASSIGN(runtime, sha256_of_file(worker_.onnxruntime));
    }
    Json pairs = Json::array(), labels = Json::array();
    for (const LayerPair& pair : pairing_.pairs) pairs.push_back({pair.reference, pair.device, pair.rule});
    for (const auto& each : labels_) labels.push_back(each);
    return Json{{"command", "monitor"},
                {"tool version", request_.tool_version},
                {"reference", reference},
                {"device", device},
                {"ONNX Runtime", runtime},
                {"project file", project_.sha256},
                {"labels", labels},
                {"--marks", request_.marks},
                {"--memory", request_.memory_budget},
                {"layers", pairs}};
  }

  std::string id_of(uint64_t i) const { return fmt::format("sample-{:06}", i); }

  void show_progress(uint64_t i) {
    if (!request_.progress) return;
    std::string left;
    if (result_.run_now > 0) {
      const double each =
          std::chrono::duration<double>(Clock::now() - first_run_).count() / static_cast<double>(result_.run_now);
      left = fmt::format(", about {:.0f} s left", each * static_cast<double>(count_ - i));
    }
    request_.progress(fmt::format("sample {} of {}{}", i + 1, count_, left));
  }

  // A fault of the request ends everything, one of the sample is kept.
  Status take(uint64_t i, const SampleState& state) {
    show_progress(i);
    hashes_.emplace_back();
    auto fed = feed(i);
    if (!fed) return fail(i, fed.error());
    hashes_.back() = fed->sha256;
    PARITAS_ASSIGN(const auto done, state.load_json(id_of(i), fed->sha256));
    if (done) {
      ++result_.taken_over;
      return {};
    }
    if (result_.run_now == 0) first_run_ = Clock::now();
    const auto record = run_sample(i, *fed);
    if (!record) return fail(i, record.error());
    ++result_.run_now;
    return state.store_json(id_of(i), to_json(*record), fed->sha256);
  }

  Status fail(uint64_t i, const Error& error) {
    if (error.kind == ErrorKind::kUsage) return tl::make_unexpected(error);
    result_.failed.emplace_back(id_of(i), error.message());
    if (result_.run_now + result_.taken_over == 0 && result_.failed.size() == kAlikeFailures)
      return tl::make_unexpected(error);
    if (count_ == 1) return tl::make_unexpected(error);
    // Whoever failed may not be fit for the next sample.
    device_side_.reset();
    reference_side_.reset();
    return {};
  }

  Result<MonitorRecord> run_sample(uint64_t i, const FedSample& fed) {
    if (!reference_side_ || !device_side_) PARITAS_TRY(start_sides(fed));
    PARITAS_ASSIGN(const NamedTensors reference, reference_side_->run(fed.reference));
    PARITAS_ASSIGN(const NamedTensors device, device_side_->run(fed.device));
    MonitorRecord record;
    record.id = id_of(i);
    record.file = fed.file;
    const MeasureContext context{&pairing_.pairs,
                                 reference_side_.get(),
                                 device_side_.get(),
                                 &project_.gates,
                                 &profile_,
                                 &project_,
                                 device_.target.capabilities.storage_type,
                                 request_.threads};
    PARITAS_ASSIGN(record.layers, measure_layers(context, reference, device));
    for (const auto& [name, tensor] : fed.reference) {
      PARITAS_ASSIGN(record.inputs.emplace_back(), measure_input(name, declared_input(name), tensor));
    }
    PARITAS_TRY(run_tasks(i, reference, device, record));
    return record;
  }

  const ProjectInput* declared_input(const std::string& name) const {
    for (const ProjectInput& input : project_.inputs)
      if (input.name == name) return &input;
    return nullptr;
  }

  // Tasks name outputs as the reference does.
  Status run_tasks(uint64_t i, const NamedTensors& reference, const NamedTensors& device, MonitorRecord& record) const {
    std::map<std::string, std::string> renamed;
    for (const LayerPair& pair : pairing_.pairs) renamed[pair.device] = pair.reference;
    Sample x{id_of(i), reference}, y{id_of(i), {}};
    RunInfo of_device = device_side_->info();
    of_device.tensors.clear();
    for (const auto& [name, tensor] : device) {
      const auto it = renamed.find(name);
      if (it == renamed.end()) continue;
      y.tensors.emplace_back(it->second, tensor);
      of_device.tensors.push_back(*device_side_->info().find(name));
      of_device.tensors.back().name = it->second;
    }
    for (size_t t = 0; t < project_.tasks.size(); ++t) {
      std::span<const int64_t> labels = labels_[t];
      if (!labels.empty()) labels = labels.subspan(i, 1);
      PARITAS_ASSIGN(record.tasks.emplace_back(), classify_sample(std::get<ClassificationSpec>(project_.tasks[t].spec),
                                                                  x, reference_side_->info(), y, of_device, labels));
    }
    return {};
  }

  Status refuse_other_models() const {
    for (const PlannedModel* side : {&reference_, &device_}) {
      PARITAS_ASSIGN(const std::string now, hash_of_model(side->model));
      if (now != side->sha256)
        return usage_error(side->model.string(), "was changed while samples were run",
                           "monitor all of them again, with a state folder of its own");
    }
    return {};
  }

  // From what is written alone: a run that was interrupted, and went on, comes to the same.
  Status conclude(const SampleState& state) {
    std::set<std::string> failed;
    for (const auto& [id, why] : result_.failed) failed.insert(id);
    std::vector<MonitorRecord> records;
    for (uint64_t i = 0; i < count_; ++i) {
      const std::string id = id_of(i);
      if (failed.count(id) != 0) continue;
      PARITAS_ASSIGN(const auto json, state.load_json(id, hashes_[i]));
      if (!json)
        return runtime_error(id, "what was written of it is gone", "leave the state folder alone while monitor runs");
      PARITAS_ASSIGN(auto record, monitor_record_from_json(*json, id));
      if (record.id != id || record.layers.size() != pairing_.pairs.size() ||
          record.tasks.size() != project_.tasks.size())
        return input_error(id, "what was written of it does not fit these models", "delete it to run it again");
      records.push_back(std::move(record));
    }
    describe_result();
    reduce(records, result_);
    judge_normalisation(project_, reference_.feed, result_);
    return judge_monitor(project_, records, outputs_without_pair_, result_);
  }

  void describe_result() {
    result_.project = request_.project.string();
    result_.project_sha256 = project_.sha256;
    result_.gates_sha256 = project_.gates.sha256;
    result_.reference = reference_.target.spec.text;
    result_.device = device_.target.spec.text;
    result_.reference_model = reference_.model.string();
    result_.device_model = device_.model.string();
    result_.reference_feed = text_of(reference_.feed);
    result_.device_feed = text_of(device_.feed);
    result_.samples = count_;
    result_.paired_layers = pairing_.pairs.size();
    result_.reference_layers = pairing_.pairs.size() + pairing_.unmatched_reference.size();
    result_.unmatched_reference = pairing_.unmatched_reference;
    result_.unmatched_device = pairing_.unmatched_device;
    for (const ProjectInput& input : project_.inputs)
      if (input.source != InputSource::kNone) {
        InputCoverage coverage;
        coverage.input = input.name;
        if (input.steps) coverage.channel_axis = input.steps->layout == Layout::kNchw ? "NCHW" : "NHWC";
        result_.coverage.inputs.push_back(std::move(coverage));
      }
  }

  const MonitorRequest& request_;
  const Path& scratch_;
  Project project_;
  ProjectFiles files_;
  GateSet profile_;
  WorkerOptions worker_;
  PlannedModel reference_, device_;
  std::unique_ptr<MonitorSide> reference_side_, device_side_;
  LayerPairing pairing_;
  UnpairedOutputs outputs_without_pair_;
  std::vector<std::vector<int64_t>> labels_;  // by task
  std::vector<std::string> hashes_;           // of what samples are fed
  uint64_t count_ = 0;
  int started_ = 0;
  Clock::time_point first_run_;
  MonitorResult result_;
};

}  // namespace

Result<MonitorResult> monitor(const MonitorRequest& request) {
  PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  return Monitoring(request, scratch.path()).run();
}

}  // namespace paritas
