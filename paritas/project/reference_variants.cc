#include "paritas/project/reference_variants.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/locate/consistency_judge.h"
#include "paritas/onnx/model.h"
#include "paritas/recording/named_tensors.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/qdq_variants.h"
#include "paritas/runtime/runner.h"

namespace paritas {
namespace {

class Measuring {
 public:
  Measuring(const VariantsRequest& request, ReferenceVariants& result) : request_(request), result_(result) {}

  Status run(const onnx_model::Model& model, const Target& other) {
    PARITAS_ASSIGN(const auto pinned, pin_to_inputs(model, request_.samples->front(), request_.dims, nullptr));
    auto runner = Runner::start_in(request_.scratch, "reference-variant", other, request_.worker);
    PARITAS_TRY(runner);
    auto session = runner->open(pinned);
    if (!session) return fail(session.error().cause);
    if (!session->info().unoptimised_because.empty())
      return fail("the optimiser cannot be switched on: " + session->info().unoptimised_because);
    const auto reference = request_.view_reference(), device = request_.view_device();
    const uint64_t count =
        std::min<uint64_t>({request_.samples->size(), reference->sample_count(), device->sample_count()});
    for (uint64_t i = 0; i < count; ++i) {
      auto reply = session->run((*request_.samples)[i]);
      if (!reply) return fail(reply.error().cause);
      PARITAS_ASSIGN(const Sample of_reference, reference->sample(i));
      PARITAS_ASSIGN(const Sample of_device, device->sample(i));
      for (const auto& [output, tensor] : reply->outputs)
        PARITAS_TRY(take(of_reference, output, tensor, find_tensor(of_device.tensors, output)));
    }
    return {};
  }

 private:
  Status fail(const std::string& cause) {
    result_.failed = cause;
    result_.moves.clear();
    return {};
  }

  Status take(const Sample& reference, const std::string& output, const Tensor& other, const Tensor* device) {
    const Tensor* declared = find_tensor(reference.tensors, output);
    if (declared == nullptr) return {};
    VariantMove move;
    move.output = output;
    move.sample = reference.id;
    PARITAS_ASSIGN(TensorComparison between, compare(output, *declared, other));
    move.shape_changed = !between.metrics;
    if (between.metrics) move.between = std::move(*between.metrics);
    if (device != nullptr && device->dtype == declared->dtype) {
      PARITAS_ASSIGN(TensorComparison to_declared, compare(output, *declared, *device));
      PARITAS_ASSIGN(TensorComparison to_other, compare(output, other, *device));
      if (to_declared.metrics) move.device_to_declared_db = to_declared.metrics->sqnr_db;
      if (to_other.metrics) move.device_to_other_db = to_other.metrics->sqnr_db;
    }
    result_.moves.push_back(std::move(move));
    return {};
  }

  Result<TensorComparison> compare(const std::string& output, const Tensor& x, const Tensor& y) const {
    MetricOptions options;
    options.threads = request_.threads;
    PARITAS_TRY(request_.gates->configure(output, options));
    return compare_pair(output, Role::kOutput, x, y, options);
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
