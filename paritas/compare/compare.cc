#include "paritas/compare/compare.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include <fmt/format.h>

#include "paritas/base/threads.h"
#include "paritas/compare/conclude.h"
#include "paritas/compare/proposals.h"
#include "paritas/compare/topk_ties.h"

namespace paritas {
namespace {

// Tensors are compared many at a time, one thread each, but for those that would keep one thread busy after the others
// have ended: these are compared one at a time by all threads.
constexpr uint64_t kSmallTensor = 1 << 22;  // elements; never worth more than one thread

// A tensor that is to be compared in every sample.
struct Planned {
  std::string name;    // the reference's, or the device's when only that has it
  std::string device;  // empty: the device has none
  std::string pairing;
  bool in_reference = true;
  Role role = Role::kOutput;
  std::string declared_role;
  const TensorInfo* reference_info = nullptr;
  const TensorInfo* device_info = nullptr;
};

struct Work {
  const Planned* plan;
  const Tensor* reference;
  const Tensor* device;
  MetricOptions options;
};

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

class StreamComparison {
 public:
  StreamComparison(SampleStream& reference, SampleStream& device, const CompareOptions& options)
      : reference_(reference), device_(device), options_(options) {
    result_.reference = reference.subject();
    result_.device = device.subject();
    result_.reference_info = reference.info();
    result_.device_info = device.info();
    result_.reference_samples = reference.sample_count();
    result_.device_samples = device.sample_count();
    samples_ = std::min(result_.reference_samples, result_.device_samples);
    if (options.part) {
      result_.part = true;
      result_.first_sample = options.part->first_sample;
      result_.reference_samples = options.part->reference_samples;
      result_.device_samples = options.part->device_samples;
    }
    result_.inputs_unverified = options.inputs_unverified;
    result_.allow_extra_outputs = options.gates.allow_extra_outputs;
    result_.settings = settings(options);
    result_.gates_sha256 = options.gates.sha256;
    for (const Gate& gate : options.gates.gates) result_.gate_texts.push_back(gate.text());
  }

  Result<CompareResult> run() {
    PARITAS_TRY(plan());
    PARITAS_TRY(check_gates());
    result_.samples = samples_;
    for (uint64_t i = 0; i < result_.samples; ++i) {
      PARITAS_ASSIGN(Sample reference, reference_.sample(i));
      PARITAS_ASSIGN(Sample device, device_.sample(i));
      PARITAS_TRY(compare_sample(reference, device));
      if (i == 0 && !unmatched_reference_.empty() && !unmatched_device_.empty()) {
        PARITAS_ASSIGN(result_.proposals,
                       propose_pairs(reference, unmatched_reference_, device, unmatched_device_, options_.threads));
      }
    }
    add_notes();
    return std::move(result_);
  }

 private:
  static std::vector<std::string> settings(const CompareOptions& options) {
    std::vector<std::string> texts;
    if (options.pairing.normalised) texts.emplace_back("names normalised");
    for (const auto& [from, to] : options.pairing.aliases) texts.push_back(fmt::format("alias {} = {}", from, to));
    for (const auto& [name, role] : options.roles) texts.push_back(fmt::format("role {} = {}", name, role));
    for (const auto& [name, rule] : options.input_rules)
      texts.push_back(fmt::format("input {}: {}", name, rule.text()));
    for (const RankedPair& pair : options.ranked) texts.push_back(fmt::format("ranked {} = {}", pair.scores, pair.ids));
    if (options.quantiles) texts.emplace_back("quantiles");
    return texts;
  }

  static std::vector<std::string> names_of(const RunInfo& info) {
    std::vector<std::string> names;
    for (const TensorInfo& t : info.tensors) names.push_back(t.name);
    return names;
  }

