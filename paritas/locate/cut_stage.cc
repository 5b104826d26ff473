#include "paritas/locate/cut_stage.h"

#include <algorithm>

#include "paritas/base/sha256.h"
#include "paritas/locate/cross_cell.h"
#include "paritas/locate/random_draws.h"
#include "paritas/runtime/marked_run.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;

Result<Runner> start_runner(const LocateRequest& request, const ScratchFolder& scratch, const std::string& role,
                            const Target& target) {
  return Runner::start_in(scratch.path(), role, target, request.worker);
}

// Tensors that one session records to learn their sizes; their values are dropped at once.
constexpr size_t kSizedAtOnce = 200;

// Sizes as the runtime infers them; where it cannot, as they are in a run.
Result<onnx_model::TensorBytes> inferred_bytes(const LocateRequest& request, const Model& model,
                                               const GraphIndex& index, const onnx_model::ValueDependence& dependence) {
  if (request.progress) request.progress("sizes of tensors, to propose cuts");
  std::vector<std::string> marks;
  for (const auto& node : index.nodes())
    for (const auto& output : node.outputs)
      if (dependence.depends(output) && !index.is_output(output)) marks.push_back(output);
  PARITAS_ASSIGN(const auto marked, onnx_model::mark_outputs(model, marks));
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  PARITAS_ASSIGN(Runner runner, start_runner(request, scratch, "cut-sizes", request.reference));
  PARITAS_ASSIGN(const Session session, runner.open(marked));
  auto sizes = std::make_shared<std::map<std::string, uint64_t>>();
  std::vector<std::string> open;
  for (const PortInfo& port : session.info().outputs) {
    if (!port.dtype) continue;
    const auto count = element_count(Shape(port.dims.begin(), port.dims.end()));  // refuses free dimensions
    if (count)
      sizes->emplace(port.name, byte_size(*port.dtype, *count));
    else if (!index.is_output(port.name))
      open.push_back(port.name);
  }
  for (size_t i = 0; i < open.size(); i += kSizedAtOnce) {
    MarkedRequest marked_request;
    marked_request.model = &model;
    marked_request.inputs = request.inputs;
    marked_request.memory_budget = request.memory_budget / 2;
    marked_request.marks.assign(open.begin() + static_cast<std::ptrdiff_t>(i),
                                open.begin() + static_cast<std::ptrdiff_t>(std::min(open.size(), i + kSizedAtOnce)));
    PARITAS_ASSIGN(const MarkedRun run, run_marked(runner, marked_request));
    for (const auto& [name, tensor] : run.tensors) sizes->emplace(name, tensor.bytes.size());
  }
  for (const auto& [name, tensor] : request.inputs) sizes->emplace(name, tensor.bytes.size());
  return [sizes](const std::string& tensor) -> std::optional<uint64_t> {
    const auto it = sizes->find(tensor);
    return it == sizes->end() ? std::nullopt : std::optional(it->second);
  };
}

}  // namespace

Result<CutStage> CutStage::plan(const LocateRequest& request, const Model& model) {
  PARITAS_ASSIGN(GraphIndex index, GraphIndex::build(model));
  CutStage stage(model, std::move(index));
  stage.dependence_ = onnx_model::value_dependence(model, stage.index_);
  PARITAS_ASSIGN(stage.model_sha256_, sha256_of_file(request.model));
  PARITAS_ASSIGN(stage.chosen_,
                 choose_cuts(request.cuts, model, stage.index_, stage.dependence_, stage.model_sha256_,
                             [&] { return inferred_bytes(request, model, stage.index_, stage.dependence_); }));
  return stage;
}

Result<CrossMatrices> CutStage::run(const LocateRequest& request) const {
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  CrossMatrixRequest matrix;
  matrix.model = model_;
  matrix.index = &index_;
  matrix.cuts = chosen_.cuts;
  matrix.inputs = request.inputs;
  matrix.reference = request.reference;
  matrix.device = request.device;
  matrix.start = [&](const std::string& role, const Target& target) {
    return start_runner(request, scratch, role, target);
  };
  const auto random = random_draws(*model_, index_, request.reference, request.device, /*first_runs=*/true);
  matrix.random = &random;
  matrix.gates = request.gates;
  matrix.threads = request.threads;
  matrix.memory_budget = request.memory_budget / 2;  // two workers hold tensors
  matrix.judge_tasks = request.cuts.judge_tasks;
  matrix.progress = request.progress;
  PARITAS_ASSIGN(CrossMatrices result, cross_matrices(matrix));
  result.notes = chosen_.notes;
  std::vector<std::vector<CutTensorMark>> marks;
  for (const auto& cut : chosen_.cuts) {
    auto& of_cut = marks.emplace_back();
    for (const auto& tensor : cut.tensors) of_cut.push_back(mark_of(index_, dependence_, tensor));
  }
  result.cut_file = cut_file_text(request.model.filename().string(), model_sha256_, result, marks);
  return result;
}

std::vector<OutputRow> CutStage::outputs(const CrossMatrices& matrices) const {
  std::vector<OutputRow> rows;
  for (const TensorComparison& pair : matrices.whole.outputs) {
    OutputRow row;
    row.pair = pair;
    row.behind_decision = is_behind_decision(index_, pair.name);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace paritas
