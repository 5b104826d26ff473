#include "paritas/compare/judge_tensor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paritas {
namespace {

// From here on zeros say more about the tensor than its figures do: our choice.
constexpr double kMostlyZero = 0.95;
constexpr uint64_t kFewElements = 4;
// mse is 1.57 mean_abs^2 for Gaussian differences and 2 for Laplacian ones; far above it, few elements carry the error.
constexpr double kHeavyTail = 50;

bool reference_nonfinite_forbidden(const PairMetrics& m, NonfinitePolicy policy) {
  const NonfiniteCounts& n = m.nonfinite;
  // Of the pairs with one NaN or one infinity, those that are not the device's alone.
  const uint64_t one_sided = n.nan_other + n.inf_finite;
  const uint64_t reference_side = one_sided - std::min(one_sided, n.device_only);
  switch (policy) {
    case NonfinitePolicy::kForbid:
      return n.nan_nan + n.same_inf + n.opposite_inf + reference_side > 0;
    case NonfinitePolicy::kSameInf:
      return n.nan_nan > 0 || n.reference_nan > 0;  // a NaN of the device is the device's fault, whatever it faces
    case NonfinitePolicy::kEqual:
      return false;
  }
  return true;
}

// Disagreements between non-finite values that no metric over finite pairs can see.
std::string nonfinite_disagreement(const PairMetrics& m, NonfinitePolicy policy) {
  const NonfiniteCounts& n = m.nonfinite;
  if (n.device_only > 0)
    return fmt::format("{} of {} elements are NaN or infinite on the device only", n.device_only, m.count);
  if (n.nan_other + n.opposite_inf + n.inf_finite > 0)
    return fmt::format("{} of {} elements are NaN or infinite on one side, or infinities of opposite sign",
                       n.nan_other + n.opposite_inf + n.inf_finite, m.count);
  if (policy == NonfinitePolicy::kForbid && n.same_inf + n.nan_nan > 0) return "non-finite elements are forbidden";
  return {};
}

std::string sides(const TensorComparison& t) {
  return fmt::format("reference {}, device {}", to_string(t.reference->shape), to_string(t.device->shape));
}

// Runs that were fed with different values cannot be compared, whatever the gates say. Why this pair of inputs makes
// the pairing unusable; empty when it does not.
std::string input_disagreement(const GateSet& gates, const TensorComparison& t) {
  if (t.missing()) {
    // A pattern such as "*" does not ask for inputs by name; whoever names one wants to see it.
    const bool named =
        std::any_of(gates.gates.begin(), gates.gates.end(), [&](const Gate& g) { return g.names_exactly(t.name); });
    return named ? "a gate names this input, but it is not recorded on both sides" : "";
  }
  if (t.status == PairStatus::kShapeDiffers) return "the inputs differ: " + sides(t);
  if (t.metrics->differing == 0) return {};
  return fmt::format("the inputs differ: {} of {} elements", t.metrics->differing, t.metrics->count);
}

struct Decision {
  Verdict verdict;
  std::string rule;
};

Decision decide_input(const GateSet& gates, const TensorComparison& t, const std::optional<InputAgreement>& quantised) {
  std::string agreement = "equal inputs";
  if (quantised) {
    if (!quantised->equal) return {Verdict::kInvalid, "the inputs differ: " + quantised->text};
    agreement = quantised->text;
  } else {
    std::string disagreement = input_disagreement(gates, t);
    if (!disagreement.empty()) return {Verdict::kInvalid, std::move(disagreement)};
    if (t.missing()) return {Verdict::kPass, "recorded on one side only"};
  }
  for (const Gate* gate : gates.for_tensor(gate_subject(t))) {
    if (!gate->names_exactly(t.name)) continue;
    const GateOutcome outcome = evaluate(*gate, *t.metrics);
    if (!outcome.passed) return {outcome.value ? Verdict::kDeviates : Verdict::kInvalid, outcome.text};
  }
  return {Verdict::kPass, std::move(agreement)};
}

Decision judge_uncompared(const GateSet& gates, const TensorComparison& t, bool must_exist) {
  switch (t.status) {
    case PairStatus::kMissingDevice:
      return must_exist ? Decision{Verdict::kDeviates, "missing on the device"}
                        : Decision{Verdict::kPass, "missing, not gated"};
    case PairStatus::kMissingReference:
      // A pattern such as "*" does not ask for an output that the user said may be there or not.
      if (t.role == Role::kOutput && t.only_on_device && gates.allow_extra_outputs &&
          std::none_of(gates.gates.begin(), gates.gates.end(), [&](const Gate& g) { return g.names_exactly(t.name); }))
        return {Verdict::kPass, "only on the device, which the gates allow"};
      return must_exist ? Decision{Verdict::kInvalid, "missing in the reference"}
                        : Decision{Verdict::kPass, "missing, not gated"};
    default:
      return must_exist ? Decision{Verdict::kDeviates, "shapes differ: " + sides(t)}
                        : Decision{Verdict::kPass, "shapes differ, not gated: " + sides(t)};
  }
}

Decision judge_by(const std::vector<const Gate*>& applicable, const PairMetrics& m) {
  std::string undecided, failed, passed;
  bool proves = false;
  for (const Gate* gate : applicable) {
    const GateOutcome outcome = evaluate(*gate, m);
    std::string& texts = !outcome.value ? undecided : !outcome.passed ? failed : passed;
    texts += (texts.empty() ? "" : "; ") + outcome.text;
    proves |= !outcome.cannot_fail;
  }
  if (!undecided.empty()) return {Verdict::kInvalid, undecided};  // a gate that cannot be judged is no evidence
  if (!failed.empty()) return {Verdict::kDeviates, failed};
  return {proves ? Verdict::kPass : Verdict::kNotJudged, passed};
}

bool constant_on_device_only(const PairMetrics& m) {
  return !m.names && m.finite >= kFewElements && m.device_min == m.device_max && m.reference_min != m.reference_max;
}

// A device whose output is the same everywhere knows nothing of what the reference tells. A gate that lets this pass
// tolerates all that the reference says.
Decision without_trust_in_constants(Decision decision, const TensorComparison& t) {
  if (decision.verdict != Verdict::kPass || t.role != Role::kOutput || !constant_on_device_only(*t.metrics))
    return decision;
  return {Verdict::kNotJudged,
          fmt::format("{}; but the device's output is {:.6g} everywhere, and the reference's is not", decision.rule,
                      t.metrics->device_min)};
}

Decision judge_figures(const GateSet& gates, const TensorComparison& t, const std::vector<const Gate*>& applicable) {
  PairMetrics m = *t.metrics;
  // Where NaN at the same place agrees, it is not outside a tolerance either.
  if (gates.nonfinite == NonfinitePolicy::kEqual && m.outside) *m.outside -= std::min(*m.outside, m.nonfinite.nan_nan);
  const bool must_exist = t.role == Role::kOutput || !applicable.empty();
  if (m.count == 0 && must_exist) return {Verdict::kInvalid, "holds no element: nothing was compared"};
  if (!applicable.empty() && reference_nonfinite_forbidden(m, gates.nonfinite))
    return {Verdict::kInvalid, "the reference holds values that are not finite, which the gates do not allow"};
  if (must_exist && gates.exact_dtypes && t.reference->dtype != t.device->dtype)
    return {Verdict::kDeviates,
            fmt::format("types differ: reference {}, device {}", name(t.reference->dtype), name(t.device->dtype))};
  if (must_exist) {
    const bool gated_or_device = !applicable.empty() || m.nonfinite.device_only > 0;
    std::string disagreement = nonfinite_disagreement(m, gates.nonfinite);
    if (!disagreement.empty() && gated_or_device) return {Verdict::kDeviates, std::move(disagreement)};
  }
  if (applicable.empty())
    return t.role == Role::kOutput ? Decision{Verdict::kNotJudged, "no gate covers it"}
                                   : Decision{Verdict::kPass, "not gated"};
  return without_trust_in_constants(judge_by(applicable, m), t);
}

// Only another order is excused, not another type where types must agree.
bool excused_by_ties(const GateSet& gates, const TensorComparison& t) {
  if (t.equal_up_to.empty() || !t.compared()) return false;
  if (gates.exact_dtypes && t.reference->dtype != t.device->dtype) return false;
  return t.verdict == Verdict::kDeviates || (t.verdict == Verdict::kInvalid && t.metrics->names);
}

}  // namespace

