#include "paritas/locate/samples.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/locate/explain.h"
#include "paritas/locate/reduce_samples.h"
#include "paritas/locate/sample_state.h"

namespace paritas {
namespace {

using Clock = std::chrono::steady_clock;

// Sessions that each worker keeps: the graphs of one diagnosis, in a few parts each when --memory splits them.
constexpr size_t kKeptSessions = 12;
// When so many samples in a row fail alike, and none was diagnosed, it is not the samples that are wrong.
constexpr int kAlikeFailures = 5;
constexpr size_t kMostNamedSamples = 64;

void add_weight_files(const onnx_model::Model& model, const ::onnx::GraphProto& graph, std::set<Path>& files) {
  const auto add = [&](const ::onnx::TensorProto& weights) {
    const auto tensor = model.tensor(weights);
    if (tensor && tensor->bytes.file() && tensor->bytes.file()->path() != model.path())
      files.insert(tensor->bytes.file()->path());
  };
  for (const auto& initializer : graph.initializer()) add(initializer);
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) add(attribute.t());
      for (const auto& weights : attribute.tensors()) add(weights);
      if (attribute.has_g()) add_weight_files(model, attribute.g(), files);
      for (const auto& body : attribute.graphs()) add_weight_files(model, body, files);
    }
}

}  // namespace

Result<std::string> sha256_of_model(const onnx_model::Model& model) {
  PARITAS_ASSIGN(std::string hash, sha256_of_file(model.path()));
  const std::string loaded = model.proto().SerializeAsString();
  hash += " " + sha256_hex(std::as_bytes(std::span(loaded)));
  std::set<Path> files;
  add_weight_files(model, model.graph(), files);
  for (const Path& file : files) {
    PARITAS_ASSIGN(const std::string weights, sha256_of_file(file));
    hash += " " + weights;
  }
  return hash;
}

Result<Json> subject_of(const Target& target) {
  Json json = {{"text", target.spec.text},
               {"provider", target.provider},
               {"provider_options", target.provider_options},
               {"session_entries", target.session_entries},
               {"threads", target.threads},
               {"optimisation", target.optimisation}};
  if (!target.provider_library.empty()) {
    PARITAS_ASSIGN(const std::string hash, sha256_of_file(target.provider_library));
    json["library_sha256"] = hash;
  }
  return json;
}

namespace {

class Diagnosing {
 public:
  Diagnosing(const SamplesRequest& request, const SampleState& state, std::string model_sha256)
      : request_(request), state_(state), model_sha256_(std::move(model_sha256)) {
    base_ = request.base;
    if (!base_.injection_seconds && !base_.injection_runs) base_.injection_runs = kInjectionRunsPerSample;
    failures_.resize(request.samples->count());
    inputs_sha256_.resize(request.samples->count());
  }

  Result<SamplesResult> run() {
    const auto start = Clock::now();
    PARITAS_ASSIGN(const auto missing, find_missing());
    taken_over_ = request_.samples->count() - missing.size() - unreadable_;
    for (const uint64_t i : missing) PARITAS_TRY(diagnose(i));
    count_sessions();
    runners_.reset();
    PARITAS_ASSIGN(SamplesResult result, reduce());
    PARITAS_TRY(search(result));
    result.run_now = run_now_;
    result.taken_over = taken_over_;
    result.device_sessions = device_sessions_;
    result.reference_sessions = reference_sessions_;
    result.seconds_total = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
  }

 private:
  // Every sample that is there already is checked before anything runs.
  Result<std::vector<uint64_t>> find_missing() {
    std::vector<uint64_t> missing;
    for (uint64_t i = 0; i < request_.samples->count(); ++i) {
      auto inputs = request_.samples->inputs(i);
      auto hash = inputs ? sha256_of_inputs(*inputs) : Result<std::string>(tl::make_unexpected(inputs.error()));
      if (!hash) {
        if (hash.error().kind == ErrorKind::kUsage) return tl::make_unexpected(std::move(hash).error());
        failures_[i] = std::move(hash).error();
        ++unreadable_;
        continue;
      }
      inputs_sha256_[i] = std::move(*hash);
      PARITAS_TRY(refuse_other_shapes(i, *inputs));
      PARITAS_ASSIGN(const bool done, state_.has(request_.samples->id(i), inputs_sha256_[i]));
      if (!done) missing.push_back(i);
    }
    return missing;
  }

