#include "paritas/compare/compare.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/threads.h"

namespace paritas {
namespace {

// Tensors up to this many elements are compared many at a time, one thread each; larger ones one at a time by all
// threads.
constexpr uint64_t kSmallTensor = 1 << 18;

struct Work {
  const Tensor* reference;
  const Tensor* device;
  MetricOptions options;
};

bool reference_nonfinite_forbidden(const PairMetrics& m, NonfinitePolicy policy) {
  const NonfiniteCounts& n = m.nonfinite;
  // Elements where the reference is NaN: nan_nan, and those of nan_other that are not the device's alone. The counts of
  // device_only cover nan_other and inf_finite together, so a reference NaN or infinity shows as a remainder.
  const uint64_t one_sided = n.nan_other + n.inf_finite;
  const uint64_t reference_side = one_sided - std::min(one_sided, n.device_only);
  switch (policy) {
    case NonfinitePolicy::kForbid:
      return n.nan_nan + n.same_inf + n.opposite_inf + reference_side > 0;
    case NonfinitePolicy::kSameInf:
      return n.nan_nan > 0 || (n.nan_other > 0 && reference_side > 0);
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

struct TensorsByName {
  std::unordered_map<std::string, const Tensor*> by_name;
  explicit TensorsByName(const Sample& sample) {
    for (const auto& [name, tensor] : sample.tensors) by_name.emplace(name, &tensor);
  }
  const Tensor* find(const std::string& name) const {
    auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second;
  }
};

bool missing(const TensorComparison& t) {
  return t.status == PairStatus::kMissingReference || t.status == PairStatus::kMissingDevice;
}

// Runs that were fed with different values cannot be compared, whatever the gates say. Why this pair of inputs makes
// the pairing unusable; empty when it does not.
std::string input_disagreement(const GateSet& gates, const TensorComparison& t) {
  if (missing(t)) {
    // A pattern such as "*" does not ask for inputs by name; whoever names one wants to see it.
    const bool named =
        std::any_of(gates.gates.begin(), gates.gates.end(), [&](const Gate& g) { return g.tensor == t.name; });
    return named ? "a gate names this input, but it is not recorded on both sides" : "";
  }
  if (t.status == PairStatus::kShapeDiffers) return "the inputs differ: " + sides(t);
  if (t.metrics->differing == 0) return {};
  return fmt::format("the inputs differ: {} of {} elements", t.metrics->differing, t.metrics->count);
}

class StreamComparison {
 public:
  StreamComparison(SampleStream& reference, SampleStream& device, const CompareOptions& options)
      : reference_(reference), device_(device), options_(options) {
    result_.reference = reference.subject();
    result_.device = device.subject();
    result_.reference_info = reference.info();
    result_.device_info = device.info();
    result_.gates_sha256 = options.gates.sha256;
    for (const Gate& gate : options.gates.gates) result_.gate_texts.push_back(gate.text());
    for (const TensorInfo& t : device.info().tensors) device_roles_.emplace(t.name, t.role);
    for (const TensorInfo& t : reference.info().tensors) reference_roles_.emplace(t.name, t.role);
  }

  Result<CompareResult> run() {
    PARITAS_TRY(check_gates());
    const uint64_t samples = std::min(reference_.sample_count(), device_.sample_count());
    if (reference_.sample_count() != device_.sample_count())
      builder_.invalid(fmt::format("the reference has {} samples, the device {}: they cannot be paired",
                                   reference_.sample_count(), device_.sample_count()));
    if (samples == 0) builder_.invalid("nothing was compared: a recording holds no sample");
    for (uint64_t i = 0; i < samples; ++i) {
      PARITAS_ASSIGN(Sample reference, reference_.sample(i));
      PARITAS_ASSIGN(Sample device, device_.sample(i));
      PARITAS_TRY(compare_sample(reference, device));
    }
    result_.samples = samples;
    conclude();
    return std::move(result_);
  }

 private:
  Status check_gates() {
    std::vector<std::string> names;
    for (const TensorInfo& t : reference_.info().tensors) names.push_back(t.name);
    for (const TensorInfo& t : device_.info().tensors)
      if (reference_roles_.count(t.name) == 0) names.push_back(t.name);
    return check_gates_match(options_.gates, names);
  }

  Role role_of(const std::string& name) const {
    if (auto it = reference_roles_.find(name); it != reference_roles_.end()) return it->second;
    if (auto it = device_roles_.find(name); it != device_roles_.end()) return it->second;
    return Role::kOutput;
  }

  Status compare_sample(const Sample& reference, const Sample& device) {
    const TensorsByName references(reference), devices(device);
    std::vector<TensorComparison> pairs;
    std::vector<Work> work;
    auto add = [&](const std::string& name, const Tensor* x, const Tensor* y) -> Status {
      TensorComparison pair;
      pair.name = name;
      pair.role = role_of(name);
      pair.sample = reference.id;
      if (x != nullptr) pair.reference = SideInfo{x->dtype, x->shape};
      if (y != nullptr) pair.device = SideInfo{y->dtype, y->shape};
      pair.status = x == nullptr           ? PairStatus::kMissingReference
                    : y == nullptr         ? PairStatus::kMissingDevice
                    : x->shape != y->shape ? PairStatus::kShapeDiffers
                                           : PairStatus::kCompared;
      Work item{x, y, {}};
      item.options.quantiles = options_.quantiles;
      PARITAS_TRY(options_.gates.configure(name, item.options));
      pairs.push_back(std::move(pair));
      work.push_back(item);
      return {};
    };
    for (const TensorInfo& t : reference_.info().tensors) {
      const Tensor* x = references.find(t.name);
      const Tensor* y = devices.find(t.name);
      // An intermediate that neither side holds in this sample is no gap, unless a gate waits for it.
      const bool must_exist = t.role == Role::kOutput || gated(t.name);
      if (x != nullptr || y != nullptr || must_exist) PARITAS_TRY(add(t.name, x, y));
    }
    for (const TensorInfo& t : device_.info().tensors)
      if (reference_roles_.count(t.name) == 0) PARITAS_TRY(add(t.name, nullptr, devices.find(t.name)));
    PARITAS_TRY(measure(pairs, work));
    for (TensorComparison& pair : pairs) {
      judge_tensor(options_.gates, pair);
      record(std::move(pair));
    }
    return {};
  }

  Status measure(std::vector<TensorComparison>& pairs, std::vector<Work>& work) {
    std::vector<size_t> small, large;
    for (size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].status == PairStatus::kCompared)
        (work[i].reference->count() <= kSmallTensor ? small : large).push_back(i);
    std::vector<std::optional<Error>> errors(pairs.size());
    std::atomic<uint64_t> done{0};
    auto one = [&](size_t i, int threads) {
      work[i].options.threads = threads;
      auto metrics = compare_tensors(*work[i].reference, *work[i].device, work[i].options);
      if (metrics)
        pairs[i].metrics = std::move(*metrics);
      else
        errors[i] = metrics.error();
      ++done;
    };
    parallel_for(small.size(), options_.threads, [&](size_t k, int) { one(small[k], 1); });
    for (size_t k : large) {
      if (options_.progress) options_.progress(done, small.size() + large.size());
      one(k, options_.threads);
    }
    for (auto& error : errors)
      if (error) return tl::make_unexpected(std::move(*error));
    return {};
  }

  bool gated(const std::string& name) const { return !options_.gates.for_tensor(name).empty(); }

  void record(TensorComparison pair) {
    Coverage& c = result_.coverage;
    const bool compared = pair.status == PairStatus::kCompared;
    inputs_unpaired_ |= pair.role == Role::kInput && missing(pair);
    if (pair.status == PairStatus::kMissingDevice) note_unmatched(result_.unmatched_reference, pair.name);
    if (pair.status == PairStatus::kMissingReference) note_unmatched(result_.unmatched_device, pair.name);
    if (pair.role == Role::kOutput) {
      ++c.outputs;
      c.outputs_compared += compared;
      c.outputs_gated += gated(pair.name);
    } else if (pair.role == Role::kIntermediate && pair.reference) {
      ++c.intermediates;
      c.intermediates_compared += compared;
    }
    const bool has_say = pair.role == Role::kOutput || (pair.role == Role::kIntermediate && gated(pair.name));
    const bool counts = has_say || pair.verdict < Verdict::kNotJudged;
    if (counts) {
      const std::string where = reference_.sample_count() > 1 ? fmt::format(" ({})", pair.sample) : "";
      const std::string reason = fmt::format("{}: {}{}", pair.name, pair.rule, where);
      switch (pair.verdict) {
        case Verdict::kInvalid:
          builder_.invalid(reason);
          break;
        case Verdict::kDeviates:
          builder_.deviates(reason);
          break;
        case Verdict::kNotJudged:
          builder_.not_judged(reason);
          break;
        case Verdict::kPass:
          builder_.passed(reason);
          break;
      }
    }
    result_.tensors.push_back(std::move(pair));
  }

  static void note_unmatched(std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }

  void conclude() {
    if (result_.coverage.outputs == 0 && result_.samples > 0)
      builder_.invalid("no output was compared: the recordings share no output");
    std::stable_partition(result_.tensors.begin(), result_.tensors.end(),
                          [](const TensorComparison& t) { return t.role == Role::kOutput; });
    result_.verdict = builder_.verdict();
    result_.reasons = builder_.reasons();
    if (options_.gates.empty()) result_.notes.push_back("no gates were declared");
    if (inputs_unpaired_) result_.notes.push_back("inputs are not recorded on both sides: equal inputs are assumed");
    const std::string &x = result_.reference_info.model_sha256, &y = result_.device_info.model_sha256;
    if (!x.empty() && !y.empty() && x != y) result_.notes.push_back("the two sides ran different model files");
  }

  SampleStream& reference_;
  SampleStream& device_;
  const CompareOptions& options_;
  std::unordered_map<std::string, Role> reference_roles_, device_roles_;
  VerdictBuilder builder_;
  CompareResult result_;
  bool inputs_unpaired_ = false;
};

}  // namespace

std::string_view name(PairStatus status) {
  switch (status) {
    case PairStatus::kCompared:
      return "compared";
    case PairStatus::kShapeDiffers:
      return "shape differs";
    case PairStatus::kMissingReference:
      return "missing in reference";
    case PairStatus::kMissingDevice:
      return "missing on device";
  }
  return "missing";
}

void judge_tensor(const GateSet& gates, TensorComparison& t) {
  const auto applicable = gates.for_tensor(t.name);
  const bool must_exist = t.role == Role::kOutput || !applicable.empty();
  auto decide = [&t](Verdict verdict, std::string rule) {
    t.verdict = verdict;
    t.rule = std::move(rule);
  };
  if (t.role == Role::kInput) {
    std::string disagreement = input_disagreement(gates, t);
    if (!disagreement.empty()) return decide(Verdict::kInvalid, std::move(disagreement));
    if (missing(t)) return decide(Verdict::kPass, "recorded on one side only");
    for (const Gate* gate : applicable)
      if (const GateOutcome outcome = evaluate(*gate, *t.metrics); gate->tensor == t.name && !outcome.passed)
        return decide(Verdict::kDeviates, outcome.text);
    return decide(Verdict::kPass, "equal inputs");
  }
  switch (t.status) {
    case PairStatus::kMissingDevice:
      return must_exist ? decide(Verdict::kDeviates, "missing on the device")
                        : decide(Verdict::kPass, "missing, not gated");
    case PairStatus::kMissingReference:
      return must_exist ? decide(Verdict::kInvalid, "missing in the reference")
                        : decide(Verdict::kPass, "missing, not gated");
    case PairStatus::kShapeDiffers:
      return must_exist ? decide(Verdict::kDeviates, "shapes differ: " + sides(t))
                        : decide(Verdict::kPass, "shapes differ, not gated: " + sides(t));
    case PairStatus::kCompared:
      break;
  }
  const PairMetrics& m = *t.metrics;
  if (m.count == 0 && must_exist) return decide(Verdict::kInvalid, "holds no element: nothing was compared");
  if (!applicable.empty() && reference_nonfinite_forbidden(m, gates.nonfinite))
    return decide(Verdict::kInvalid, "the reference holds values that are not finite, which the gates do not allow");
  if (t.role == Role::kOutput || !applicable.empty()) {
    const bool gated_or_device = !applicable.empty() || m.nonfinite.device_only > 0;
    std::string disagreement = nonfinite_disagreement(m, gates.nonfinite);
    if (!disagreement.empty() && gated_or_device) return decide(Verdict::kDeviates, std::move(disagreement));
  }
  if (applicable.empty())
    return t.role == Role::kOutput ? decide(Verdict::kNotJudged, "no gate covers it")
                                   : decide(Verdict::kPass, "not gated");
  std::string passed;
  for (const Gate* gate : applicable) {
    const GateOutcome outcome = evaluate(*gate, m);
    if (!outcome.value) return decide(Verdict::kInvalid, outcome.text);  // a gate that cannot be judged is no evidence
    if (!outcome.passed) return decide(Verdict::kDeviates, outcome.text);
    passed += (passed.empty() ? "" : "; ") + outcome.text;
  }
  decide(Verdict::kPass, passed);
}

Result<TensorComparison> compare_pair(const std::string& name, Role role, const Tensor& reference, const Tensor& device,
                                      MetricOptions options) {
  TensorComparison pair;
  pair.name = name;
  pair.role = role;
  pair.reference = SideInfo{reference.dtype, reference.shape};
  pair.device = SideInfo{device.dtype, device.shape};
  if (reference.shape != device.shape) {
    pair.status = PairStatus::kShapeDiffers;
    return pair;
  }
  PARITAS_ASSIGN(pair.metrics, compare_tensors(reference, device, options));
  return pair;
}

Result<CompareResult> compare_streams(SampleStream& reference, SampleStream& device, const CompareOptions& options) {
  return StreamComparison(reference, device, options).run();
}

Result<bool> equal_bytes(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  std::vector<std::byte> x(1 << 20), y(1 << 20);
  for (uint64_t at = 0; at < a.bytes.size(); at += x.size()) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(x.size(), a.bytes.size() - at));
    PARITAS_TRY(a.bytes.read(at, std::span(x).first(n)));
    PARITAS_TRY(b.bytes.read(at, std::span(y).first(n)));
    if (std::memcmp(x.data(), y.data(), n) != 0) return false;
  }
  return true;
}

}  // namespace paritas
