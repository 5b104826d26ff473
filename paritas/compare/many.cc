#include "paritas/compare/many.h"

#include <fmt/format.h>

#include "paritas/compare/stored.h"

namespace paritas {
namespace {

bool any_difference(const CompareResult& pair) {
  if (pair.coverage.outputs_compared == 0 || pair.reference_samples != pair.device_samples) return true;
  for (const TensorComparison& t : pair.tensors)
    if (t.role == Role::kOutput && (!t.compared() || t.metrics->differing > 0)) return true;
  return false;
}

bool provenance_known(const RunInfo& info) { return !info.provider.empty() || !info.target.empty(); }

}  // namespace

bool ran_on_accelerator(const RunInfo& info) {
  // A simulated device computes on the CPU but is no plain CPU run.
  const bool plain_kernels = info.provider == "TfLiteReference" || info.provider == "TfLiteBuiltin";
  if (plain_kernels) return false;
  if (!info.target.empty() && info.target != "cpu" && info.target.rfind("cpu,", 0) != 0) return true;
  return !info.provider.empty() && info.provider != "CPUExecutionProvider";
}

ManyResult conclude_many(std::vector<std::string> subjects, std::vector<CompareResult> pairs) {
  ManyResult result;
  result.subjects = std::move(subjects);
  result.pairs = std::move(pairs);
  const size_t n = result.subjects.size();
  result.verdict = Verdict::kPass;
  result.accelerated.assign(n, false);
  bool unknown = false;
  size_t k = 0;
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a + 1; b < n; ++b, ++k) {
      const CompareResult& pair = result.pairs[k];
      if (a == 0) result.verdict = worse(result.verdict, pair.verdict);
      result.accelerated[a] = ran_on_accelerator(pair.reference_info);
      result.accelerated[b] = ran_on_accelerator(pair.device_info);
      unknown |= !provenance_known(pair.reference_info) || !provenance_known(pair.device_info);
      result.differences.push_back(provenance_differences(pair.reference_info, pair.device_info));
    }
  k = 0;
  bool without = false, with = false;
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a + 1; b < n; ++b, ++k) {
      const bool plain = !result.accelerated[a] && !result.accelerated[b];
      if (!any_difference(result.pairs[k])) {
        result.findings.push_back(
            fmt::format("{} and {} are equal in every output.", result.subjects[a], result.subjects[b]));
        continue;
      }
      (plain ? without : with) = true;
      if (plain && !unknown)
        result.findings.push_back(
            fmt::format("{} and {} differ with no accelerator, delegate or simulated device in use.",
                        result.subjects[a], result.subjects[b]));
    }
  if (unknown)
    result.findings.emplace_back(
        "Not every recording says where it ran, so nothing is concluded about what an accelerator adds.");
  else if (without && with)
    result.findings.emplace_back(
        "Differences exist without the accelerator, so those to the accelerator are not the accelerator's alone.");
  else if (with)
    result.findings.emplace_back(
        "Only pairs with the accelerator (a delegate, or a simulated device) differ: see what else differs between "
        "those "
        "recordings.");
  return result;
}

}  // namespace paritas