  // One hybrid runs every sample, so that all must fit one pinned model.
  Status refuse_other_shapes(uint64_t i, const NamedTensors& inputs) {
    if (!request_.search) return {};
    std::map<std::string, std::string> shapes;
    for (const auto& [name, tensor] : inputs)
      shapes[name] = fmt::format("{} {}", paritas::name(tensor.dtype), to_string(tensor.shape));
    if (shapes_.empty()) {
      shapes_ = std::move(shapes);
      shapes_of_ = request_.samples->id(i);
      return {};
    }
    for (const auto& [name, shape] : shapes)
      if (const auto first = shapes_.find(name); first != shapes_.end() && first->second != shape)
        return usage_error("--search",
                           fmt::format("\"{}\" is {} in {} and {} in {}: one set of islands is run on all samples",
                                       name, first->second, shapes_of_, shape, request_.samples->id(i)),
                           "search samples of one shape at a time (--samples)");
    return {};
  }

  // Begins at the worst sample, whose causes say what to try first. Workers of its own: sessions that were kept for the
  // diagnosis would only take memory.
  Status search(SamplesResult& result) {
    if (!request_.search) return {};
    LocateRequest one = base_;
    one.cuts = {};
    one.search = request_.search;
    one.search->sample = result.worst_sample;
    one.search->further_samples.clear();
    for (uint64_t i = 0; i < request_.samples->count(); ++i) {
      const std::string id = request_.samples->id(i);
      if (failures_[i]) {
        result.notes.push_back(
            fmt::format("no search was made: {} could not be diagnosed, and a set must do for every sample", id));
        return {};
      }
      PARITAS_ASSIGN(NamedTensors inputs, request_.samples->inputs(i));
      if (id == result.worst_sample)
        one.inputs = std::move(inputs);
      else
        one.search->further_samples.emplace_back(id, std::move(inputs));
    }
    auto found = search_with(one);
    if (!found) {  // what was found out about the samples stays
      result.notes.push_back("the search failed: " + found.error().message());
      return {};
    }
    if (!found->not_searched.empty()) result.notes.push_back(found->not_searched);
    if (!found->search) return {};
    result.search = std::move(found->search);
    explain_search(result);
    return {};
  }

  Result<LocateResult> search_with(const LocateRequest& one) {
    PARITAS_ASSIGN(LocateRunners started, start_runners(one));
    runners_.emplace(std::move(started));
    auto found = locate_with(*runners_, one);
    count_sessions();
    runners_.reset();
    PARITAS_TRY(refuse_other_model());
    return found;
  }

  static void explain_search(SamplesResult& result) {
    LocateResult of_search;
    of_search.device = result.device;
    paritas::explain_search(*result.search, of_search);
    for (Finding& finding : of_search.findings) {
      FindingOverSamples f;
      f.finding = std::move(finding);
      f.holds = result.samples.size();
      for (const SampleOutcome& sample : result.samples)
        if (f.samples.size() < kMostNamedSamples) f.samples.push_back(sample.id);
      f.told_from = result.worst_sample;
      f.in_worst = f.in_median = true;
      result.findings.push_back(std::move(f));
    }
  }

  // A fault of the request ends everything, one of the sample is kept.
  Status diagnose(uint64_t i) {
    const std::string id = request_.samples->id(i);
    auto record = run_sample(i, id);
    if (record) {
      ++run_now_;
      return state_.store(*record, inputs_sha256_[i]);
    }
    if (record.error().kind == ErrorKind::kUsage) return tl::make_unexpected(std::move(record).error());
    failures_[i] = std::move(record).error();
    alike_failures_ = failures_[i]->message() == last_failure_ ? alike_failures_ + 1 : 1;
    last_failure_ = failures_[i]->message();
    if (run_now_ == 0 && taken_over_ == 0 && alike_failures_ == kAlikeFailures)
      return tl::make_unexpected(*failures_[i]);
    // Whoever failed may not be fit for the next sample.
    count_sessions();
    runners_.reset();
    return {};
  }

