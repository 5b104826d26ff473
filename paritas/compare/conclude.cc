#include "paritas/compare/conclude.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/compare/summary.h"

namespace paritas {
namespace {

constexpr uint64_t kFewElements = 4;  // below, being the same everywhere says little

class Conclusion {
 public:
  explicit Conclusion(CompareResult& result) : result_(result) {}

  VerdictBuilder run() {
    result_.coverage = {};
    result_.unmatched_reference.clear();
    result_.unmatched_device.clear();
    if (result_.reference_samples != result_.device_samples)
      builder_.invalid(fmt::format("the reference has {} samples, the device {}: they cannot be paired",
                                   result_.reference_samples, result_.device_samples));
    refuse_other_samples();
    if (result_.samples == 0) builder_.invalid("nothing was compared: a recording holds no sample");
    std::stable_partition(result_.tensors.begin(), result_.tensors.end(),
                          [](const TensorComparison& t) { return t.role == Role::kOutput; });
    for (const TensorComparison& t : result_.tensors) record(t);
    if (!reference_has_outputs_ && result_.samples > 0)
      builder_.invalid(result_.coverage.outputs == 0 ? "no output was compared: the recordings share no output"
                                                     : "no output was compared: the reference holds none");
    judge_inputs();
    judge_constants();
    for (const std::string& gate : result_.task_gates)
      builder_.not_judged(fmt::format("\"{}\" is on a task: paritas check judges it", gate));
    result_.verdict = builder_.verdict();
    result_.reasons = builder_.reasons();
    result_.deciding = builder_.deciding();
    result_.summaries = result_.samples > 1 ? summarise(result_.tensors) : std::vector<TensorSummary>{};
    return builder_;
  }

 private:
  // Samples are paired in order: where both sides name them, the names must agree.
  void refuse_other_samples() {
    const auto &x = result_.reference_info.sample_names, &y = result_.device_info.sample_names;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (x[i] != y[i])
        return builder_.invalid(fmt::format(
            "sample {} is \"{}\" in the reference and \"{}\" on the device: they cannot be paired", i, x[i], y[i]));
  }

  void record(const TensorComparison& t) {
    Coverage& c = result_.coverage;
    if (t.role == Role::kInput) note_input(t);
    if (t.status == PairStatus::kMissingDevice) note_unmatched(result_.unmatched_reference, t.name);
    if (t.status == PairStatus::kMissingReference) note_unmatched(result_.unmatched_device, t.name);
    if (t.role == Role::kOutput) {
      reference_has_outputs_ |= t.reference.has_value();
      ++c.outputs;
      c.outputs_compared += t.compared();
      c.outputs_gated += t.gated;
    } else if (t.role == Role::kIntermediate && t.reference) {
      ++c.intermediates;
      c.intermediates_compared += t.compared();
    }
    const bool has_say = t.role == Role::kOutput || (t.role == Role::kIntermediate && t.gated);
    if (!has_say && t.verdict >= Verdict::kNotJudged) return;
    if (t.role == Role::kOutput && t.compared() && t.metrics && t.gated) note_constant(t);
    const std::string where = result_.reference_samples > 1 ? fmt::format(" ({})", t.sample) : "";
    const std::string reason = fmt::format("{}: {}{}", t.name, t.rule, where);
    builder_.add(t.verdict, reason);
  }

  void note_input(const TensorComparison& t) {
    if (t.compared() && t.metrics && t.metrics->count > 0)
      samples_with_inputs_.insert(t.sample);  // no element, no evidence
    inputs_missing_ |= t.missing();
  }

  // Agreement of outputs proves nothing about a device that may have been fed with something else.
  void judge_inputs() {
    if (result_.inputs_unverified || result_.samples == 0) return;
    if (!inputs_missing_ && samples_with_inputs_.size() == result_.samples) return;
    builder_.not_judged(
        "the inputs are not recorded on both sides: nothing shows that both ran on the same (--inputs-unverified "
        "judges all the same)");
  }

  // Ids and masks have few values by their nature.
  void note_constant(const TensorComparison& t) {
    const PairMetrics& m = *t.metrics;
    const bool real = !m.names && (is_float(t.reference->dtype) || m.codes.has_value());
    const bool constant = real && m.finite >= kFewElements && m.finite == m.count && m.reference_min == m.reference_max;
    const auto [it, first] = always_constant_.emplace(t.name, constant);
    if (!first) it->second &= constant;
  }

  // A runtime that left an operator out returns OK and the same everywhere; two of them then agree. One sample does not
  // tell that from an answer that is rightly constant.
  void judge_constants() {
    if (result_.samples < 2) return;
    for (const auto& [name, constant] : always_constant_)
      if (constant)
        builder_.not_judged(fmt::format(
            "{}: the reference is the same everywhere in every sample: agreement with it shows nothing", name));
  }

  static void note_unmatched(std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }

  CompareResult& result_;
  VerdictBuilder builder_;
  std::unordered_set<std::string> samples_with_inputs_;
  std::map<std::string, bool> always_constant_;  // gated outputs, by name
  bool inputs_missing_ = false;
  bool reference_has_outputs_ = false;
};

}  // namespace

VerdictBuilder conclude(CompareResult& result) { return Conclusion(result).run(); }

}  // namespace paritas