GateSubject gate_subject(const TensorComparison& t) {
  std::optional<DType> dtype;
  if (t.reference)
    dtype = t.reference->dtype;
  else if (t.device)
    dtype = t.device->dtype;
  return {t.name, t.role, t.declared_role, dtype};
}

void judge_input(const GateSet& gates, TensorComparison& t) {
  t.gated = !gates.for_tensor(gate_subject(t)).empty();
  Decision decision = decide_input(gates, t, t.agreement);
  t.verdict = decision.verdict;
  t.rule = std::move(decision.rule);
}

void judge_tensor(const GateSet& gates, TensorComparison& t) {
  if (t.role == Role::kInput) return judge_input(gates, t);
  const auto applicable = gates.for_tensor(gate_subject(t));
  t.gated = !applicable.empty();
  const bool must_exist = t.role == Role::kOutput || t.gated;
  Decision decision = t.compared() ? judge_figures(gates, t, applicable) : judge_uncompared(gates, t, must_exist);
  t.verdict = decision.verdict;
  t.rule = std::move(decision.rule);
  if (excused_by_ties(gates, t)) {
    t.verdict = Verdict::kPass;
    t.rule = fmt::format("equal up to the order of equal scores in {}", t.equal_up_to);
  }
}

void leave_unjudged(TensorComparison& t) {
  const bool has_say = t.role == Role::kOutput || (t.role == Role::kIntermediate && t.gated);
  if (!has_say || t.verdict == Verdict::kInvalid) return;
  t.verdict = Verdict::kNotJudged;
  t.rule = "not judged: the inputs differ";
}