  Status plan() {
    PARITAS_ASSIGN(const Pairing pairing, pair_names(names_of(reference_.info()), names_of(device_.info()),
                                                     options_.pairing, result_.reference, result_.device));
    std::unordered_map<std::string, const NamePair*> pairs;
    for (const NamePair& pair : pairing.pairs) pairs.emplace(pair.reference, &pair);
    std::unordered_map<std::string, const TensorInfo*> device;
    for (const TensorInfo& t : device_.info().tensors) device.emplace(t.name, &t);
    const auto declared = [this](const std::string& name) {
      auto it = options_.roles.find(name);
      return it == options_.roles.end() ? std::string() : it->second;
    };
    for (const TensorInfo& t : reference_.info().tensors) {
      Planned p{t.name, {}, {}, true, t.role, declared(t.name), &t, nullptr};
      if (auto it = pairs.find(t.name); it != pairs.end()) {
        p.device = it->second->device;
        p.pairing = it->second->rule;
        p.device_info = device.at(p.device);
        // What either side was fed with is no answer: it must be equal, and covers no output.
        if (p.device_info->role == Role::kInput) p.role = Role::kInput;
        // What the deployed network puts out has a say, even if the reference's network does not put it out.
        if (p.device_info->role == Role::kOutput && p.role == Role::kIntermediate) p.role = Role::kOutput;
      }
      plan_.push_back(std::move(p));
    }
    for (const std::string& name : pairing.unmatched_device)
      plan_.push_back({name, name, {}, false, device.at(name)->role, declared(name), nullptr, device.at(name)});
    unmatched_reference_ = pairing.unmatched_reference;
    unmatched_device_ = pairing.unmatched_device;
    return check_declared_names();
  }

  // A misspelt name must not be passed over.
  Status check_declared_names() const {
    const auto check = [this](const char* what, const std::string& name) -> Status {
      if (find_plan(name) != nullptr) return {};
      return usage_error(fmt::format("{} of \"{}\"", what, name), "neither side has a tensor of this name");
    };
    for (const auto& [name, role] : options_.roles) PARITAS_TRY(check("role", name));
    for (const auto& [name, rule] : options_.input_rules) {
      PARITAS_TRY(check("quantisation", name));
      if (find_plan(name)->role != Role::kInput)
        return usage_error(
            fmt::format("quantisation of \"{}\"", name), "it is no input",
            "rules tell how inputs were quantised; what is known about outputs belongs into the recording");
    }
    for (const RankedPair& pair : options_.ranked) {
      PARITAS_TRY(check("ranking", pair.scores));
      PARITAS_TRY(check("ranking", pair.ids));
    }
    return {};
  }

  GateSubject subject(const Planned& p) const {
    const TensorInfo* info = p.reference_info != nullptr ? p.reference_info : p.device_info;
    return {p.name, p.role, p.declared_role, info->dtype};
  }

  Status check_gates() {
    std::vector<GateSubject> subjects;
    for (const Planned& p : plan_) subjects.push_back(subject(p));
    for (const Gate& gate : options_.gates.gates)
      if (!gate.task.empty() && !gate.optional) result_.task_gates.push_back(gate.text());
    PARITAS_ASSIGN(auto notes, check_gates_match(options_.gates, subjects));
    result_.notes.insert(result_.notes.end(), notes.begin(), notes.end());
    return {};
  }

  bool gated(const Planned& p) const { return !options_.gates.for_tensor(subject(p)).empty(); }

  Result<MetricOptions> metric_options(const Planned& p, const Tensor* x, const Tensor* y) const {
    MetricOptions options;
    options.quantiles = options_.quantiles;
    options.names = p.declared_role == "labels" && x != nullptr && y != nullptr && is_integer(x->dtype) &&
                    is_integer(y->dtype) && !p.reference_info->quantisation && !p.device_info->quantisation;
    PARITAS_TRY(options_.gates.configure(subject(p), options));
    if (x != nullptr && y != nullptr && is_float(x->dtype) && options_.gates.uses(subject(p), GateUnit::kStorage)) {
      const auto known = p.device_info != nullptr ? p.device_info->storage_type : std::nullopt;
      options.storage_type = known ? known : is_float(y->dtype) ? std::optional(y->dtype) : std::nullopt;
    }
    return options;
  }