  Result<SampleRecord> run_sample(uint64_t i, const std::string& id) {
    LocateRequest one = base_;
    PARITAS_ASSIGN(one.inputs, request_.samples->inputs(i));
    const auto progress = request_.base.progress;
    if (progress)
      one.progress = [&](const std::string& stage) {
        progress(fmt::format("sample {} of {}: {}", i + 1, request_.samples->count(), stage));
      };
    if (runners_ && !refuse_crippled()) {  // one ended after the last sample
      count_sessions();
      runners_.reset();
    }
    if (!runners_) {
      PARITAS_ASSIGN(LocateRunners started, start_runners(one));
      runners_.emplace(std::move(started));
      for (Runner* runner : {&runners_->reference, &runners_->device, &runners_->probes})
        runner->keep_sessions(kKeptSessions);
    }
    PARITAS_ASSIGN(const LocateResult result, locate_with(*runners_, one));
    // Cuts have workers of their own.
    if (result.cross_matrices) device_sessions_ += static_cast<int>(result.cross_matrices->sessions);
    PARITAS_TRY(refuse_crippled());
    PARITAS_TRY(refuse_other_model());
    return record_of(result, id);
  }

  // A single diagnosis keeps what was measured before a worker died. Here it would stand beside whole ones.
  Status refuse_crippled() {
    for (Runner* runner : {&runners_->reference, &runners_->device, &runners_->probes})
      if (const auto died = runner->worker().died())
        return runtime_error(died->subject, "a worker died while this sample was diagnosed: " + died->cause,
                             "run the command again");
    return {};
  }

  // The file is loaded anew for every sample: all must be of one model.
  Status refuse_other_model() const {
    PARITAS_ASSIGN(const auto model, onnx_model::Model::load(base_.model));
    PARITAS_ASSIGN(const std::string now, sha256_of_model(model));
    if (now == model_sha256_) return {};
    return usage_error(base_.model.string(), "was changed while samples were diagnosed",
                       "diagnose all of them again, with a state folder of its own");
  }

  void count_sessions() {
    if (!runners_) return;
    device_sessions_ += runners_->device.sessions_opened() + runners_->probes.sessions_opened();
    reference_sessions_ += runners_->reference.sessions_opened();
  }

  // From what is written alone: a run that was interrupted, and went on, comes to the same.
  Result<SamplesResult> reduce() {
    SamplesReducer reducer(request_.samples->count());
    const Error* first = nullptr;
    uint64_t diagnosed = 0;
    for (uint64_t i = 0; i < request_.samples->count(); ++i) {
      const std::string id = request_.samples->id(i);
      if (failures_[i]) {
        if (first == nullptr) first = &*failures_[i];
        reducer.add_failure(i, id, *failures_[i]);
        continue;
      }
      PARITAS_ASSIGN(const auto record, state_.load(id, inputs_sha256_[i]));
      if (!record)
        return runtime_error(id, "what was written of it is gone", "leave the folder of the state alone while it runs");
      reducer.add(i, *record);
      ++diagnosed;
    }
    if (diagnosed == 0 && first != nullptr) return tl::make_unexpected(*first);
    SamplesResult result = reducer.finish();
    result.model = request_.base.model.string();
    result.reference = request_.base.reference.spec.text;
    result.device = request_.base.device.spec.text;
    for (const Gate& gate : request_.base.gates.gates) result.gate_texts.push_back(gate.text());
    result.gates_sha256 = request_.base.gates.sha256;
    std::string hashes;
    for (const std::string& hash : inputs_sha256_) hashes += hash + "\n";
    result.inputs_sha256 = sha256_hex(std::as_bytes(std::span(hashes)));
    return result;
  }

