#include "paritas/locate/cross_matrix.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/judge/random_draws.h"
#include "paritas/locate/cross_cell.h"
#include "paritas/locate/cross_split.h"
#include "paritas/locate/cross_worker.h"
#include "paritas/placement/node_table.h"
#include "paritas/recording/named_tensors.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

using catalogue::CellOutcome;
using onnx_model::Cut;
using onnx_model::Halves;
using onnx_model::Model;

class CrossMatrixMaker {
 public:
  explicit CrossMatrixMaker(const CrossMatrixRequest& request)
      : request_(request),
        judge_{request.gates,   *request.index,      request.device.capabilities.storage_type,
               request.threads, request.judge_tasks, request.random},
        reference_(request, "cut-reference", request.reference),
        device_(request, "cut-device", request.device),
        split_(request, judge_, reference_, whole_, result_.findings) {}

  Result<CrossMatrices> run() {
    const auto start = std::chrono::steady_clock::now();
    progress("cuts: uncut model");
    PARITAS_ASSIGN(CrossRun whole, reference_.run(*request_.model, request_.inputs));
    whole_ = std::move(whole.outputs);
    PARITAS_TRY(record_cut_tensors());
    PARITAS_TRY(run_device_whole());
    for (const Cut& cut : request_.cuts) {
      PARITAS_ASSIGN(CrossMatrix matrix, measure(cut));
      result_.cuts.push_back(std::move(matrix));
    }
    result_.sessions = device_.sessions();
    result_.reference_identity = reference_.identity();
    result_.device_identity = device_.identity();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }

  // Values of all tensors at which the model is cut, and of what becomes constant, on the reference.
  Status record_cut_tensors() {
    MarkedRequest marked;
    marked.model = request_.model;
    marked.inputs = request_.inputs;
    marked.memory_budget = request_.memory_budget;
    std::unordered_set<std::string> wanted;
    for (const Cut& cut : request_.cuts)
      for (const auto* names : {&cut.tensors, &cut.constants})
        for (const auto& tensor : *names)
          if (!request_.index->is_input(tensor) && !request_.index->is_output(tensor) && wanted.insert(tensor).second)
            marked.marks.push_back(tensor);
    PARITAS_ASSIGN(Runner * runner, reference_.runner());
    PARITAS_ASSIGN(MarkedRun run, run_marked(*runner, marked));
    recorded_ = std::move(run.tensors);
    not_recorded_ = std::move(run.failed);
    for (const auto& [name, tensor] : request_.inputs) recorded_.insert_or_assign(name, tensor);
    return {};
  }

  PlacementCounts placement_of(const Model& model, const SessionInfo& session) const {
    const auto index = onnx_model::GraphIndex::build(model);
    if (!index) return {};
    return node_table(request_.device.provider, session.assignment, session.partitions, *index).counts;
  }

  // A half of which the device took no node says nothing about it.
  Result<CrossRun> run_on_device(const Model& model, const NamedTensors& inputs, PlacementCounts& placement) {
    PARITAS_ASSIGN(CrossRun run, device_.run(model, inputs));
    placement = placement_of(model, run.session);
    PARITAS_TRY(require_device_took_part(request_.device, placement));
    return run;
  }

  Status run_device_whole() {
    result_.whole.front_on_device = result_.whole.rear_on_device = true;
    auto run = run_on_device(*request_.model, request_.inputs, result_.whole_placement);
    if (!run) {
      fail(result_.whole, run.error());
      return {};
    }
    return judge_.fill(result_.whole, whole_, run->outputs);
  }

  static void fail(MatrixCell& cell, const Error& error) {
    cell.failure = error.message();
    cell.outcome = CellOutcome::kFailed;
    const auto words = catalogue::cell_words(cell.front_on_device, cell.rear_on_device, cell.outcome);
    cell.shows = words.shows;
    cell.does_not_show = words.does_not_show;
  }

