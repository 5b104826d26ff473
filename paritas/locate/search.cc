#include "paritas/locate/search.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/locate/delta_debugging.h"
#include "paritas/locate/figures.h"
#include "paritas/locate/hybrid.h"

namespace paritas {
namespace {

class Searching {
 public:
  Searching(Runner& reference, Runner& device, const RestoreRequest& request)
      : request_(request), hybrids_(*request.prepared, reference, device), start_(Clock::now()) {
    for (size_t i = 0; i < request.samples.size(); ++i) order_.push_back(i);
    refused_.resize(request.samples.size());
  }

  Result<RestoreSearch> run() {
    const auto units = static_cast<int>(request_.islands.size());
    PARITAS_ASSIGN(
        const RestoredSet found,
        search_restored_set(units, seed(), [this](const std::vector<int>& restored) { return try_set(restored); }));
    result_.needless = found.needless;
    result_.minimal = found.minimal;
    result_.budget_spent = found.budget_spent;
    result_.all = static_cast<int>(found.units.size()) == units;
    for (const int unit : found.units) result_.islands.push_back(island(unit).name);
    for (const int unit : found.undecided) result_.undecided.push_back(island(unit).name);
    for (const int unit : found.units)
      for (const int node : island(unit).nodes)
        result_.nodes.push_back(request_.prepared->index.nodes()[static_cast<size_t>(node)].name);
    result_.samples = request_.samples.size();
    for (size_t i = 0; i < refused_.size(); ++i)
      if (refused_[i] > 0) result_.decided_by.emplace_back(request_.samples[i].id, refused_[i]);
    result_.device_sessions = hybrids_.device_sessions();
    result_.seconds = elapsed();
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  const onnx_model::Island& island(int unit) const { return request_.islands[static_cast<size_t>(unit)]; }

  std::vector<int> seed() const {
    const std::unordered_set<std::string> suspects(request_.suspects.begin(), request_.suspects.end());
    std::vector<int> units;
    for (size_t i = 0; i < request_.islands.size(); ++i) {
      const auto& outputs = request_.islands[i].outputs;
      if (std::any_of(outputs.begin(), outputs.end(), [&](const auto& output) { return suspects.count(output) != 0; }))
        units.push_back(static_cast<int>(i));
    }
    return units;
  }

  Result<std::optional<Holds>> try_set(const std::vector<int>& restored) {
    // A set costs a session for each of the device's parts: seldom more than two.
    if (elapsed() > request_.seconds || hybrids_.device_sessions() >= request_.max_sessions) return std::nullopt;
    if (request_.progress)
      request_.progress(fmt::format("search: {} of {} islands on the reference, test {}", restored.size(),
                                    request_.islands.size(), result_.tests.size() + 1));
    std::vector<bool> on_reference(request_.prepared->index.nodes().size(), false);
    for (const int unit : restored)
      for (const int node : island(unit).nodes) on_reference[static_cast<size_t>(node)] = true;
    const auto start = Clock::now();
    RestoreTest test;
    for (const int unit : restored) test.islands.push_back(island(unit).name);
    const int before = hybrids_.device_sessions();
    const Holds holds = judge_samples(on_reference, test);
    test.device_sessions = hybrids_.device_sessions() - before;
    test.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    test.outcome = holds == Holds::kYes ? "holds" : holds == Holds::kNo ? "does not hold" : "not tried";
    result_.tests.push_back(std::move(test));
    return holds;
  }

  // The sample that failed last goes first: it probably fails again. The set's sessions stay open meanwhile.
  Holds judge_samples(const std::vector<bool>& on_reference, RestoreTest& test) {
    for (size_t k = 0; k < order_.size(); ++k) {
      if (k > 0 && elapsed() > request_.seconds) {
        test.text = fmt::format("the time was spent after {} of {} samples, on which it holds", k, order_.size());
        return Holds::kUnknown;
      }
      const size_t sample = order_[k];
      ++test.samples_run;
      auto holds = judge(on_reference, request_.samples[sample], test);
      if (!holds) {
        test.text = holds.error().message();
        test.sample = request_.samples[sample].id;
        return Holds::kUnknown;
      }
      if (*holds) continue;
      test.sample = request_.samples[sample].id;
      ++refused_[sample];
      std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(k),
                  order_.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      return Holds::kNo;
    }
    return Holds::kYes;
  }

  Result<bool> judge(const std::vector<bool>& on_reference, const RestoreRequest::Sample& sample, RestoreTest& test) {
    PARITAS_ASSIGN(const HybridRun run, hybrids_.run(on_reference, sample.inputs));
    test.elsewhere = run.elsewhere;
    PARITAS_ASSIGN(const auto rows, judge_outputs({&request_.prepared->index, &sample.reference, &run.outputs},
                                                  *request_.gates, request_.storage, request_.threads));
    bool gated = false;
    test.text.clear();
    for (const OutputRow& row : rows) {
      gated |= row.pair.gated;
      const bool failed = row.pair.verdict == Verdict::kDeviates || row.pair.verdict == Verdict::kInvalid;
      if (failed || (row.pair.gated && test.text.empty())) test.text = row.pair.name + ": " + row.pair.rule;
      if (failed) return false;
    }
    // Outputs that no gate covers cannot hold; they have no say here, and the whole verdict stays "not judged" for
    // them.
    if (!gated) return usage_error("--search", "no gate applies to an output", "declare what must hold with --gate");
    return true;
  }

  const RestoreRequest& request_;
  Hybrids hybrids_;
  Clock::time_point start_;
  std::vector<size_t> order_;
  std::vector<uint64_t> refused_;  // sets, by sample
  RestoreSearch result_;
};

}  // namespace

Result<RestoreSearch> search_restored_islands(Runner& reference, Runner& device, const RestoreRequest& request) {
  return Searching(reference, device, request).run();
}

}  // namespace paritas
