#include "paritas/locate/sensitivity.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "paritas/metrics/pair_metrics.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {
namespace {

using Effect = Sensitivities::Effect;

// Error as a tensor of the reference's type: local minus reference. Elements that are not finite on both sides but equal
// have no error.
Result<Tensor> difference(const Tensor& reference, const Tensor& local) {
  PARITAS_ASSIGN(TensorView x, TensorView::of(reference));
  PARITAS_ASSIGN(TensorView y, TensorView::of(local));
  std::vector<float> delta(x.count());
  std::vector<double> a(4096), b(4096);
  for (uint64_t at = 0; at < x.count(); at += a.size()) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(a.size(), x.count() - at));
    load_as_double(x.dtype(), x.bytes(), at, std::span(a).first(n));
    load_as_double(y.dtype(), y.bytes(), at, std::span(b).first(n));
    for (size_t i = 0; i < n; ++i) delta[at + i] = a[i] == b[i] ? 0.0f : static_cast<float>(b[i] - a[i]);
  }
  return tensor_from_values(DType::kF32, reference.shape, delta);
}

class GroupTesting {
 public:
  GroupTesting(Session& session, const InjectionRequest& request, std::chrono::steady_clock::time_point start)
      : session_(session), request_(request), start_(start) {}

  Result<Sensitivities> run() {
    for (const std::string& tensor : request_.first) {
      if (out_of_time()) return finish(false);
      PARITAS_TRY(inject({tensor}).map([](const Effect&) {}));
    }
    if (out_of_time()) return finish(false);
    PARITAS_ASSIGN(Effect all, inject(request_.tensors));
    result_.all_share = all.share;
    if (all.material()) queue_.push_back(request_.tensors);
    while (!queue_.empty()) {
      auto group = std::move(queue_.front());
      queue_.pop_front();
      if (group.size() == 1) continue;
      const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
      for (auto& half : {std::vector<std::string>(group.begin(), middle), std::vector<std::string>(middle, group.end())}) {
        if (out_of_time()) return finish(false);
        PARITAS_ASSIGN(Effect effect, inject(half));
        if (effect.material()) queue_.push_back(half);
      }
    }
    return finish(true);
  }

 private:
  bool out_of_time() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > request_.seconds;
  }

  Result<Sensitivities> finish(bool complete) {
    result_.complete = complete;
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return std::move(result_);
  }

  Result<Effect> inject(const std::vector<std::string>& tensors) {
    if (tensors.size() == 1)
      if (auto it = result_.alone.find(tensors.front()); it != result_.alone.end()) return it->second;
    NamedTensors perturb;
    for (const std::string& tensor : tensors) {
      PARITAS_ASSIGN(Tensor delta, difference(request_.reference->at(tensor), request_.local->at(tensor)));
      perturb.emplace_back(tensor, std::move(delta));
    }
    PARITAS_ASSIGN(RunReply reply, session_.run(request_.inputs, request_.outputs, perturb));
    ++result_.runs;
    Effect effect;
    for (const auto& [name, tensor] : reply.outputs) {
      PARITAS_ASSIGN(Effect one, effect_on(name, tensor));
      effect.nmse = std::max(effect.nmse, one.nmse);
      effect.share = std::max(effect.share, one.share);
    }
    if (tensors.size() == 1) result_.alone.emplace(tensors.front(), effect);
    return effect;
  }

  Result<Effect> effect_on(const std::string& output, const Tensor& tensor) const {
    PARITAS_ASSIGN(PairMetrics metrics, compare_tensors(request_.reference->at(output), tensor, {}));
    Effect effect;
    effect.nmse = metrics.nonfinite.device_only > 0 ? INFINITY : metrics.nmse;
    // An output that is wrong altogether (NMSE over 1, NaN) is explained by any error that ruins it just as well.
    const double observed = std::min(1.0, request_.observed_nmse.at(output));
    effect.share = observed > 0 ? effect.nmse / observed : 0;
    return effect;
  }

  Session& session_;
  const InjectionRequest& request_;
  std::chrono::steady_clock::time_point start_;
  std::deque<std::vector<std::string>> queue_;
  Sensitivities result_;
};

}  // namespace

Result<Sensitivities> measure_sensitivity(Runner& reference, const InjectionRequest& request) {
  if (request.tensors.empty() || request.outputs.empty()) return Sensitivities{};
  const auto start = std::chrono::steady_clock::now();
  PARITAS_ASSIGN(auto model, make_perturbable(*request.model, request.tensors));
  PARITAS_ASSIGN(Session session, reference.open(model));
  return GroupTesting(session, request, start).run();
}

}  // namespace paritas