  CrossMatrix describe(const Cut& cut) const {
    CrossMatrix matrix;
    matrix.name = cut.name;
    matrix.front_inputs = cut.front_inputs;
    matrix.rear_inputs = cut.rear_inputs;
    matrix.front_outputs = cut.front_outputs;
    matrix.rear_outputs = cut.rear_outputs;
    matrix.constants = cut.constants;
    matrix.front_nodes = static_cast<uint64_t>(cut.front_nodes);
    matrix.rear_nodes = static_cast<uint64_t>(cut.rear_nodes);
    for (const auto& tensor : cut.tensors) {
      CutTensorRow row;
      row.name = tensor;
      row.read = std::find(cut.unread.begin(), cut.unread.end(), tensor) == cut.unread.end();
      if (const auto it = recorded_.find(tensor); it != recorded_.end()) {
        row.dtype = it->second.dtype;
        row.shape = it->second.shape;
        row.bytes = it->second.bytes.size();
      }
      matrix.tensors.push_back(std::move(row));
    }
    if (!cut.unread.empty())
      matrix.notes.push_back(
          fmt::format("the rear half does not read \"{}\"{}", cut.unread.front(),
                      cut.unread.size() > 1 ? fmt::format(" and {} more", cut.unread.size() - 1) : std::string()));
    return matrix;
  }

  Result<Halves> extract(const Cut& cut) const {
    std::map<std::string, onnx_model::TensorType> types;
    std::map<std::string, Tensor> constants;
    for (const auto* names : {&cut.tensors, &cut.constants})
      for (const auto& tensor : *names) {
        const auto it = recorded_.find(tensor);
        if (it == recorded_.end()) {
          const auto why = not_recorded_.find(tensor);
          return input_error(request_.model->subject(),
                             fmt::format("\"{}\" cannot be handed from one half to the other: {}", tensor,
                                         why == not_recorded_.end() ? "it is no tensor" : why->second),
                             "cut elsewhere");
        }
        if (names == &cut.tensors)
          types[tensor] = {it->second.dtype, it->second.shape};
        else
          constants.emplace(tensor, it->second);
      }
    if (request_.extract) return request_.extract(*request_.model, cut, types, constants);
    return onnx_model::extract_halves(*request_.model, cut, types, constants);
  }

  Result<CrossMatrix> measure(const Cut& cut) {
    progress(fmt::format("cut \"{}\"", cut.name));
    CrossMatrix matrix = describe(cut);
    auto halves = extract(cut);
    if (!halves) return tl::make_unexpected(std::move(halves).error());
    for (const auto& [front, rear] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      MatrixCell cell;
      cell.front_on_device = front;
      cell.rear_on_device = rear;
      matrix.cells.push_back(std::move(cell));
    }
    auto reference = compose_on(request_, reference_, *halves);
    if (!reference) {
      for (MatrixCell& cell : matrix.cells) fail(cell, reference.error());
      matrix.reasons.push_back("the reference cannot run the halves: " + reference.error().message());
      return matrix;
    }
    PARITAS_TRY(split_.check(cut, *halves, *reference, matrix));
    if (matrix.split != SplitStatus::kExact && matrix.split != SplitStatus::kOptimiser) return matrix;
    PARITAS_TRY(device_cells(*halves, *reference, matrix));
    conclude(cut, matrix);
    return matrix;
  }

  // A session that fails leaves its cells marked; the others are measured all the same.
  Status device_cells(const Halves& halves, const Composed& reference, CrossMatrix& matrix) {
    MatrixCell& device_reference = matrix.cells[1];
    MatrixCell& reference_device = matrix.cells[2];
    MatrixCell& device_device = matrix.cells[3];
    PARITAS_ASSIGN(const auto fed, inputs_of(halves.front, request_.inputs, {}));
    auto front = run_on_device(halves.front, fed, matrix.front_placement);
    if (front) {
      PARITAS_TRY(compare_cut_tensors(front->outputs, matrix));
      PARITAS_TRY(rear_cell(reference_, halves, front->outputs, nullptr, device_reference));
    } else {
      fail(device_reference, front.error());
      fail(device_device, front.error());
    }
    PARITAS_TRY(rear_cell(device_, halves, reference.front, &matrix.rear_placement, reference_device));
    if (front) PARITAS_TRY(rear_cell(device_, halves, front->outputs, &matrix.rear_placement, device_device));
    return {};
  }