  Status compare_sample(const Sample& reference, const Sample& device) {
    const TensorsByName references(reference), devices(device);
    std::vector<TensorComparison> pairs;
    std::vector<Work> work;
    for (const Planned& p : plan_) {
      const Tensor* x = p.in_reference ? references.find(p.name) : nullptr;
      const Tensor* y = p.device.empty() ? nullptr : devices.find(p.device);
      // What neither side holds in this sample is no gap, unless it is an output or a gate waits for it.
      const bool must_exist = p.in_reference && (p.role != Role::kIntermediate || gated(p));
      if (x == nullptr && y == nullptr && !must_exist) continue;
      TensorComparison pair;
      pair.name = p.name;
      if (!p.device.empty() && p.device != p.name) pair.device_name = p.device;
      pair.pairing = p.pairing;
      pair.only_on_device = !p.in_reference;
      pair.role = p.role;
      pair.declared_role = p.declared_role;
      pair.sample = reference.id;
      if (x != nullptr) pair.reference = SideInfo{x->dtype, x->shape};
      if (y != nullptr) pair.device = SideInfo{y->dtype, y->shape};
      pair.status = x == nullptr           ? PairStatus::kMissingReference
                    : y == nullptr         ? PairStatus::kMissingDevice
                    : x->shape != y->shape ? PairStatus::kShapeDiffers
                                           : PairStatus::kCompared;
      PARITAS_ASSIGN(MetricOptions options, metric_options(p, x, y));
      pairs.push_back(std::move(pair));
      work.push_back({&p, x, y, std::move(options)});
    }
    PARITAS_TRY(measure(pairs, work));
    for (TensorComparison& pair : pairs)
      if (pair.compared() && pair.pairing.find("layout") != std::string::npos && pair.metrics->differing > 0)
        pair.notes.insert(pair.notes.begin(), "the names tell of a layout, and nothing was transposed");
    PARITAS_TRY(judge_sample(pairs, work, references, devices));
    for (TensorComparison& pair : pairs) result_.tensors.push_back(std::move(pair));
    return {};
  }

  static bool same_quantisation(const std::optional<Quantisation>& a, const std::optional<Quantisation>& b) {
    if (a.has_value() != b.has_value()) return false;
    return !a || (a->scale == b->scale && a->zero_point == b->zero_point && a->axis == b->axis);
  }

  Status measure(std::vector<TensorComparison>& pairs, std::vector<Work>& work) {
    std::vector<size_t> small, large;
    uint64_t total = 0;
    for (size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].compared()) total += work[i].reference->count();
    const uint64_t share = total / static_cast<uint64_t>(2 * std::max(1, options_.threads));
    for (size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].compared())
        (work[i].reference->count() <= std::max(kSmallTensor, share) ? small : large).push_back(i);
    std::vector<std::optional<Error>> errors(pairs.size());
    std::atomic<uint64_t> done{0};
    auto one = [&](size_t i, int threads) {
      work[i].options.threads = threads;
      const Planned& p = *work[i].plan;
      // Inputs of one type and quantisation are compared as they are: to the bit. Where one side's recording does not
      // tell the quantisation, its codes still count as codes.
      const bool plain = p.role == Role::kInput && work[i].reference->dtype == work[i].device->dtype &&
                         (!p.reference_info->quantisation || !p.device_info->quantisation ||
                          same_quantisation(p.reference_info->quantisation, p.device_info->quantisation));
      const std::optional<Quantisation> none;
      auto made =
          compare_pair(p.name, p.role, *work[i].reference, *work[i].device, work[i].options,
                       plain ? none : p.reference_info->quantisation, plain ? none : p.device_info->quantisation);
      if (made) {
        pairs[i].metrics = std::move(made->metrics);
        pairs[i].notes = std::move(made->notes);
      } else {
        errors[i] = made.error();
      }
      ++done;
    };
    // The largest first, so that no thread ends with a long one alone.
    std::stable_sort(small.begin(), small.end(),
                     [&](size_t a, size_t b) { return work[a].reference->count() > work[b].reference->count(); });
    parallel_for(small.size(), options_.threads, [&](size_t k, int) { one(small[k], 1); });
    for (size_t k : large) {
      if (options_.progress) options_.progress(done, small.size() + large.size());
      one(k, options_.threads);
    }
    for (auto& error : errors)
      if (error) return tl::make_unexpected(std::move(*error));
    return {};
  }

