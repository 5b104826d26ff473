#include "paritas/judge/verdict.h"

#include <algorithm>

namespace paritas {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kInvalid:
      return "invalid";
    case Verdict::kDeviates:
      return "deviates";
    case Verdict::kNotJudged:
      return "not judged";
    case Verdict::kPass:
      return "pass";
  }
  return "invalid";
}

Verdict worse(Verdict a, Verdict b) { return std::min(a, b); }

Verdict VerdictBuilder::verdict() const {
  if (entries_.empty()) return Verdict::kInvalid;
  Verdict verdict = Verdict::kPass;
  for (const Entry& entry : entries_) verdict = worse(verdict, entry.verdict);
  return verdict;
}

std::vector<std::string> VerdictBuilder::reasons() const {
  if (entries_.empty()) return {"nothing was compared"};
  std::vector<Entry> sorted = entries_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.verdict < b.verdict; });
  std::vector<std::string> reasons;
  for (Entry& entry : sorted) reasons.push_back(std::move(entry.reason));
  return reasons;
}

uint64_t VerdictBuilder::deciding() const {
  if (entries_.empty()) return 1;
  const Verdict decided = verdict();
  return static_cast<uint64_t>(
      std::count_if(entries_.begin(), entries_.end(), [decided](const Entry& e) { return e.verdict == decided; }));
}

}  // namespace paritas
