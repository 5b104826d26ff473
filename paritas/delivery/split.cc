#include "paritas/delivery/split.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/sha256.h"
#include "paritas/compare/compare.h"
#include "paritas/delivery/environment.h"
#include "paritas/delivery/premise.h"
#include "paritas/delivery/verify.h"
#include "paritas/judge/gates_write.h"
#include "paritas/package/package.h"
#include "paritas/package/portable_target.h"
#include "paritas/project/read_parts.h"
#include "paritas/project/task_checks.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/record.h"
#include "paritas/runtime/run_info.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;
using onnx_model::GraphIndex;
using onnx_model::Model;

class Splitter {
 public:
  explicit Splitter(const SplitRequest& request) : request_(request) {}

  Result<SplitResult> run() {
    const auto start = std::chrono::steady_clock::now();
    result_.model = request_.model.string();
    PARITAS_ASSIGN(result_.model_sha256, sha256_of_file(request_.model));
    PARITAS_ASSIGN(given_, load());
    PARITAS_TRY(check_contract());
    PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    scratch_ = scratch.path();
    PARITAS_ASSIGN(const bool chosen, choose_cuts());
    if (chosen) {
      if (std::error_code code;
          request_.overwrite && fs::exists(request_.output, code) && !is_our_package(request_.output))
        return usage_error(request_.output.string(), "is no package: --force replaces packages only",
                           "choose another name, or remove it yourself");
      PARITAS_ASSIGN(AtomicFolder folder, AtomicFolder::create(request_.output, request_.overwrite, kManifestName));
      folder_ = folder.building();
      PARITAS_ASSIGN(const bool good, make());
      if (good) {
        PARITAS_TRY(seal(folder_, manifest_));
        PARITAS_TRY(folder.commit());
        result_.package = request_.output.string();
      }
    }
    result_.manifest = manifest_;
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }

  // Nothing is delivered. The caller returns.
  bool refuse(Verdict verdict, std::string reason) {
    result_.refused = reason;
    result_.verdict = verdict;
    result_.reasons = {std::move(reason)};
    result_.deciding = 1;
    return false;
  }

  Result<std::optional<Model>> load() const {
    PARITAS_ASSIGN(Model model, Model::load(request_.model));
    for (const NamedTensors& sample : request_.samples) PARITAS_TRY(check_inputs(model, sample));
    return std::optional<Model>(std::move(model));
  }

