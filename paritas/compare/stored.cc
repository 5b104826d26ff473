#include "paritas/compare/stored.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/compare/conclude.h"
#include "paritas/compare/judge_tensor.h"
#include "paritas/compare/summary.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

// Gates that the stored figures of this tensor cannot serve.
std::vector<std::string> unserved(const GateSet& gates, const TensorComparison& t) {
  std::vector<std::string> texts;
  if (!t.compared()) return texts;
  for (const Gate* gate : gates.for_tensor(gate_subject(t)))
    if (const GateOutcome outcome = evaluate(*gate, *t.metrics); !outcome.value)
      texts.push_back(fmt::format("{} ({})", gate->text(), outcome.text));
  return texts;
}

bool same_comparison(const CompareResult& a, const CompareResult& b) {
  return a.reference == b.reference && a.device == b.device && a.gates_sha256 == b.gates_sha256 &&
         a.gate_texts == b.gate_texts && a.inputs_unverified == b.inputs_unverified &&
         a.allow_extra_outputs == b.allow_extra_outputs &&
         a.reference_info.model_sha256 == b.reference_info.model_sha256 &&
         a.device_info.model_sha256 == b.device_info.model_sha256 && a.reference_samples == b.reference_samples &&
         a.device_samples == b.device_samples && a.settings == b.settings &&
         to_json(a.reference_info) == to_json(b.reference_info) && to_json(a.device_info) == to_json(b.device_info);
}

using Key = std::pair<std::string, std::string>;  // tensor, sample

std::map<Key, const TensorComparison*> compared_tensors(const CompareResult& result) {
  std::map<Key, const TensorComparison*> map;
  for (const TensorComparison& t : result.tensors)
    if (t.compared() && t.role != Role::kInput) map.emplace(Key(t.name, t.sample), &t);
  return map;
}

// How much worse `after` is than `before`, relative; negative when better.
double worsening(const std::string& metric, double before, double after) {
  if (std::isnan(before) || std::isnan(after)) return std::isnan(after) && !std::isnan(before) ? INFINITY : 0;
  if (metric == "cosine") {  // compared by their distances from 1
    before = 1 - before;
    after = 1 - after;
  } else if (metric == "sqnr_db") {  // 20 dB are a factor of ten in the error
    return before == after ? 0 : (before - after) / 20 * std::log(10.0);
  }
  if (before == after) return 0;
  if (std::isinf(before) || std::isinf(after)) return after > before ? INFINITY : -INFINITY;
  const double scale = std::max(std::fabs(before), std::fabs(after));
  return (after - before) / scale;
}

}  // namespace

Result<CompareResult> judge_again(const CompareResult& stored, const GateSet& gates) {
  CompareResult result = stored;
  std::vector<GateSubject> subjects;
  for (const TensorComparison& t : result.tensors) subjects.push_back(gate_subject(t));
  PARITAS_ASSIGN(auto notes, check_gates_match(gates, subjects));
  result.decided_afterwards = true;
  result.gates_sha256 = gates.sha256;
  result.gate_texts.clear();
  result.task_gates.clear();
  for (const Gate& gate : gates.gates) {
    result.gate_texts.push_back(gate.text());
    if (!gate.task.empty() && !gate.optional) result.task_gates.push_back(gate.text());
  }
  result.allow_extra_outputs = gates.allow_extra_outputs;
  std::erase(result.notes, "no gates were declared");
  std::erase_if(result.notes, [](const std::string& note) { return note.starts_with(kGateNote); });  // of other gates
  std::set<std::string> failed_to_serve;
  std::set<std::string> samples_with_other_inputs;
  for (TensorComparison& t : result.tensors) {
    if (t.role != Role::kInput) continue;
    judge_input(gates, t);
    if (t.verdict == Verdict::kInvalid) samples_with_other_inputs.insert(t.sample);
  }
  for (TensorComparison& t : result.tensors) {
    if (t.role == Role::kInput) continue;
    const auto missing = unserved(gates, t);
    judge_tensor(gates, t);
    if (samples_with_other_inputs.count(t.sample) != 0) {
      leave_unjudged(t);
    } else if (!missing.empty() && t.verdict != Verdict::kDeviates) {
      t.verdict = Verdict::kNotJudged;
      t.rule = fmt::format("the stored result cannot serve {}", fmt::join(missing, "; "));
    }
    failed_to_serve.insert(missing.begin(), missing.end());
  }
  for (const std::string& text : failed_to_serve)
    result.notes.push_back(fmt::format("a gate that the stored result cannot serve: {}: compare again", text));
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  result.notes.emplace_back("decided afterwards: the gates were declared when the figures were known");
  conclude(result);
  return result;
}

