#include "paritas/explain/value_figures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace paritas {
namespace {

constexpr size_t kChunk = 65536;

double ratio(double error, double energy) {
  if (error == 0) return 0;
  return energy == 0 ? std::numeric_limits<double>::infinity() : error / energy;
}

class Loader {
 public:
  static Result<Loader> of(const RealTensor& tensor) {
    Loader loader;
    PARITAS_ASSIGN(loader.view_, TensorView::of(tensor.tensor));
    loader.affine_ = tensor.affine ? &*tensor.affine : nullptr;
    return loader;
  }
  uint64_t count() const { return view_.count(); }
  std::span<const double> load(uint64_t first) {
    values_.resize(static_cast<size_t>(std::min<uint64_t>(kChunk, count() - first)));
    load_as_double(view_.dtype(), view_.bytes(), first, values_);
    if (affine_ != nullptr) dequantise(*affine_, first, values_);
    return values_;
  }

 private:
  TensorView view_;
  const Affine* affine_ = nullptr;
  std::vector<double> values_;
};

}  // namespace

double TensorQuantiser::lowest() const { return is_signed_integer(type) ? -std::ldexp(1.0, bits(type) - 1) : 0; }
double TensorQuantiser::highest() const {
  return std::ldexp(1.0, is_signed_integer(type) ? bits(type) - 1 : bits(type)) - 1;
}
double TensorQuantiser::code(double real) const {
  return std::clamp(std::nearbyint(real / scale) + zero_point, lowest(), highest());
}
double TensorQuantiser::asked(double min, double max) const {
  min = std::min(min, 0.0);
  max = std::max(max, 0.0);
  if (is_signed_integer(type) && zero_point == 0) return std::max(max, -min) / highest();
  return (max - min) / (highest() - lowest());
}

// 2^20: how many elements it is tuned for, not a limit.
DistributionCounter::DistributionCounter() : histogram_(false, uint64_t{1} << 20) {}

void DistributionCounter::add(std::span<const double> values) {
  std::vector<uint32_t> keys;
  keys.reserve(values.size());
  for (const double value : values) {
    if (!std::isfinite(value)) {
      ++d_.nonfinite;
      continue;
    }
    d_.min = d_.count == 0 ? value : std::min(d_.min, value);
    d_.max = d_.count == 0 ? value : std::max(d_.max, value);
    ++d_.count;
    zeros_ += value == 0;
    const auto bits = static_cast<int64_t>(std::bit_cast<uint64_t>(std::abs(value)) >> metrics::AbsHistogram::kShift);
    const int64_t last = histogram_.bins() - 1;  // beyond float32's range they are counted as its largest
    keys.push_back(static_cast<uint32_t>(std::clamp<int64_t>(bits - histogram_.base(), 0, last)));
  }
  histogram_.count(keys.data(), keys.size());
}

Distribution DistributionCounter::figures() const {
  Distribution d = d_;
  d.max_abs = std::max(std::abs(d.min), std::abs(d.max));
  const auto q = histogram_.quantiles(d.max_abs, zeros_);
  d.p50 = q[0];
  d.p90 = q[1];
  d.p99 = q[2];
  d.p99_9 = q[3];
  return d;
}

void CodeSet::add(double code) {
  if (seen_.empty()) seen_.resize(1 << 17, false);
  const auto index = static_cast<size_t>(code + 65536);  // codes of 16 bits, signed or not
  if (index >= seen_.size() || seen_[index]) return;
  seen_[index] = true;
  ++size_;
}

Status ValueCounter::add(const RealTensor* reference, const RealTensor* device, bool comparable) {
  std::optional<Loader> x, y;
  if (reference != nullptr) {
    PARITAS_ASSIGN(x, Loader::of(*reference));
  }
  if (device != nullptr) {
    PARITAS_ASSIGN(y, Loader::of(*device));
  }
  top_now_ = -std::numeric_limits<double>::infinity();
  at_high_now_ = 0;
  const bool both = x && y && comparable;
  for (uint64_t at = 0; x && at < x->count(); at += kChunk) {
    const auto values = x->load(at);
    if (!errors_only_) add_reference(values);
    if (both) add_error(values, y->load(at));
  }
  if (y && !x && !of_device_ && !errors_only_) of_device_.emplace();
  for (uint64_t at = 0; y && !errors_only_ && at < y->count(); at += kChunk) add_device(y->load(at));
  compared_ |= both;
  if (both && quantiser_ && top_now_ > quantiser_->real(quantiser_->highest()) + quantiser_->scale / 2) {
    ++top_cut_;
    largest_tie_ = std::max(largest_tie_, at_high_now_);
  }
  return {};
}

