#include "paritas/delivery/locate_package.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/compare/compare.h"
#include "paritas/compare/result_json.h"
#include "paritas/delivery/parts.h"
#include "paritas/judge/catalogue_package.h"
#include "paritas/judge/metric_table.h"
#include "paritas/locate/cross_cell.h"
#include "paritas/locate/figures.h"
#include "paritas/package/record_package.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;
using Values = std::map<std::string, Tensor>;

class PackageLocator {
 public:
  explicit PackageLocator(const PackageLocateRequest& request) : request_(request) {}

  Result<PackageLocateResult> run() {
    const auto start = std::chrono::steady_clock::now();
    PARITAS_ASSIGN(package_, open_package(request_.package));
    PARITAS_TRY(check_origin());
    PARITAS_ASSIGN(const Model given, Model::load(request_.model));
    PARITAS_TRY(check_inputs(given, request_.inputs));
    PARITAS_TRY(check_package_inputs(package_, request_.inputs));
    PARITAS_TRY(check_gates(given));
    std::vector<std::string> pinned;
    PARITAS_ASSIGN(const Model model, pin_to_inputs(given, request_.inputs, request_.dims, &pinned));
    PARITAS_ASSIGN(index_, GraphIndex::build(model));
    PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    scratch_ = scratch.path();
    PARITAS_TRY(run_reference(model));
    PARITAS_TRY(open_chains());
    PARITAS_TRY(measure());
    conclude();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }

  Status check_origin() {
    PARITAS_ASSIGN(const std::string sha256, sha256_of_file(request_.model));
    if (sha256 != package_.manifest.source_sha256)
      return input_error(
          request_.package.string(),
          fmt::format("was made from {} with SHA-256 {}, not from {} with {}", package_.manifest.source_name,
                      package_.manifest.source_sha256.substr(0, 12), request_.model.string(), sha256.substr(0, 12)),
          "give the model that it was made from");
    result_.model = request_.model.string();
    result_.package = request_.package.string();
    result_.manifest_sha256 = package_.manifest_sha256;
    result_.reference = request_.reference.spec.text;
    for (const Gate& gate : request_.gates.gates) result_.gate_texts.push_back(gate.text());
    result_.gates_sha256 = request_.gates.sha256;
    return {};
  }

  Status check_gates(const Model& model) {
    std::vector<GateSubject> subjects;
    for (const auto& output : onnx_model::describe_outputs(model))
      subjects.emplace_back(output.name, Role::kOutput, "", output.dtype);
    PARITAS_ASSIGN(result_.notes, check_gates_match(request_.gates, subjects, kNoRolesHere));
    for (const Gate& gate : request_.gates.gates)
      if (!gate.task.empty())
        result_.notes.push_back(
            fmt::format("the gate \"{}\" is on a task: paritas check and verify judge it", gate.text()));
    return {};
  }

  // The whole with the package's names for what is handed over, and its parts.
  Status run_reference(const Model& model) {
    progress("reference");
    std::vector<onnx_model::CutSpec> cuts;
    std::vector<std::string> names;
    for (const PackageCut& cut : package_.manifest.cuts) {
      onnx_model::CutSpec spec{cut.name, {}};
      for (const BoundaryTensor& tensor : cut.tensors) {
        spec.patterns.push_back(tensor.source);
        if (tensor.name != tensor.source && std::find(names.begin(), names.end(), tensor.name) == names.end())
          names.push_back(tensor.name);
      }
      cuts.push_back(std::move(spec));
    }
    PARITAS_ASSIGN(const NamedCuts named, name_cuts(model, cuts, names));
    MarkedRequest marked;
    marked.model = &named.model;
    marked.inputs = request_.inputs;
    marked.memory_budget = request_.memory_budget;
    for (const PackagePart& part : package_.manifest.parts)
      for (const PackagePort& port : part.outputs)
        if (!index_->is_output(port.tensor)) marked.marks.push_back(port.tensor);
    PARITAS_ASSIGN(auto constants, part_constants(named));
    marked.marks.insert(marked.marks.end(), constants.begin(), constants.end());
    PARITAS_ASSIGN(Runner runner, Runner::start_in(scratch_, "reference", request_.reference, request_.worker));
    PARITAS_ASSIGN(const MarkedRun run, run_marked(runner, marked));
    for (const auto& [name, tensor] : run.tensors) expected_.insert_or_assign(name, tensor);
    for (const auto& [name, tensor] : request_.inputs) expected_.insert_or_assign(name, tensor);
    for (const std::string& output : index_->outputs())
      if (const auto it = expected_.find(output); it != expected_.end()) outputs_.emplace_back(output, it->second);
    PARITAS_ASSIGN(reference_parts_, take_apart(named, expected_, expected_));
    return {};
  }