Result<CompareResult> merge_parts(std::vector<CompareResult> parts, const std::vector<std::string>& subjects) {
  if (parts.empty()) return usage_error("merge", "no result was given");
  std::vector<size_t> order(parts.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return parts[a].first_sample < parts[b].first_sample; });
  CompareResult whole = std::move(parts[order[0]]);
  for (size_t k = 1; k < order.size(); ++k) {
    CompareResult& next = parts[order[k]];
    const std::string& subject = subjects[order[k]];
    if (!same_comparison(whole, next))
      return input_error(
          subject, fmt::format("is a part of another comparison than {}", subjects[order[0]]),
          "merge parts of the same two recordings, compared in the same way and judged by the same gates");
    const uint64_t end = whole.first_sample + whole.samples;
    if (next.first_sample < end)
      return input_error(
          subject,
          fmt::format("begins with sample {}, which {} holds already", next.first_sample, subjects[order[k - 1]]),
          "give every part once");
    if (next.first_sample > end)
      return input_error(subject,
                         fmt::format("begins with sample {}: samples {} to {} are missing", next.first_sample, end,
                                     next.first_sample - 1),
                         "give all parts");
    whole.samples += next.samples;
    whole.decided_afterwards |= next.decided_afterwards;
    for (TensorComparison& t : next.tensors) whole.tensors.push_back(std::move(t));
    for (std::string& note : next.notes)
      if (std::find(whole.notes.begin(), whole.notes.end(), note) == whole.notes.end())
        whole.notes.push_back(std::move(note));
  }
  const uint64_t common = std::min(whole.reference_samples, whole.device_samples);
  const auto missing = [](uint64_t first, uint64_t last) {
    return input_error("merge", fmt::format("samples {} to {} are missing", first, last), "give all parts");
  };
  if (whole.first_sample != 0) return missing(0, whole.first_sample - 1);
  if (whole.samples < common) return missing(whole.samples, common - 1);
  whole.part = false;
  conclude(whole);
  return whole;
}

BaselineComparison compare_with_baseline(const CompareResult& now, const CompareResult& before, const std::string& file,
                                         double tolerance) {
  BaselineComparison result;
  result.baseline = file;
  const auto old_tensors = compared_tensors(before), new_tensors = compared_tensors(now);
  std::vector<std::pair<double, Regression>> ranked;
  for (const auto& [key, t] : new_tensors) {
    const auto old = old_tensors.find(key);
    if (old == old_tensors.end()) {
      result.added.push_back(key.first);
      continue;
    }
    for (const std::string& metric : summarised_metrics()) {
      const auto a = summarised_value(*old->second->metrics, metric), b = summarised_value(*t->metrics, metric);
      if (!a || !b) continue;
      const double change = worsening(metric, *a, *b);
      if (std::fabs(change) <= tolerance) continue;
      ranked.push_back({change, {key.first, key.second, metric, *a, *b, change > 0}});
    }
  }
  for (const auto& [key, t] : old_tensors)
    if (new_tensors.count(key) == 0) result.gone.push_back(key.first);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [change, regression] : ranked) result.changes.push_back(std::move(regression));
  for (auto* list : {&result.gone, &result.added}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  result.provenance = provenance_differences(before.device_info, now.device_info);
  if (before.reference_info.model_sha256 != now.reference_info.model_sha256)
    result.notes.emplace_back("the baseline compared another model: changes may come from there");
  for (const std::string& difference : provenance_differences(before.reference_info, now.reference_info))
    result.notes.push_back(fmt::format("the references differ in {}", difference));
  return result;
}

std::vector<std::string> provenance_differences(const RunInfo& a, const RunInfo& b) {
  std::vector<std::string> differences;
  const auto add = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y)
      differences.push_back(fmt::format("{}: {} / {}", what, x.empty() ? "unknown" : x, y.empty() ? "unknown" : y));
  };
  add("tool", a.tool_version, b.tool_version);
  add("model", a.model_sha256.substr(0, 12), b.model_sha256.substr(0, 12));
  add("target", a.target, b.target);
  add("provider", a.provider, b.provider);
  add("optimisation", a.optimisation, b.optimisation);
  const bool threads_known = !a.target.empty() && !b.target.empty();  // imported dumps do not tell
  if (threads_known) add("threads", fmt::format("{}", a.threads), fmt::format("{}", b.threads));
  add("runtime version", a.runtime.version, b.runtime.version);
  add("runtime library", a.runtime.sha256_before.substr(0, 12), b.runtime.sha256_before.substr(0, 12));
  add("provider library", a.provider_library.sha256_before.substr(0, 12),
      b.provider_library.sha256_before.substr(0, 12));
  add("host", a.host, b.host);
  add("marked tensors", a.marks, b.marks);
  std::set<std::string> keys;
  for (const auto* options : {&a.options, &b.options})
    for (const auto& [key, value] : *options) keys.insert(key);
  for (const std::string& key : keys) {
    const auto x = a.options.find(key), y = b.options.find(key);
    add(key.c_str(), x == a.options.end() ? "" : x->second, y == b.options.end() ? "" : y->second);
  }
  add("capture time", a.start, b.start);
  return differences;
}

}  // namespace paritas
