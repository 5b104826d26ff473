#include "paritas/locate/consistency_judge.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/judge/catalogue_consistency.h"

namespace paritas {
namespace {

// A reference that moves by more than this share of its own energy (40 dB) is worth a word of its own.
constexpr double kNoisyReference = 1e-4;

// Every check of one output.
struct Noise {
  NoiseSource source;
  const NoiseFigure* figure;
};
std::vector<Noise> noise_of(const Consistency& consistency, const std::string& output) {
  std::vector<Noise> found;
  for (const NoiseCheck& check : consistency.checks)
    for (const NoiseFigure& figure : check.outputs)
      if (figure.output == output && figure.moves()) found.push_back({check.source, &figure});
  return found;
}

GateOutcome evaluate_one(const Gate& gate, const Condition& condition, const PairMetrics& metrics) {
  Gate single = gate;
  single.any = {{condition}};
  GateOutcome outcome = evaluate(single, metrics);
  outcome.gate = nullptr;  // `single` ends here
  return outcome;
}

// Repeats and rebuilds are a few draws of something random: the next may be larger. Twice the error is allowed for
// that, in the metric's own terms; figures that know no size (counts, ratios) are taken as they are.
constexpr double kDraws = 2;
bool is_drawn(NoiseSource source) {
  return source == NoiseSource::kDeviceRepeats || source == NoiseSource::kDeviceRebuild;
}
double allowed(const std::string& metric, double noise) {
  if (metric == "sqnr_db") return noise - 20 * std::log10(kDraws);
  if (metric == "cosine") return 1 - kDraws * kDraws * (1 - noise);
  if (metric == "nmse" || metric == "mse" || metric == "cosine_distance") return kDraws * kDraws * noise;
  if (metric == "max_abs" || metric == "mean_abs" || metric == "rmse" || metric == "max_rel" ||
      metric.rfind("abs_p", 0) == 0)
    return kDraws * noise;
  return noise;
}

// The device's value does not lie beyond the noise's.
bool not_worse(const Condition& condition, double device, double noise) {
  switch (condition.op) {
    case GateOp::kLess:
    case GateOp::kLessEqual:
      return device <= noise;
    case GateOp::kGreater:
    case GateOp::kGreaterEqual:
      return device >= noise;
    case GateOp::kEqual:
      return std::abs(device - condition.value) <= std::abs(noise - condition.value);
  }
  return false;
}

// The gate failed: could noise of this size be the reason? Of some alternative every failing condition must be inside.
bool fails_inside(const Gate& gate, const PairMetrics& device, const Noise& noise) {
  return std::any_of(gate.any.begin(), gate.any.end(), [&](const std::vector<Condition>& all) {
    return std::all_of(all.begin(), all.end(), [&](const Condition& condition) {
      const GateOutcome of_device = evaluate_one(gate, condition, device);
      if (of_device.passed) return true;
      const GateOutcome of_noise = evaluate_one(gate, condition, noise.figure->metrics);
      if (!of_device.value || !of_noise.value) return false;
      const double limit = is_drawn(noise.source) ? allowed(condition.metric, *of_noise.value) : *of_noise.value;
      return not_worse(condition, *of_device.value, limit);
    });
  });
}

// What the noise of one check alone comes to under a gate.
std::string noise_text(const Gate& gate, const Noise& noise) {
  if (noise.figure->shape_changed) return "its shape changes";
  return evaluate(gate, noise.figure->metrics).text;
}

// Faults that no gate decides about.
bool deviates_without_gate(const OutputRow& row, const std::vector<const Gate*>& gates) {
  if (row.pair.verdict != Verdict::kDeviates) return false;
  if (!row.pair.metrics || row.pair.metrics->nonfinite.device_only > 0) return true;
  return std::all_of(gates.begin(), gates.end(),
                     [&](const Gate* gate) { return evaluate(*gate, *row.pair.metrics).passed; });
}

// True when it became invalid.
bool judge_row(const Consistency& consistency, const GateSet& gates, OutputRow& row) {
  const auto applicable = gates.for_tensor(gate_subject(row.pair));
  if (applicable.empty() || (row.pair.verdict != Verdict::kPass && row.pair.verdict != Verdict::kDeviates))
    return false;
  if (deviates_without_gate(row, applicable)) return false;
  const auto noises = noise_of(consistency, row.pair.name);
  std::string reason;
  for (const Gate* gate : applicable) {
    const GateOutcome outcome = evaluate(*gate, *row.pair.metrics);
    bool inside = false;
    for (const Noise& noise : noises) {
      const bool fails_alone = noise.figure->shape_changed || !evaluate(*gate, noise.figure->metrics).passed;
      if (outcome.passed ? !fails_alone
                         : !noise.figure->shape_changed && !fails_inside(*gate, *row.pair.metrics, noise))
        continue;
      inside = true;
      if (reason.empty())
        reason = fmt::format("cannot tell: {}, and {} alone {} ({})", outcome.text, name(noise.source),
                             outcome.passed           ? "would fail the gate"
                             : is_drawn(noise.source) ? "may be as large"
                                                      : "is no nearer",
                             noise_text(*gate, noise));
    }
    if (!outcome.passed && !inside) return false;  // beyond the noise: it stands
  }
  if (reason.empty()) return false;
  row.pair.verdict = Verdict::kInvalid;
  row.pair.rule = std::move(reason);
  return true;
}

}  // namespace

std::vector<std::string> judge_noise(const Consistency& consistency, const GateSet& gates,
                                     std::vector<OutputRow>& rows) {
  std::vector<std::string> undecided;
  for (OutputRow& row : rows)
    if (judge_row(consistency, gates, row)) undecided.push_back(row.pair.name);
  return undecided;
}

bool inside_noise(const Consistency& consistency, const OutputRow& row) {
  if (!row.pair.metrics || row.pair.metrics->nonfinite.device_only > 0) return false;
  const auto noises = noise_of(consistency, row.pair.name);
  return std::any_of(noises.begin(), noises.end(), [&](const Noise& noise) {
    const double own = noise.figure->metrics.nmse;
    return noise.figure->shape_changed ||
           row.pair.metrics->nmse <= (is_drawn(noise.source) ? allowed("nmse", own) : own);
  });
}

void explain_noise(const Consistency& consistency, const GateSet& gates, LocateResult& result) {
  for (const NoiseCheck& check : consistency.checks) {
    catalogue::NoiseFacts facts;
    facts.check = name(check.source);
    facts.setting = check.setting;
    facts.shows = shows(check.source);
    facts.does_not_show = does_not_show(check.source);
    for (const NoiseFigure& figure : check.outputs) {
      if (!figure.moves()) continue;
      const auto gated = gates.for_tensor(figure.output);
      const bool fails_gate = std::any_of(gated.begin(), gated.end(), [&](const Gate* gate) {
        return figure.shape_changed || !evaluate(*gate, figure.metrics).passed;
      });
      const bool large = figure.shape_changed || figure.metrics.nmse > kNoisyReference;
      // A device that moves at all is news; a reference is expected to, a little.
      if (of_reference(check.source) && !large && !fails_gate) continue;
      facts.outputs.push_back({figure.output, figure.shape_changed, figure.metrics.max_abs, figure.metrics.sqnr_db,
                               figure.metrics.differing, fails_gate});
    }
    if (facts.outputs.empty()) continue;
    result.findings.push_back(of_reference(check.source) ? catalogue::reference_noise(facts)
                                                         : catalogue::device_noise(facts));
  }
}

}  // namespace paritas