  // Before anything runs: gates, roles and tasks must fit the model.
  Status check_contract() {
    const SplitContract& contract = request_.contract;
    PARITAS_ASSIGN(const auto tasks, read_tasks(contract.tasks, "tasks"));
    std::vector<std::string> outputs, inputs;
    std::vector<GateSubject> subjects;
    for (const auto& output : onnx_model::describe_outputs(*given_)) {
      const auto role = contract.roles.find(output.name);
      subjects.emplace_back(output.name, Role::kOutput, role == contract.roles.end() ? std::string() : role->second,
                            output.dtype);
      outputs.push_back(output.name);
    }
    for (const auto& input : onnx_model::describe_inputs(*given_)) {
      subjects.emplace_back(input.name, Role::kInput, std::string(), input.dtype);
      inputs.push_back(input.name);
    }
    auto known = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto& [output, role] : contract.roles)
      if (!known(known_roles(), role))
        return usage_error("--role", fmt::format("\"{}\" is not a role", role),
                           fmt::format("roles are {}", fmt::join(known_roles(), ", ")));
    for (const auto& [output, role] : contract.roles)
      if (!known(outputs, output))
        return usage_error("--role", fmt::format("the model has no output \"{}\"", output),
                           fmt::format("it has: {}", fmt::join(outputs, ", ")));
    for (const auto& [port, meaning] : contract.meanings)
      if (!known(outputs, port) && !known(inputs, port))
        return usage_error("--meaning", fmt::format("the model has no input or output \"{}\"", port));
    for (const ProjectTask& task : tasks)
      for (const std::string& output : task.outputs)
        if (!known(outputs, output))
          return usage_error(fmt::format("task \"{}\"", task.name),
                             fmt::format("the model has no output \"{}\"", output));
    // Boundary tensors are features; their names are known only later.
    subjects.emplace_back("feature_0", Role::kIntermediate, "feature", std::nullopt);
    for (const GateSet* gates : {&contract.chain_gates, &contract.cpu_gates}) {
      PARITAS_TRY(check_task_gates(*gates, tasks));
      GateSet on_outputs = *gates;
      auto names_boundary = [&](const Gate& gate) {
        return gate.tensor.rfind("feature_", 0) == 0 || !request_.boundary.empty();
      };
      on_outputs.gates.erase(
          std::remove_if(on_outputs.gates.begin(), on_outputs.gates.end(),
                         [&](const Gate& gate) { return !gate.task.empty() || names_boundary(gate); }),
          on_outputs.gates.end());
      PARITAS_TRY(check_gates_match(on_outputs, subjects));
    }
    return {};
  }

  // Now that boundary tensors have names, every gate must match something.
  Status check_gates_on_boundary() const {
    std::vector<GateSubject> subjects;
    for (const auto& output : onnx_model::describe_outputs(*given_)) {
      const auto role = request_.contract.roles.find(output.name);
      subjects.emplace_back(output.name, Role::kOutput,
                            role == request_.contract.roles.end() ? std::string() : role->second, output.dtype);
    }
    for (const auto& input : onnx_model::describe_inputs(*given_))
      subjects.emplace_back(input.name, Role::kInput, std::string(), input.dtype);
    for (const PackageCut& cut : named_->cuts)
      for (const BoundaryTensor& tensor : cut.tensors)
        subjects.emplace_back(tensor.name, Role::kIntermediate, "feature", std::nullopt);
    for (const GateSet* gates : {&request_.contract.chain_gates, &request_.contract.cpu_gates}) {
      GateSet on_tensors = *gates;
      on_tensors.gates.erase(std::remove_if(on_tensors.gates.begin(), on_tensors.gates.end(),
                                            [](const Gate& gate) { return !gate.task.empty() || !gate.type.empty(); }),
                             on_tensors.gates.end());
      PARITAS_TRY(check_gates_match(on_tensors, subjects));
    }
    return {};
  }

  Result<bool> choose_cuts() {
    cuts_ = request_.cuts;
    if (request_.automatic == 0) return true;
    PARITAS_ASSIGN(result_.candidates, cost_of_cuts(request_, &result_.notes));
    for (const CutCost& cost : result_.candidates)
      if (cost.chosen) cuts_ = {{cost.name, exact_patterns(cost.tensors)}};
    if (!cuts_.empty()) return true;
    std::vector<std::string> why;
    for (const CutCost& cost : result_.candidates) why.push_back(fmt::format("{}: {}", cost.name, cost.deciding));
    return refuse(
        Verdict::kDeviates,
        fmt::format("none of {} proposed cuts can be delivered with the front half on {} and the rear half on "
                    "the CPU ({})",
                    result_.candidates.size(), request_.parts.front().target.spec.text, fmt::join(why, "; ")));
  }

  // A name that resolve_tensor takes as it is.
  static std::vector<std::string> exact_patterns(const std::vector<std::string>& tensors) { return tensors; }

  Result<bool> make() {
    std::vector<std::string> pinned;
    PARITAS_ASSIGN(const Model model, pin_to_inputs(*given_, request_.samples.front(), request_.dims, &pinned));
    PARITAS_ASSIGN(named_, name_cuts(model, cuts_, request_.boundary));
    PARITAS_TRY(check_gates_on_boundary());
    begin_manifest(pinned);
    PARITAS_TRY(record_reference());
    PARITAS_TRY(complete_contract());
    PARITAS_ASSIGN(const bool parted, take_apart_and_prove());
    if (!parted) return false;
    PARITAS_ASSIGN(const bool built, build_parts());
    if (!built) return false;
    PARITAS_TRY(write_declarations());
    return verify_and_note();
  }

  void begin_manifest(const std::vector<std::string>& pinned) {
    Manifest& m = manifest_;
    m.tool_version = request_.tool_version;
    m.created = utc_now();
    m.command = request_.command;
    m.source_name = request_.model.filename().string();
    m.source_sha256 = result_.model_sha256;
    for (const auto& opset : given_->proto().opset_import())
      m.opsets[opset.domain().empty() ? "ai.onnx" : opset.domain()] = opset.version();
    m.producer = given_->proto().producer_name();
    if (!given_->proto().producer_version().empty()) m.producer += " " + given_->proto().producer_version();
    m.pinned = pinned;
    m.cuts = named_->cuts;
    m.tried = request_.tried;
    m.environment.host = host_summary();
  }

  // The whole model with the boundary tensors' names, on every sample.
  Status record_reference() {
    progress("reference");
    RecordRequest record_request;
    record_request.model = request_.model;
    record_request.edited = &named_->model;
    record_request.samples = request_.samples;
    record_request.dims = {};
    record_request.portable = true;
    record_request.target = request_.reference;
    std::set<std::string> marks;  // two cuts may hold one tensor
    for (const PackageCut& cut : named_->cuts)
      for (const BoundaryTensor& tensor : cut.tensors)
        if (!is_graph_output(tensor.name)) marks.insert(tensor.name);
    record_request.marks.assign(marks.begin(), marks.end());
    manifest_.reference = {"reference", request_.reference.spec.text, request_.samples.size()};
    record_request.output = folder_ / manifest_.reference.folder;
    record_request.worker = request_.worker;
    record_request.scratch_root = scratch_;
    record_request.memory_budget = request_.memory_budget;
    record_request.tool_version = request_.tool_version;
    record_request.progress = [&](const std::string& stage) { progress("reference: " + stage); };
    PARITAS_ASSIGN(const RunInfo info, record(record_request));
    result_.notes.insert(result_.notes.end(), info.notes.begin(), info.notes.end());
    PARITAS_ASSIGN(reference_, open_samples(record_request.output, {}));
    PARITAS_ASSIGN(const Sample first, reference_->sample(0));
    for (const auto& [name, tensor] : first.tensors) first_[name] = tensor;
    return {};
  }

  bool is_graph_output(const std::string& name) const {
    return std::any_of(given_->graph().output().begin(), given_->graph().output().end(),
                       [&](const auto& output) { return output.name() == name; });
  }

  Result<ContractPort> contract_port(const std::string& name) const {
    const auto it = first_.find(name);
    if (it == first_.end())
      return input_error(request_.model.string(), fmt::format("\"{}\" is no tensor that a run gives", name),
                         "a package holds tensors only");
    const SplitContract& contract = request_.contract;
    ContractPort port{name, it->second.dtype, it->second.shape, {}, {}, {}};
    if (const auto role = contract.roles.find(name); role != contract.roles.end()) port.role = role->second;
    if (const auto text = contract.meanings.find(name); text != contract.meanings.end()) port.meaning = text->second;
    if (const auto steps = contract.pictures.find(name); steps != contract.pictures.end()) port.picture = steps->second;
    return port;
  }

  Status complete_contract() {
    for (const auto& input : onnx_model::describe_inputs(*given_)) {
      PARITAS_ASSIGN(ContractPort port, contract_port(input.name));
      manifest_.inputs.push_back(std::move(port));
    }
    for (const auto& output : onnx_model::describe_outputs(*given_)) {
      PARITAS_ASSIGN(ContractPort port, contract_port(output.name));
      manifest_.outputs.push_back(std::move(port));
    }
    for (PackageCut& cut : manifest_.cuts)
      for (BoundaryTensor& tensor : cut.tensors) {
        const auto it = first_.find(tensor.name);
        if (it == first_.end())
          return input_error(request_.model.string(),
                             fmt::format("\"{}\" is no tensor that a run gives", tensor.source), "cut elsewhere");
        tensor.dtype = it->second.dtype;
        tensor.shape = it->second.shape;
        PARITAS_ASSIGN(tensor.elements, element_count(tensor.shape));
        tensor.bytes = it->second.bytes.size();
      }
    return {};
  }

  Result<std::map<std::string, Tensor>> constants() {
    std::map<std::string, Tensor> values;
    PARITAS_ASSIGN(const auto wanted, part_constants(*named_));
    if (wanted.empty()) return values;
    MarkedRequest marked;
    marked.model = &named_->model;
    marked.inputs = request_.samples.front();
    marked.marks = wanted;
    marked.memory_budget = request_.memory_budget;
    PARITAS_ASSIGN(Runner runner, Runner::start_in(scratch_, "constants", request_.reference, request_.worker));
    PARITAS_ASSIGN(const MarkedRun run, run_marked(runner, marked));
    for (const std::string& name : wanted)
      if (const auto it = run.tensors.find(name); it != run.tensors.end()) values.emplace(name, it->second);
    return values;
  }

  Result<bool> take_apart_and_prove() {
    progress("taking apart");
    PARITAS_ASSIGN(const auto values, constants());
    PARITAS_ASSIGN(parts_, take_apart(*named_, first_, values));
    progress("parts against the whole");
    PremiseRequest premise{&named_->model,  &parts_,  reference_.get(), request_.reference,
                           request_.worker, scratch_, request_.progress};
    PARITAS_ASSIGN(const Premise held, check_premise(premise));
    manifest_.premise = held.text;
    if (!held.holds) return refuse(Verdict::kInvalid, held.text);
    return true;
  }

  Result<bool> build_parts() {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const SplitPartTarget& wanted = request_.parts[i];
      progress(fmt::format("building \"{}\"", wanted.name));
      PartRequest part;
      part.name = wanted.name;
      part.target = wanted.target;
      part.part = &parts_[i];
      part.worker = request_.worker;
      part.scratch = scratch_ / fmt::format("part-{}", i);
      part.folder = folder_;
      std::error_code code;
      fs::create_directories(part.scratch, code);
      if (const auto it = request_.contexts.find(wanted.name); it != request_.contexts.end()) part.context = it->second;
      if (const auto it = request_.port_maps.find(wanted.name); it != request_.port_maps.end()) {
        PARITAS_ASSIGN(part.ports, read_port_map(it->second));
      }
      auto built = build_part(part);
      if (!built) return refuse(Verdict::kInvalid, built.error().message());
      manifest_.parts.push_back(std::move(built->part));
      result_.notes.insert(result_.notes.end(), built->notes.begin(), built->notes.end());
      note_environment(wanted.target, built->libraries);
    }
    return true;
  }

  void note_environment(const Target& target, const std::vector<PackageLibrary>& libraries) {
    PackageEnvironment& environment = manifest_.environment;
    add_libraries(libraries, environment.libraries);
    for (const auto& [key, value] : device_facts(target)) environment.device[key] = value;
    const PackagePart& part = manifest_.parts.back();
    if (part.context && !part.context->sdk_version.empty())
      environment.device["sdk_version"] = part.context->sdk_version;
  }

  Result<PackageGates> write_gates(const char* file, const GateSet& gates) const {
    if (gates.empty()) return PackageGates{};
    PARITAS_TRY(write_text_atomically(folder_ / file, dump_json(gates_to_json(gates)) + "\n", false));
    PARITAS_ASSIGN(const std::string hash, sha256_of_file(folder_ / file));
    return PackageGates{file, hash};
  }

  Status write_declarations() {
    const SplitContract& contract = request_.contract;
    PARITAS_ASSIGN(manifest_.chain_gates, write_gates("gates.json", contract.chain_gates));
    PARITAS_ASSIGN(manifest_.cpu_gates, write_gates("gates_cpu_parts.json", contract.cpu_gates));
    manifest_.tasks = contract.tasks;
    size_t number = 0;
    for (Json& task : manifest_.tasks) {
      ++number;
      const auto labels =
          task.is_object() ? contract.label_files.find(task.value("name", "")) : contract.label_files.end();
      if (labels == contract.label_files.end()) continue;
      const std::string file = fmt::format("labels_{}{}", number, labels->second.extension().string());
      std::error_code code;
      fs::copy_file(labels->second, folder_ / file, code);
      if (code) return input_error(labels->second.string(), fmt::format("cannot be copied: {}", code.message()));
      task["labels"] = file;
    }
    return {};
  }

  Result<bool> verify_and_note() {
    progress("verifying the package");
    manifest_.notes = result_.notes;
    PARITAS_TRY(write_manifest(folder_, manifest_));
    PARITAS_ASSIGN(Package package, open_unsealed(folder_));
    manifest_ = package.manifest;
    VerifyRequest request;
    request.package = folder_;
    request.search = request_.search;
    for (const SplitPartTarget& part : request_.parts)
      if (!part.target.provider_library.empty())
        request.search.provider_libraries.emplace(part.target.provider, part.target.provider_library);
    request.worker = request_.worker;
    request.scratch_root = scratch_;
    request.memory_budget = request_.memory_budget;
    request.threads = request_.threads;
    request.tool_version = request_.tool_version;
    request.progress = [&](const std::string& stage) { progress("verify: " + stage); };
    PARITAS_ASSIGN(VerifyResult verified, verify_opened(request, package));
    verified.package = request_.output.string();
    verified.manifest_sha256.clear();  // the manifest that holds this is another
    result_.verdict = verified.verdict;
    result_.reasons = verified.reasons;
    result_.deciding = verified.deciding;
    manifest_.verification = summary_json(verified);
    result_.verification = std::move(verified);
    if (result_.verdict == Verdict::kPass || result_.verdict == Verdict::kNotJudged) return true;
    result_.refused = "the package does not hold what it must: " + result_.reasons.front();
    return false;
  }

  const SplitRequest& request_;
  SplitResult result_;
  std::optional<Model> given_;
  Path scratch_, folder_;
  std::vector<onnx_model::CutSpec> cuts_;
  std::optional<NamedCuts> named_;
  std::unique_ptr<SampleStream> reference_;
  std::map<std::string, Tensor> first_;  // tensors of the first sample
  std::vector<ModelPart> parts_;
  Manifest manifest_;
};

}  // namespace

