// The verdict and its order. `pass` is what remains when nothing else holds, and only if every output is covered by a
// gate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paritas {

// In order of precedence: the smaller value wins.
enum class Verdict { kInvalid, kDeviates, kNotJudged, kPass };
std::string_view name(Verdict verdict);  // "invalid", "deviates", "not judged", "pass"
Verdict worse(Verdict a, Verdict b);     // the one with precedence

// Collects reasons; the verdict is the worst of them, `pass` only when `covered` was called for something.
class VerdictBuilder {
 public:
  void invalid(std::string reason) { add(Verdict::kInvalid, std::move(reason)); }
  void deviates(std::string reason) { add(Verdict::kDeviates, std::move(reason)); }
  void not_judged(std::string reason) { add(Verdict::kNotJudged, std::move(reason)); }
  void passed(std::string reason) { add(Verdict::kPass, std::move(reason)); }
  void add(Verdict verdict, std::string reason) { entries_.push_back({verdict, std::move(reason)}); }
  void add(const VerdictBuilder& part) { entries_.insert(entries_.end(), part.entries_.begin(), part.entries_.end()); }

  Verdict verdict() const;                   // nothing added: invalid ("nothing was compared")
  std::vector<std::string> reasons() const;  // those of the deciding kind first
  uint64_t deciding() const;                 // how many of them are of that kind

 private:
  struct Entry {
    Verdict verdict;
    std::string reason;
  };
  std::vector<Entry> entries_;
};

}  // namespace paritas