  Status open_chains() {
    progress("opening the parts");
    PARITAS_ASSIGN(auto stages, stages_of(package_, request_.search));
    PARITAS_ASSIGN(chain_, Chain::open(stages, request_.worker, folder("package")));
    std::vector<Stage> reference;
    for (size_t i = 0; i < reference_parts_.size(); ++i)
      reference.push_back({package_.manifest.parts[i].name,
                           request_.reference,
                           {},
                           &reference_parts_[i].model,
                           reference_parts_[i].inputs,
                           reference_parts_[i].outputs});
    if (reference.size() != stages.size())
      return input_error(request_.package.string(), "has another number of parts than its cuts make");
    PARITAS_ASSIGN(reference_chain_, Chain::open(std::move(reference), request_.worker, folder("parts")));
    return {};
  }

  Path folder(const char* name) const {
    std::error_code code;
    std::filesystem::create_directories(scratch_ / name, code);
    return scratch_ / name;
  }

  Result<PairMetrics> against_reference(const std::string& name, const Tensor& tensor) const {
    const auto it = expected_.find(name);
    if (it == expected_.end())
      return runtime_error(request_.model.string(), fmt::format("the reference gave no \"{}\"", name));
    MetricOptions options;
    options.threads = request_.threads;
    options.names = are_names(tensor.dtype);
    return compare_tensors(it->second, tensor, options);
  }

  NamedTensors model_outputs(const NamedTensors& made) const {
    NamedTensors outputs;
    for (const auto& [name, tensor] : outputs_)
      for (const auto& each : made)
        if (each.first == name) outputs.push_back(each);
    return outputs;
  }

  // All parts on the reference but `alone`; nullopt: all of the package.
  Result<NamedTensors> run_chain(std::optional<size_t> alone) {
    NamedTensors known = request_.inputs, made;
    for (size_t i = 0; i < chain_->size(); ++i) {
      Chain& chain = !alone || *alone == i ? *chain_ : *reference_chain_;
      PARITAS_ASSIGN(const NamedTensors outputs, chain.run_stage(i, known));
      known.insert(known.end(), outputs.begin(), outputs.end());
      made.insert(made.end(), outputs.begin(), outputs.end());
    }
    return made;
  }

  Status measure() {
    const CellJudge judge{request_.gates, *index_, std::nullopt, request_.threads, {}};
    progress("the whole package");
    PARITAS_ASSIGN(const NamedTensors chain, run_chain(std::nullopt));
    PARITAS_TRY(judge.fill(result_.whole, outputs_, model_outputs(chain)));
    NamedTensors known(expected_.begin(), expected_.end());
    for (size_t i = 0; i < chain_->size(); ++i) {
      const PackagePart& part = package_.manifest.parts[i];
      progress(fmt::format("part \"{}\"", part.name));
      LocatedPart located;
      located.name = part.name;
      located.file = part.file;
      located.target = part.target;
      located.placement = chain_->placement(i);
      PARITAS_TRY(require_device_took_part(chain_->stage(i).target, located.placement));
      PARITAS_ASSIGN(const NamedTensors local, chain_->run_stage(i, known));
      for (const auto& [name, tensor] : local) {
        PartTensor row;
        row.name = name;
        const BoundaryTensor* boundary = package_.manifest.boundary(name);
        row.source = boundary == nullptr ? name : boundary->source;
        PARITAS_ASSIGN(row.local, against_reference(name, tensor));
        for (const auto& each : chain)
          if (each.first == name) {
            PARITAS_ASSIGN(row.accumulated, against_reference(name, each.second));
          }
        located.tensors.push_back(std::move(row));
      }
      PARITAS_ASSIGN(const NamedTensors alone, run_chain(i));
      PARITAS_TRY(judge.fill(located.alone, outputs_, model_outputs(alone)));
      located.alone.shows = "what this part alone does to the outputs, with every other part on the reference";
      located.alone.does_not_show = "which node of it, or how other inputs behave";
      result_.parts.push_back(std::move(located));
    }
    result_.whole.shows = "what all shipped parts together do to the outputs";
    result_.whole.does_not_show = "which part is to blame";
    return {};
  }