namespace {

// A part's name becomes a file's.
Status check_part_names(const SplitRequest& request) {
  std::set<std::string> names;
  for (const SplitPartTarget& part : request.parts) {
    if (!is_part_name(part.name))
      return usage_error("--part", fmt::format("\"{}\" cannot be a part's name", part.name),
                         "use letters, digits, \"_\", \"-\" and \".\"");
    PARITAS_TRY(check_portable(part.target.spec, "--part"));
    PARITAS_TRY(needs_parts(part.target, "split"));
    if (!names.insert(part.name).second)
      return usage_error("--part", fmt::format("two parts are called \"{}\"", part.name), "name each otherwise");
  }
  return {};
}

}  // namespace

Result<SplitResult> split(const SplitRequest& request) {
  if (request.samples.empty())
    return usage_error("--input", "a package needs at least one sample to be verified with", "give --input NAME=FILE");
  const size_t cuts = request.automatic > 0 ? 1 : request.cuts.size();
  if (cuts == 0) return usage_error("--cut", "no cut is given", "give --cut TENSOR,TENSOR or --auto-cuts N");
  if (request.parts.size() != cuts + 1)
    return usage_error("--part", fmt::format("{} parts for {} cuts", request.parts.size(), cuts),
                       "there is one part more than cuts");
  PARITAS_TRY(check_part_names(request));
  if (!request.contexts.empty() && request.contract.chain_gates.empty())
    return usage_error("--context", "nothing would show that the context is of this model: there are no gates",
                       "give gates, e.g. --gate 'feature_*: cosine>=0.99'");
  for (const auto* named : {&request.contexts, &request.port_maps})
    for (const auto& [part, file] : *named)
      if (std::none_of(request.parts.begin(), request.parts.end(), [&](const auto& p) { return p.name == part; }))
        return usage_error(named == &request.contexts ? "--context" : "--context-map",
                           fmt::format("there is no part \"{}\"", part));
  return Splitter(request).run();
}

}  // namespace paritas