  // Inputs first: where they differ, nothing about the outputs can be judged.
  Status judge_sample(std::vector<TensorComparison>& pairs, const std::vector<Work>& work,
                      const TensorsByName& references, const TensorsByName& devices) {
    bool inputs_differ = false;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].role != Role::kInput) continue;
      PARITAS_ASSIGN(pairs[i].agreement, quantised_agreement(pairs[i], work[i]));
      judge_input(options_.gates, pairs[i]);
      inputs_differ |= pairs[i].verdict == Verdict::kInvalid;
    }
    for (TensorComparison& pair : pairs) {
      if (pair.role == Role::kInput) continue;
      PARITAS_TRY(find_ties(pair, references, devices));
      judge_tensor(options_.gates, pair);
      if (inputs_differ) leave_unjudged(pair);
    }
    return {};
  }

  Result<std::optional<InputAgreement>> quantised_agreement(const TensorComparison& pair, const Work& work) const {
    if (!pair.compared()) return std::nullopt;
    std::optional<QuantisationRule> rule;
    if (auto it = options_.input_rules.find(pair.name); it != options_.input_rules.end()) rule = it->second;
    const auto& of_device = work.plan->device_info->quantisation;
    return compare_quantised_input(*work.reference, *work.device, rule,
                                   of_device ? of_device : work.plan->reference_info->quantisation);
  }

  // Ids whose order differs only within equal scores are the same answer.
  Status find_ties(TensorComparison& pair, const TensorsByName& references, const TensorsByName& devices) const {
    for (const RankedPair& ranked : options_.ranked) {
      if (ranked.ids != pair.name || !pair.compared() || pair.metrics->differing == 0) continue;
      const Planned* scores = find_plan(ranked.scores);
      const Planned* ids = find_plan(ranked.ids);
      if (scores == nullptr || scores->device.empty() || ids == nullptr) continue;
      // Codes of another meaning are no other order.
      const auto quantised = [](const TensorInfo* info) { return info != nullptr && info->quantisation.has_value(); };
      if (quantised(ids->reference_info) || quantised(ids->device_info)) continue;
      const Tensor *a = references.find(scores->name), *b = references.find(ids->name);
      const Tensor *c = devices.find(scores->device), *d = devices.find(ids->device);
      if (a == nullptr || b == nullptr || c == nullptr || d == nullptr) continue;
      PARITAS_ASSIGN(const bool equal, equal_up_to_ties(*a, *b, *c, *d));
      if (equal) pair.equal_up_to = ranked.scores;
    }
    return {};
  }

  const Planned* find_plan(const std::string& name) const {
    for (const Planned& p : plan_)
      if (p.name == name) return &p;
    return nullptr;
  }

  void add_notes() {
    if (options_.gates.empty()) result_.notes.push_back("no gates were declared");
    if (options_.inputs_unverified && std::none_of(plan_.begin(), plan_.end(), [](const Planned& p) {
          return p.role == Role::kInput && p.in_reference && !p.device.empty();
        }))
      result_.notes.push_back("inputs are not recorded on both sides: equal inputs are assumed, as asked");
    if (result_.reference == result_.device) result_.notes.emplace_back("both sides are the same recording");
    for (const auto& [side, info] :
         {std::pair("reference", &result_.reference_info), std::pair("device", &result_.device_info)})
      for (size_t i = 0; i < info->notes.size() && i < 5; ++i)
        result_.notes.push_back(fmt::format("{}: {}", side, info->notes[i]));
    const std::string &x = result_.reference_info.model_sha256, &y = result_.device_info.model_sha256;
    if (!x.empty() && !y.empty() && x != y) result_.notes.push_back("the two sides ran different model files");
  }

  SampleStream& reference_;
  SampleStream& device_;
  const CompareOptions& options_;
  std::vector<Planned> plan_;
  std::vector<std::string> unmatched_reference_, unmatched_device_;
  uint64_t samples_ = 0;
  CompareResult result_;
};

constexpr std::pair<PairStatus, std::string_view> kStatusNames[] = {
    {PairStatus::kCompared, "compared"},
    {PairStatus::kShapeDiffers, "shape differs"},
    {PairStatus::kMissingReference, "missing in reference"},
    {PairStatus::kMissingDevice, "missing on device"}};

}  // namespace

std::string_view name(PairStatus status) {
  for (const auto& [each, text] : kStatusNames)
    if (each == status) return text;
  return "missing";
}

std::optional<PairStatus> pair_status_from_name(std::string_view text) {
  for (const auto& [each, word] : kStatusNames)
    if (word == text) return each;
  return std::nullopt;
}

Result<CompareResult> compare_samples(SampleStream& reference, SampleStream& device, const CompareOptions& options) {
  return StreamComparison(reference, device, options).run();
}

Result<CompareResult> compare_streams(SampleStream& reference, SampleStream& device, const CompareOptions& options) {
  PARITAS_ASSIGN(CompareResult result, compare_samples(reference, device, options));
  conclude(result);
  return result;
}

}  // namespace paritas