  Status rear_cell(CrossWorker& worker, const Halves& halves, const NamedTensors& front, PlacementCounts* placement,
                   MatrixCell& cell) {
    PARITAS_ASSIGN(const auto handed, inputs_of(halves.rear, request_.inputs, front));
    auto run = placement != nullptr ? run_on_device(halves.rear, handed, *placement) : worker.run(halves.rear, handed);
    if (!run) {
      fail(cell, run.error());
      return {};
    }
    return judge_.fill(cell, whole_, outputs_from(request_, front, run->outputs));
  }

  Status compare_cut_tensors(const NamedTensors& front, CrossMatrix& matrix) const {
    for (CutTensorRow& row : matrix.tensors) {
      const Tensor* device = find_tensor(front, row.name);
      const auto reference = recorded_.find(row.name);
      if (device == nullptr || reference == recorded_.end() || device->shape != reference->second.shape) continue;
      if (const std::string why = cannot_tell(request_.random, row.name); !why.empty()) {
        matrix.notes.push_back(fmt::format("\"{}\" is not compared: {}", row.name, why));
        continue;
      }
      MetricOptions options;
      options.threads = request_.threads;
      if (is_float(row.dtype)) options.storage_type = request_.device.capabilities.storage_type;
      PARITAS_ASSIGN(row.metrics, compare_tensors(reference->second, *device, options));
      if (row.metrics->storage && row.metrics->storage->overflowed > 0)
        matrix.notes.push_back(fmt::format(
            "\"{}\" holds values up to {:.3g}, beyond {}: handing it over breaks the rear half on the device, too",
            row.name, row.metrics->reference_max_abs, name(row.metrics->storage->type)));
    }
    return {};
  }

  void conclude(const Cut& cut, CrossMatrix& matrix) {
    const MatrixCell& front = matrix.cells[1];
    const MatrixCell& rear = matrix.cells[2];
    const MatrixCell& both = matrix.cells[3];
    matrix.verdict = both.failure.empty() ? both.verdict : Verdict::kNotJudged;
    if (!both.deciding.empty()) matrix.reasons.push_back(both.deciding);
    for (const MatrixCell* cell : {&front, &rear, &both})
      if (!cell->failure.empty())
        matrix.reasons.push_back(fmt::format("{} was not measured: {}", cell_name(*cell), cell->failure));
    catalogue::CutFacts facts;
    facts.cut = cut.name;
    facts.tensors = cut.tensors;
    facts.front_figure = front.deciding;
    facts.rear_figure = rear.deciding;
    facts.both_figure = both.deciding;
    for (const MatrixCell* cell : {&front, &rear, &both}) facts.demanded |= cell->verdict == Verdict::kDeviates;
    // What follows from random operators is said once, by whoever knows all of them.
    const bool drawn = std::any_of(matrix.cells.begin(), matrix.cells.end(),
                                   [](const MatrixCell& cell) { return cell.outcome == CellOutcome::kDrawn; });
    const Finding finding = finding_of(facts, front.outcome, rear.outcome, both.outcome);
    if (!drawn || finding.severity == Severity::kFault) result_.findings.push_back(finding);
    const MatrixCell& whole = result_.whole;
    const auto known = [](CellOutcome o) { return o == CellOutcome::kHolds || o == CellOutcome::kDeviates; };
    if (known(both.outcome) && known(whole.outcome) && both.outcome != whole.outcome)
      result_.findings.push_back(catalogue::cut_changes_device(facts, whole.deciding));
  }

  const CrossMatrixRequest& request_;
  const CellJudge judge_;
  CrossWorker reference_, device_;
  NamedTensors whole_;                                // outputs of the uncut model on the reference
  std::unordered_map<std::string, Tensor> recorded_;  // cut tensors, constants and graph inputs, on the reference
  std::map<std::string, std::string> not_recorded_;   // why
  CrossMatrices result_;
  SplitCheck split_;
};

}  // namespace

Result<CrossMatrices> cross_matrices(const CrossMatrixRequest& request) { return CrossMatrixMaker(request).run(); }

}  // namespace paritas