std::vector<std::string> mistrust(const PairMetrics& m) {
  std::vector<std::string> notes;
  if (m.finite == 0) return notes;
  const double zeros = static_cast<double>(m.reference_zeros) / static_cast<double>(m.finite);
  if (m.finite < kFewElements)
    notes.push_back(fmt::format("only {} element{}: proves little", m.finite, m.finite == 1 ? "" : "s"));
  else if (m.names)
    return notes;  // no range, no size
  else if (m.reference_zeros == m.finite)
    notes.push_back("the reference is zero everywhere: agreement proves little");
  else if (m.reference_min == m.reference_max)
    notes.push_back("the reference is constant: agreement proves little");
  else if (zeros >= kMostlyZero)
    notes.push_back(
        fmt::format("{:.1f} % of the reference is zero: cosine and means rest on few elements", 100 * zeros));
  if (constant_on_device_only(m)) notes.push_back("the device's tensor is constant");
  if (m.reference_max_abs > 0 && m.reference_max_abs < 1e-20)
    notes.push_back("the reference holds only tiny values: absolute thresholds mean nothing here");
  const double tail = m.rmse / m.mean_abs;  // before it is squared: the squares of extreme values are no doubles
  if (m.mean_abs > 0 && m.finite >= 16 && tail * tail > kHeavyTail)
    notes.push_back(fmt::format("few large deviations (mse is {:.0f} mean_abs^2): see max_abs", tail * tail));
  if (m.codes && m.codes->mean_step >= 0.25 && std::fabs(m.codes->mean_bias) >= 0.9 * m.codes->mean_step)
    notes.push_back(
        fmt::format("codes are shifted in one direction ({:+.2f} steps on average): a zero point or rounding "
                    "rule differs",
                    m.codes->mean_bias));
  return notes;
}

}  // namespace paritas
