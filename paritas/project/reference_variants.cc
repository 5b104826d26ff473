#include "paritas/project/reference_variants.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/locate/consistency_judge.h"
#include "paritas/onnx/model.h"
#include "paritas/recording/named_tensors.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/qdq_variants.h"
#include "paritas/runtime/runner.h"

namespace paritas {
namespace {

// Outputs of runs that were just made, described as the reference's.
class Outputs : public SampleStream {
 public:
  Outputs(RunInfo info, std::vector<Sample> samples) : info_(std::move(info)), samples_(std::move(samples)) {}
  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return info_.target; }
  uint64_t sample_count() const override { return samples_.size(); }
  Result<Sample> sample(uint64_t index) override { return samples_[index]; }

 private:
  RunInfo info_;
  std::vector<Sample> samples_;
};

class Measuring {
 public:
  Measuring(const VariantsRequest& request, ReferenceVariants& result) : request_(request), result_(result) {}

  Status run(const onnx_model::Model& model, const Target& other) {
    PARITAS_ASSIGN(const auto pinned, pin_to_inputs(model, request_.samples->front(), request_.dims, nullptr));
    // Outputs lie in the worker's scratch files, which stay until the runner ends.
    auto runner = Runner::start_in(request_.scratch, "reference-variant", other, request_.worker);
    PARITAS_TRY(runner);
    auto session = runner->open(pinned);
    if (!session) return fail(session.error().cause);
    if (!session->info().unoptimised_because.empty())
      return fail("the optimiser cannot be switched on: " + session->info().unoptimised_because);
    std::vector<Sample> samples;
    const auto reference = request_.view_reference();
    for (uint64_t i = 0; i < std::min<uint64_t>(request_.samples->size(), reference->sample_count()); ++i) {
      auto reply = session->run((*request_.samples)[i]);
      if (!reply) return fail(reply.error().cause);
      PARITAS_ASSIGN(const Sample recorded, reference->sample(i));
      samples.push_back({recorded.id, (*request_.samples)[i]});
      for (auto& output : reply->outputs) samples.back().tensors.push_back(std::move(output));
    }
    return compare(std::move(samples));
  }

 private:
  Status fail(const std::string& cause) {
    result_.failed = cause;
    result_.moves.clear();
    return {};
  }

  // What the two are, by the same rules and in the same units as the device is judged.
  Status compare(std::vector<Sample> samples) {
    const auto reference = request_.view_reference(), device = request_.view_device();
    RunInfo info = reference->info();
    for (TensorInfo& tensor : info.tensors)
      if (const TensorInfo* same = device->info().find(tensor.name)) tensor.storage_type = same->storage_type;
    std::erase_if(info.tensors, [&](const TensorInfo& tensor) {
      return find_tensor(samples.front().tensors, tensor.name) == nullptr;
    });
    Outputs other(std::move(info), std::move(samples));
    PARITAS_ASSIGN(const CompareResult between, compare_samples(*reference, other, request_.options));
    PARITAS_ASSIGN(const CompareResult to_declared, compare_samples(*reference, *device, request_.options));
    PARITAS_ASSIGN(const CompareResult to_other, compare_samples(other, *device, request_.options));
    for (const TensorComparison& tensor : between.tensors) {
      if (tensor.role != Role::kOutput || tensor.missing()) continue;
      VariantMove move;
      move.output = tensor.name;
      move.sample = tensor.sample;
      move.shape_changed = !tensor.metrics;
      if (tensor.metrics) move.between = *tensor.metrics;
      move.device_to_declared_db = distance(to_declared, tensor);
      move.device_to_other_db = distance(to_other, tensor);
      result_.moves.push_back(std::move(move));
    }
    return {};
  }

  static std::optional<double> distance(const CompareResult& compared, const TensorComparison& of) {
    for (const TensorComparison& tensor : compared.tensors)
      if (tensor.name == of.name && tensor.sample == of.sample && tensor.metrics) return tensor.metrics->sqnr_db;
    return std::nullopt;
  }

  const VariantsRequest& request_;
  ReferenceVariants& result_;
};

// What the outputs of one sample move by.
Consistency noise_of(const ReferenceVariants& variants, const std::string& sample) {
  NoiseCheck check;
  check.source = NoiseSource::kReferenceOptimisation;
  for (const VariantMove& move : variants.moves)
    if (move.sample == sample) check.outputs.push_back({move.output, move.shape_changed, move.between});
  Consistency consistency;
  consistency.checks.push_back(std::move(check));
  return consistency;
}

}  // namespace

Result<std::optional<ReferenceVariants>> measure_variants(const VariantsRequest& request) {
  if (!quant_qdq_setting(request.reference) || request.reference.simulate || request.samples->empty())
    return std::optional<ReferenceVariants>();
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request.model));
  if (!holds_qdq_pairs(model)) return std::optional<ReferenceVariants>();
  const Target other = other_qdq_variant(request.reference);
  ReferenceVariants variants;
  variants.declared = qdq_variant_text(request.reference);
  variants.other = qdq_variant_text(other);
  PARITAS_TRY(Measuring(request, variants).run(model, other));
  return std::optional(std::move(variants));
}

void judge_variants(const GateSet& gates, ReferenceVariants& variants, CompareResult& comparison) {
  std::vector<std::string> samples;
  for (const VariantMove& move : variants.moves)
    if (std::find(samples.begin(), samples.end(), move.sample) == samples.end()) samples.push_back(move.sample);
  for (const std::string& sample : samples) {
    std::vector<OutputRow> rows;
    std::vector<TensorComparison*> places;
    for (TensorComparison& tensor : comparison.tensors)
      if (tensor.role == Role::kOutput && tensor.sample == sample && tensor.metrics) {
        rows.push_back({tensor, false});
        places.push_back(&tensor);
      }
    judge_noise(noise_of(variants, sample), gates, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].pair.verdict == places[i]->verdict) continue;
      places[i]->verdict = rows[i].pair.verdict;
      places[i]->rule = rows[i].pair.rule;
      variants.undecided.push_back(fmt::format("{} ({}): {}", rows[i].pair.name, sample, rows[i].pair.rule));
    }
  }
}

std::vector<const VariantMove*> worst_moves(const ReferenceVariants& variants) {
  std::vector<const VariantMove*> worst;
  for (const VariantMove& move : variants.moves) {
    const auto same = std::find_if(worst.begin(), worst.end(), [&](const auto* w) { return w->output == move.output; });
    if (same == worst.end())
      worst.push_back(&move);
    else if (!(*same)->shape_changed && (move.shape_changed || move.between.sqnr_db < (*same)->between.sqnr_db))
      *same = &move;
  }
  return worst;
}

std::string variant_text(const VariantMove& move) {
  if (move.shape_changed) return fmt::format("{}: its shape changes between them", move.output);
  if (move.between.differing == 0) return fmt::format("{}: the reference does not move between them", move.output);
  std::string text =
      fmt::format("{}: the reference itself moves, {:.1f} dB SQNR between them", move.output, move.between.sqnr_db);
  if (move.device_to_declared_db && move.device_to_other_db)
    text += fmt::format("; the device is {:.1f} dB from the first, {:.1f} dB from the second",
                        *move.device_to_declared_db, *move.device_to_other_db);
  return text + fmt::format(" ({})", move.sample);
}

}  // namespace paritas
