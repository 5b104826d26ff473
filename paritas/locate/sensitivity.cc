#include "paritas/locate/sensitivity.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_set>

#include "paritas/locate/error_tensor.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {
namespace {

using Effect = Sensitivities::Effect;
using Names = std::vector<std::string>;

// A network with more independent culprits than this is broken everywhere; the first ones are what matters.
constexpr int kMaxCulprits = 12;

// The errors of all candidates, computed once and kept in one scratch file.
class Errors {
 public:
  static Result<Errors> make(const InjectionRequest& request) {
    constexpr uint64_t kAlignment = 64;
    static constexpr std::byte kPadding[kAlignment] = {};
    const Path path = request.scratch / "errors.bin";
    PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, true));
    std::vector<std::pair<std::string, uint64_t>> offsets;
    for (const std::string& tensor : request.candidates.all) {
      PARITAS_ASSIGN(Tensor delta, error_of(request.reference->at(tensor), request.local->at(tensor), request.storage));
      PARITAS_TRY(file.write(std::span(kPadding).first((kAlignment - file.written() % kAlignment) % kAlignment)));
      offsets.emplace_back(tensor, file.written());
      PARITAS_ASSIGN(const TensorView view, TensorView::of(delta));
      PARITAS_TRY(file.write(view.bytes()));
    }
    PARITAS_TRY(file.commit());
    PARITAS_ASSIGN(auto opened, File::open(path));
    Errors errors;
    for (const auto& [tensor, offset] : offsets) {
      const Tensor& like = request.reference->at(tensor);
      errors.tensors_[tensor] = {like.dtype, like.shape, Bytes::in_file(opened, offset, like.bytes.size())};
    }
    return errors;
  }
  const Tensor& of(const std::string& tensor) const { return tensors_.at(tensor); }

 private:
  std::unordered_map<std::string, Tensor> tensors_;
};

class GroupTesting {
 public:
  GroupTesting(Session& session, const InjectionRequest& request, const Errors& errors,
               std::chrono::steady_clock::time_point start)
      : session_(session), request_(request), errors_(errors), start_(start) {
    for (const auto& target : request.targets) fetch_.push_back(target.tensor);
  }