void ValueCounter::add_reference(std::span<const double> values) {
  if (!of_reference_) of_reference_.emplace();
  of_reference_->add(values);
  if (!quantiser_) return;
  const double low = quantiser_->real(quantiser_->lowest()), high = quantiser_->real(quantiser_->highest());
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    const double d = x - quantiser_->real(quantiser_->code(x));
    const bool clipped = x > high + quantiser_->scale / 2 || x < low - quantiser_->scale / 2;
    energy_ += x * x;
    own_ += d * d;
    if (clipped) clip_ += d * d;
    clipped_ += clipped;
    top_now_ = std::max(top_now_, x);
  }
}

void ValueCounter::add_device(std::span<const double> values) {
  if (of_device_) of_device_->add(values);
  if (!quantiser_) return;
  for (const double y : values) {
    if (!std::isfinite(y)) continue;
    const double code = quantiser_->code(y);  // exact: y is a code's real value
    codes_.add(code);
    ++codes_count_;
    at_low_ += code == quantiser_->lowest();
    at_high_ += code == quantiser_->highest();
    at_high_now_ += code == quantiser_->highest();
  }
}

void ValueCounter::add_error(std::span<const double> reference, std::span<const double> device) {
  for (size_t i = 0; i < reference.size(); ++i) {
    const double x = reference[i], y = device[i];
    ++compared_count_;
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      if (std::isfinite(x)) error_energy_ += x * x;
      continue;
    }
    ++differing_;
    device_nonfinite_ += std::isfinite(x) && !std::isfinite(y);
    if (!std::isfinite(x)) continue;
    error_energy_ += x * x;
    const double d = std::isfinite(y) ? y - x : std::numeric_limits<double>::infinity();
    error_ += d * d;
    max_abs_ = std::max(max_abs_, std::abs(d));
  }
}

void ValueCounter::finish(ValueFigures& f) const {
  if (of_reference_ || of_device_) {
    f.source = of_reference_ ? "reference" : "device";
    f.distribution = of_reference_ ? of_reference_->figures() : of_device_->figures();
  }
  if (compared_)
    f.error = ErrorFigures{compared_count_, differing_, device_nonfinite_, ratio(error_, error_energy_), max_abs_, {}};
  if (!quantiser_) return;
  if (f.error) f.error->max_steps = max_abs_ / quantiser_->scale;
  QuantiserFigures q;
  q.dtype = quantiser_->type;
  q.scale = quantiser_->scale;
  q.zero_point = quantiser_->zero_point;
  q.low = quantiser_->real(quantiser_->lowest());
  q.high = quantiser_->real(quantiser_->highest());
  q.levels = uint64_t{1} << bits(quantiser_->type);
  q.levels_used = codes_.size();
  q.count = codes_count_;
  q.at_low = at_low_;
  q.at_high = at_high_;
  if (of_reference_ && f.distribution->count > 0) {
    q.asked_scale = quantiser_->asked(f.distribution->min, f.distribution->max);
    if (*q.asked_scale > 0) q.ratio = q.scale / *q.asked_scale;
    q.clipped = clipped_;
    q.own_nmse = ratio(own_, energy_);
    q.clip_nmse = ratio(clip_, energy_);
    q.top_cut_samples = top_cut_;
    q.largest_tie = largest_tie_;
  }
  f.quantiser = q;
}

Status SharedCounter::add(const RealTensor& tensor) {
  PARITAS_ASSIGN(Loader loader, Loader::of(tensor));
  for (uint64_t at = 0; at < loader.count(); at += kChunk) {
    const auto values = loader.load(at);
    distribution_.add(values);
    for (const double x : values) {
      if (!std::isfinite(x)) continue;
      const double code = quantiser_.code(x), d = x - quantiser_.real(code);
      codes_.add(code);
      energy_ += x * x;
      error_ += d * d;
    }
  }
  return {};
}

SharedScale SharedCounter::figures() const {
  const Distribution d = distribution_.figures();
  return {{}, codes_.size(), d.min, d.max, quantiser_.asked(d.min, d.max), ratio(error_, energy_), {}};
}

}  // namespace paritas