  void conclude() {
    using catalogue::CellOutcome;
    result_.verdict = result_.whole.verdict;
    for (const TensorComparison& pair : result_.whole.outputs) {
      const std::string reason = pair.name + ": " + pair.rule;
      if (pair.verdict == result_.verdict) result_.reasons.push_back(reason);
    }
    std::vector<std::string> names;
    bool enough = false;
    for (const LocatedPart& part : result_.parts) {
      names.push_back(part.name);
      if (part.alone.outcome != CellOutcome::kDeviates) continue;
      if (result_.first_divergence.empty()) result_.first_divergence = part.name;
      enough = true;
      result_.findings.push_back(catalogue::package_part_enough(facts_of(part)));
    }
    if (result_.whole.outcome == CellOutcome::kHolds)
      result_.findings.push_back(catalogue::package_holds(names, result_.whole.deciding));
    else if (result_.whole.outcome == CellOutcome::kDeviates && !enough)
      result_.findings.push_back(catalogue::package_parts_together(
          names, {{}, {}, {}, result_.whole.deciding, result_.verdict == Verdict::kDeviates}));
  }

  catalogue::PackagePartFacts facts_of(const LocatedPart& part) const {
    return {part.name, part.target, part.alone.deciding, result_.whole.deciding,
            part.alone.verdict == Verdict::kDeviates};
  }

  const PackageLocateRequest& request_;
  PackageLocateResult result_;
  Package package_;
  Path scratch_;
  std::optional<GraphIndex> index_;
  Values expected_;       // tensors by the package's names, on the reference
  NamedTensors outputs_;  // of the model
  std::vector<ModelPart> reference_parts_;
  std::optional<Chain> chain_, reference_chain_;
};

Json cell_json(const MatrixCell& cell) {
  Json outputs = Json::array();
  for (const TensorComparison& pair : cell.outputs) outputs.push_back(to_json(pair));
  return {{"verdict", name(cell.verdict)},
          {"deciding", cell.deciding},
          {"outputs", std::move(outputs)},
          {"shows", cell.shows},
          {"does_not_show", cell.does_not_show}};
}

}  // namespace

Result<PackageLocateResult> locate_package(const PackageLocateRequest& request) {
  return PackageLocator(request).run();
}

Json to_json(const PackageLocateResult& result) {
  Json parts = Json::array(), findings = Json::array();
  for (const LocatedPart& part : result.parts) {
    Json tensors = Json::array();
    for (const PartTensor& tensor : part.tensors)
      tensors.push_back({{"name", tensor.name},
                         {"source", tensor.source},
                         {"accumulated", to_json(tensor.accumulated)},
                         {"local", to_json(tensor.local)}});
    parts.push_back({{"name", part.name},
                     {"file", part.file},
                     {"target", part.target},
                     {"placement", to_json(part.placement)},
                     {"tensors", std::move(tensors)},
                     {"alone", cell_json(part.alone)}});
  }
  for (const Finding& finding : result.findings) findings.push_back(to_json(finding));
  return {{"schema", "paritas.locate-package/1"},
          {"verdict", name(result.verdict)},
          {"reasons", result.reasons},
          {"model", result.model},
          {"package", result.package},
          {"manifest_sha256", result.manifest_sha256},
          {"reference", result.reference},
          {"gates", {{"texts", result.gate_texts}, {"sha256", result.gates_sha256}}},
          {"parts", std::move(parts)},
          {"whole", cell_json(result.whole)},
          {"first_divergence", result.first_divergence},
          {"findings", std::move(findings)},
          {"notes", result.notes},
          {"seconds", json_number(result.seconds)}};
}

}  // namespace paritas