  Result<Sensitivities> run() {
    PARITAS_ASSIGN(result_.complete, test_all());
    result_.seconds = elapsed();
    return std::move(result_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  bool out_of_time() const {
    return request_.max_runs ? result_.runs >= *request_.max_runs : elapsed() > request_.seconds;
  }

  // False when the budget ran out.
  Result<bool> test_all() {
    if (!request_.find_culprits) return test_each(request_.largest);
    PARITAS_ASSIGN(const Effect all, inject(request_.candidates.all));
    result_.all_share = all.share;
    PARITAS_ASSIGN(bool done, find_culprits());
    if (!done) return false;
    PARITAS_ASSIGN(done, join_suspects());
    // What is left of the budget goes into figures for conspicuous nodes: mostly acquittals.
    for (const Names* list : {&request_.candidates.first, &request_.largest}) PARITAS_TRY(test_each(*list));
    return done;
  }

  // False when the budget ran out.
  Result<bool> test_each(const Names& tensors) {
    for (const std::string& tensor : tensors) {
      if (out_of_time()) return false;
      PARITAS_TRY(alone(tensor));
    }
    return true;
  }

  // The first culprit in graph order is the last tensor of the shortest prefix whose errors, all added, are material:
  // about log2(n) runs. Then the same behind it.
  Result<bool> find_culprits() {
    Names rest = request_.candidates.all;
    for (int found = 0; found < kMaxCulprits && !rest.empty(); ++found) {
      if (out_of_time()) return false;
      PARITAS_ASSIGN(const Effect together, inject(rest));
      result_.rest_share = together.share;
      if (!together.material()) return true;
      size_t low = 0, high = rest.size();  // the prefix of `low` is not material, that of `high` is
      while (high - low > 1) {
        if (out_of_time()) return false;
        const size_t middle = low + (high - low) / 2;
        PARITAS_ASSIGN(const Effect effect,
                       inject(Names(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(middle))));
        (effect.material() ? high : low) = middle;
      }
      // Not material alone: many small errors had added up to here. What lies before stays out of the next search as
      // well.
      PARITAS_TRY(alone(rest[high - 1]));
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(high));
    }
    return true;
  }

  // Range suspects in front of a culprit belong to it even when they cost little alone.
  Result<bool> join_suspects() {
    const auto& c = request_.candidates;
    const std::unordered_set<std::string> suspects(c.suspects.begin(), c.suspects.end());
    const std::unordered_set<std::string> overflowing(c.overflowing.begin(), c.overflowing.end());
    Names queue;
    for (const auto& [tensor, effect] : result_.alone)
      if (effect.material()) queue.push_back(tensor);
    std::unordered_set<std::string> seen(queue.begin(), queue.end());
    while (!queue.empty()) {
      const std::string tensor = std::move(queue.back());
      queue.pop_back();
      const int producer = request_.index->producer(tensor);
      if (producer < 0) continue;
      for (const std::string& input : request_.index->nodes()[static_cast<size_t>(producer)].inputs) {
        if (!seen.insert(input).second) continue;
        if (suspects.count(input) != 0) {
          if (out_of_time()) return false;
          PARITAS_ASSIGN(const Effect effect, alone(input));
          if (effect.nmse < kJoiningNmse && overflowing.count(input) == 0) continue;
          if (!effect.material()) result_.alone[input].joins = true;
          queue.push_back(input);
        } else if (const int before = request_.index->producer(input);
                   before >= 0 && moves_data(request_.index->nodes()[static_cast<size_t>(before)].op)) {
          queue.push_back(input);
        }
      }
    }
    return true;
  }

  Result<Effect> alone(const std::string& tensor) {
    if (auto it = result_.alone.find(tensor); it != result_.alone.end()) return it->second;
    PARITAS_ASSIGN(const Effect effect, inject({tensor}));
    result_.alone.emplace(tensor, effect);
    return effect;
  }

  Result<Effect> inject(const Names& tensors) {
    NamedTensors errors;
    for (const std::string& tensor : tensors) errors.emplace_back(tensor, errors_.of(tensor));
    PARITAS_ASSIGN(RunReply reply, session_.run_with_errors(request_.inputs, fetch_, errors));
    ++result_.runs;
    Effect effect;
    for (size_t i = 0; i < reply.outputs.size(); ++i) {
      const auto& target = request_.targets[i];
      PARITAS_ASSIGN(PairMetrics m,
                     compare_tensors(request_.reference->at(target.tensor), reply.outputs[i].second, {}));
      const double nmse = m.nonfinite.device_only > 0 ? INFINITY : m.nmse;
      effect.nmse = std::max(effect.nmse, nmse);
      // A target that is wrong altogether (NMSE over 1, NaN) is explained by any error that ruins it just as well.
      const double observed = std::min(1.0, target.observed_nmse);
      if (observed > 0) effect.share = std::max(effect.share, nmse / observed);
    }
    return effect;
  }

  Session& session_;
  const InjectionRequest& request_;
  const Errors& errors_;
  std::chrono::steady_clock::time_point start_;
  Names fetch_;
  Sensitivities result_;
};

// Keeps the errors within the memory budget: if those of all nodes do not fit, the conspicuous ones that do.
bool limit_candidates(InjectionRequest& request) {
  auto bytes = [&](const Names& tensors) {
    uint64_t sum = 0;
    for (const std::string& tensor : tensors) sum += request.reference->at(tensor).bytes.size();
    return sum;
  };
  Candidates& c = request.candidates;
  if (bytes(c.all) <= request.memory_budget) return false;
  while (!c.first.empty() && bytes(c.first) > request.memory_budget) c.first.pop_back();
  c.all = c.first;
  const std::unordered_set<std::string> kept(c.all.begin(), c.all.end());
  for (Names* list : {&c.suspects, &c.overflowing, &request.largest})
    std::erase_if(*list, [&](const std::string& tensor) { return kept.count(tensor) == 0; });
  return true;
}

}  // namespace

Result<Sensitivities> measure_sensitivity(Runner& reference, InjectionRequest request) {
  const auto start = std::chrono::steady_clock::now();
  const bool limited = limit_candidates(request);
  if (request.candidates.all.empty() || request.targets.empty()) {
    Sensitivities none;
    none.complete = !request.find_culprits;  // nothing was to be found out
    return none;
  }
  Names targets;
  for (const auto& target : request.targets) targets.push_back(target.tensor);
  PARITAS_ASSIGN(auto marked, onnx_model::mark_outputs(*request.model, targets));
  PARITAS_ASSIGN(auto model, make_perturbable(marked, request.candidates.all));
  PARITAS_ASSIGN(Session session, reference.open(model));
  PARITAS_ASSIGN(const Errors errors, Errors::make(request));
  PARITAS_ASSIGN(Sensitivities result, GroupTesting(session, request, errors, start).run());
  result.limited = limited;
  return result;
}

}  // namespace paritas