  const SamplesRequest& request_;
  const SampleState& state_;
  std::string model_sha256_;
  LocateRequest base_;
  std::optional<LocateRunners> runners_;
  std::vector<std::optional<Error>> failures_;
  std::vector<std::string> inputs_sha256_;
  std::map<std::string, std::string> shapes_;  // of the first sample's inputs, when there is a search
  std::string shapes_of_;
  uint64_t run_now_ = 0, taken_over_ = 0, unreadable_ = 0;
  int alike_failures_ = 0;  // up to the last sample
  std::string last_failure_;
  int device_sessions_ = 0, reference_sessions_ = 0;
};

}  // namespace

Result<Json> subject_of(const LocateRequest& request) {
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request.model));
  PARITAS_ASSIGN(const std::string model_sha256, sha256_of_model(model));
  PARITAS_ASSIGN(const std::string runtime, sha256_of_file(request.worker.onnxruntime));
  PARITAS_ASSIGN(const Json reference, subject_of(request.reference));
  PARITAS_ASSIGN(const Json device, subject_of(request.device));
  std::vector<std::string> gates;
  for (const Gate& gate : request.gates.gates) gates.push_back(gate.text());
  const std::string injection = request.injection_seconds
                                    ? fmt::format("{} s", *request.injection_seconds)
                                    : fmt::format("{} runs", request.injection_runs.value_or(kInjectionRunsPerSample));
  std::vector<std::string> cuts;
  for (const auto& cut : request.cuts.given)
    cuts.push_back(fmt::format("{}={}", cut.name, fmt::join(cut.patterns, ",")));
  if (request.cuts.file) {
    PARITAS_ASSIGN(cuts.emplace_back(), sha256_of_file(*request.cuts.file));
  }
  if (request.cuts.only) cuts.push_back("--only-cuts");
  // Not --timeout: a worker that ran out of it is dead, and then no record is made of the sample (refuse_crippled).
  // What is recorded was computed in time, under any limit.
  return Json{{"tool version", request.tool_version},
              {"model", model_sha256},
              {"reference", reference},
              {"device", device},
              {"ONNX Runtime", runtime},
              {"gates", gates},
              {"gates file", request.gates.sha256},
              {"--dim", request.dims},
              {"--memory", request.memory_budget},
              {"--islands", request.islands.text()},
              {"--marks", request.marks_per_session},
              {"--injection", injection},
              {"cuts", cuts}};
}

// What is made on one sample at a time.
Status refuse_for_one_sample(const LocateRequest& base) {
  if (base.cuts.automatic > 0)
    return usage_error("--auto-cuts", "cuts are proposed on one sample",
                       "write them with --save-cuts on one sample (--samples 0:1), and give that file with --cuts");
  if (!base.groups.empty() || base.probe_checks || base.consistency || base.inject_largest || base.few_marks)
    return usage_error(
        "locate", "groups, probe checks and self-consistency (--full) are made on one sample",
        "leave them away here, and ask for them on the sample that is named as the worst (--samples N:N+1)");
  return {};
}

Result<SamplesResult> locate_samples(const SamplesRequest& request) {
  if (request.samples == nullptr || request.samples->count() == 0)
    return usage_error("--input", "there is no sample", "give each input, or name a recording with --inputs");
  const LocateRequest& base = request.base;
  PARITAS_TRY(refuse_for_one_sample(base));
  LocateRequest searched = base;
  searched.search = request.search;
  PARITAS_TRY(check_search(searched));
  std::optional<ScratchFolder> scratch;
  if (!request.state) {
    PARITAS_ASSIGN(ScratchFolder created, ScratchFolder::create(base.scratch_root));
    scratch.emplace(std::move(created));
  }
  PARITAS_ASSIGN(const Json subject, subject_of(base));
  PARITAS_ASSIGN(const SampleState state,
                 SampleState::open(request.state ? *request.state : scratch->path() / "samples", subject));
  return Diagnosing(request, state, subject["model"].get<std::string>()).run();
}

}  // namespace paritas
