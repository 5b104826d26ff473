#include "paritas/locate/cross_split.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/recording/named_tensors.h"

namespace paritas {

using catalogue::CellOutcome;
using onnx_model::Cut;
using onnx_model::Halves;

// Random draws aside: that they differ, or happen to agree, says nothing.
bool SplitCheck::is_drawn(const std::string& tensor) const {
  return request_.random != nullptr && request_.random->depends(tensor);
}

Result<bool> SplitCheck::equal_outputs(const NamedTensors& a, const NamedTensors& b) const {
  for (const auto& [name, tensor] : a) {
    if (is_drawn(name)) continue;
    const Tensor* other = find_tensor(b, name);
    if (other == nullptr) return false;
    PARITAS_ASSIGN(const bool equal, equal_bytes(tensor, *other));
    if (!equal) return false;
  }
  return true;
}

Status SplitCheck::check(const Cut& cut, const Halves& halves, const Composed& composed, CrossMatrix& matrix) {
  MatrixCell& cell = matrix.cells.front();
  PARITAS_TRY(judge_.fill(cell, whole_, composed.outputs));
  if (cell.outcome == CellOutcome::kDrawn &&
      std::all_of(whole_.begin(), whole_.end(), [this](const auto& output) { return is_drawn(output.first); })) {
    all_drawn(matrix);
    return {};
  }
  PARITAS_ASSIGN(const bool equal, equal_outputs(whole_, composed.outputs));
  matrix.split = SplitStatus::kExact;
  if (!equal) PARITAS_TRY(explain_difference(cut, halves, composed, matrix));
  const bool right = matrix.split == SplitStatus::kExact || matrix.split == SplitStatus::kOptimiser;
  const bool drawn = std::any_of(whole_.begin(), whole_.end(), [this](const auto& o) { return is_drawn(o.first); });
  cell.outcome = !right ? CellOutcome::kDeviates : drawn ? CellOutcome::kDrawn : CellOutcome::kHolds;
  const auto words = catalogue::cell_words(false, false, cell.outcome);
  cell.shows = words.shows;
  cell.does_not_show = words.does_not_show;
  if (!right) matrix.cells.resize(1);  // nothing else means anything
  return {};
}

// Every cell compares with a run whose numbers were drawn anew: none is measured.
void SplitCheck::all_drawn(CrossMatrix& matrix) const {
  matrix.split = SplitStatus::kRandom;
  matrix.verdict = Verdict::kInvalid;
  matrix.reasons.push_back(matrix.cells.front().deciding);
  for (MatrixCell& cell : matrix.cells) {
    cell.outcome = CellOutcome::kDrawn;
    cell.verdict = Verdict::kInvalid;
    cell.deciding = matrix.reasons.back();
    cell.outputs.clear();  // figures of two draws
    const auto words = catalogue::cell_words(cell.front_on_device, cell.rear_on_device, cell.outcome);
    cell.shows = words.shows;
    cell.does_not_show = words.does_not_show;
  }
}

// The output in which two sets of outputs differ most, by NMSE.
Result<catalogue::SplitFacts> SplitCheck::largest_difference(
    const Cut& cut, const NamedTensors& a, const NamedTensors& b,
    std::vector<std::pair<std::string, PairMetrics>>* all) const {
  catalogue::SplitFacts facts;
  facts.cut = cut.name;
  for (const auto& [name, tensor] : a) {
    if (is_drawn(name)) continue;
    const Tensor* other = find_tensor(b, name);
    if (other == nullptr || other->shape != tensor.shape || other->dtype != tensor.dtype) {
      if (facts.output.empty()) facts.output = name;
      continue;
    }
    PARITAS_ASSIGN(PairMetrics m, compare_tensors(tensor, *other, {}));
    if (m.differing != 0 && (facts.output.empty() || m.nmse > facts.nmse)) {
      facts.output = name;
      facts.max_abs = m.max_abs;
      facts.nmse = m.nmse;
    }
    if (all != nullptr) all->emplace_back(name, std::move(m));
  }
  return facts;
}

// In one session, unless that would go on with the sequence of a seeded operator, which only a new one begins again.
int SplitCheck::repeats_needed() const {
  return onnx_model::random_dependence(*request_.model, *request_.index, /*seeds_repeat=*/false).any() &&
                 request_.random != nullptr
             ? 1
             : 2;
}

Status SplitCheck::explain_difference(const Cut& cut, const Halves& halves, const Composed& composed_halves,
                                      CrossMatrix& matrix) {
  if (request_.progress)
    request_.progress(fmt::format("cut \"{}\": the reference's halves differ from its whole", cut.name));
  PARITAS_ASSIGN(const CrossRun again, reference_.run(*request_.model, request_.inputs, repeats_needed()));
  PARITAS_ASSIGN(const bool repeats, equal_outputs(whole_, again.outputs));
  if (!repeats) {
    matrix.split = SplitStatus::kNotRepeatable;
    PARITAS_ASSIGN(const auto facts, largest_difference(cut, whole_, again.outputs, nullptr));
    return invalid(catalogue::cut_not_repeatable(facts), matrix);
  }
  Target plain = request_.reference;
  plain.optimisation = "none";
  CrossWorker unoptimised(request_, fmt::format("cut-plain-{}", plain_workers_++), plain);
  if (request_.reference.optimisation != "none") {
    PARITAS_ASSIGN(const CrossRun whole, unoptimised.run(*request_.model, request_.inputs));
    PARITAS_ASSIGN(const Composed composed, compose_on(request_, unoptimised, halves));
    PARITAS_ASSIGN(const bool equal, equal_outputs(whole.outputs, composed.outputs));
    if (equal) {
      matrix.split = SplitStatus::kOptimiser;
      PARITAS_ASSIGN(const auto facts, largest_difference(cut, whole_, composed_halves.outputs, &matrix.noise));
      findings_.push_back(catalogue::cut_optimiser(facts));
      return {};
    }
  }
  matrix.split = SplitStatus::kWrong;
  PARITAS_ASSIGN(auto facts, largest_difference(cut, whole_, composed_halves.outputs, nullptr));
  facts.tensor = facts.output;
  PARITAS_TRY(first_difference(cut, halves, unoptimised, facts));
  matrix.first_difference = facts.tensor;
  return invalid(catalogue::cut_wrong(facts), matrix);
}

Status SplitCheck::invalid(Finding finding, CrossMatrix& matrix) {
  matrix.verdict = Verdict::kInvalid;
  matrix.reasons.push_back(finding.text);
  findings_.push_back(std::move(finding));
  return {};
}

// Every tensor of both halves recorded, against the whole's, in graph order.
Status SplitCheck::first_difference(const Cut& cut, const Halves& halves, CrossWorker& worker,
                                    catalogue::SplitFacts& facts) const {
  PARITAS_ASSIGN(const auto whole, worker.all_tensors(*request_.model, request_.inputs));
  PARITAS_ASSIGN(const auto front_inputs, inputs_of(halves.front, request_.inputs, {}));
  PARITAS_ASSIGN(const auto front, worker.all_tensors(halves.front, front_inputs));
  NamedTensors handed;
  for (const auto& tensor : cut.tensors)
    if (const auto it = front.find(tensor); it != front.end()) handed.emplace_back(tensor, it->second);
  PARITAS_ASSIGN(const auto rear_inputs, inputs_of(halves.rear, request_.inputs, handed));
  PARITAS_ASSIGN(const auto rear, worker.all_tensors(halves.rear, rear_inputs));
  for (const auto& node : request_.index->nodes())
    for (const auto& tensor : node.outputs) {
      const auto expected = whole.find(tensor);
      if (expected == whole.end() || is_drawn(tensor)) continue;
      for (const auto* half : {&front, &rear}) {
        const auto got = half->find(tensor);
        if (got == half->end()) continue;
        PARITAS_ASSIGN(const bool equal, equal_bytes(expected->second, got->second));
        if (equal) continue;
        facts.tensor = tensor;
        facts.node = node.name;
        facts.in_front = half == &front;
        return {};
      }
    }
  return {};
}

}  // namespace paritas
