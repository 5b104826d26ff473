#include "paritas/explain/weight_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "paritas/recording/quantisation.h"

namespace paritas {
namespace {

constexpr size_t kChunk = 65536;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double decibels(double energy, double error) {
  if (error == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(energy / error);
}

// Real values of a weight, block by block, with its codes.
struct Source {
  std::optional<TensorView> view;
  std::optional<Affine> affine;
  std::vector<double> codes, real;

  static Result<Source> of(const Weight& weight) {
    Source source;
    PARITAS_ASSIGN(source.view, TensorView::of(weight.tensor));
    if (weight.quantisation) {
      PARITAS_ASSIGN(source.affine, affine_of(*weight.quantisation, weight.tensor.shape, weight.name));
    }
    return source;
  }
  void load(uint64_t first, size_t count) {
    codes.resize(count);
    load_as_double(view->dtype(), view->bytes(), first, codes);
    real = codes;
    if (affine) dequantise(*affine, first, real);
  }
};

struct Channel {
  double max_abs = 0, energy = 0, error = 0;
  bool dead = true, float_zero = true;
};

// Element i belongs to channel (i / inner) % count.
struct Channels {
  uint64_t inner = 1;
  int axis = 0;
  std::vector<Channel> list;
};

std::optional<Channels> channels_of(const Weight& weight, std::optional<int> axis) {
  if (weight.quantisation && weight.quantisation->scale.size() > 1) axis = weight.quantisation->axis;
  const int rank = static_cast<int>(weight.tensor.shape.size());
  if (rank == 1) axis = 0;  // a bias has one value a channel
  if (!axis) return std::nullopt;
  Channels result;
  result.axis = *axis < 0 ? *axis + rank : *axis;
  if (result.axis < 0 || result.axis >= rank) return std::nullopt;
  result.list.resize(static_cast<size_t>(weight.tensor.shape[static_cast<size_t>(result.axis)]));
  for (int i = result.axis + 1; i < rank; ++i)
    result.inner *= static_cast<uint64_t>(weight.tensor.shape[static_cast<size_t>(i)]);
  if (result.list.empty() || result.inner == 0) return std::nullopt;
  return result;
}

std::pair<double, double> limits(DType dtype) {
  const int n = bits(dtype);
  if (is_signed_integer(dtype)) return {-std::ldexp(1.0, n - 1), std::ldexp(1.0, n - 1) - 1};
  return {0, std::ldexp(1.0, n) - 1};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void conclude(const Channels& channels, WeightFigures& f) {
  ChannelFigures c;
  c.axis = channels.axis;
  c.count = channels.list.size();
  std::vector<double> ranges, errors;
  for (size_t i = 0; i < channels.list.size(); ++i) {
    const Channel& channel = channels.list[i];
    ranges.push_back(channel.max_abs);
    c.dead += channel.dead;
    if (!f.error || channel.float_zero) continue;
    f.error->dead_channels += channel.dead;
    const double db = decibels(channel.energy, channel.error);
    errors.push_back(db);
    if (f.error->worst_channel_db && *f.error->worst_channel_db <= db) continue;
    f.error->worst_channel_db = db;
    f.error->worst_channel = static_cast<int64_t>(i);
  }
  c.smallest = *std::min_element(ranges.begin(), ranges.end());
  c.largest = *std::max_element(ranges.begin(), ranges.end());
  c.median = median(std::move(ranges));
  c.spread = c.largest == 0 ? 1 : c.largest / c.median;
  if (!errors.empty()) f.error->median_channel_db = median(std::move(errors));
  f.channels = c;
}

std::string type_text(const Weight& weight) {
  std::string text(name(weight.tensor.dtype));
  if (!weight.quantisation) return text;
  if (weight.quantisation->scale.size() == 1) return text + " per tensor";
  return text + fmt::format(" per channel ({}, axis {})", weight.quantisation->scale.size(),
                            weight.quantisation->axis.value_or(0));
}

}  // namespace

Result<WeightFigures> weight_figures(const Weight& weight, const Weight* floating, std::optional<int> axis) {
  WeightFigures f;
  f.name = weight.name;
  f.type = type_text(weight);
  f.shape = weight.tensor.shape;
  f.quantised = weight.quantisation.has_value();
  f.elements = weight.tensor.count();
  f.min = f.max = kNone;
  std::optional<Channels> channels = channels_of(weight, axis);
  PARITAS_ASSIGN(Source stored, Source::of(weight));
  std::optional<Source> exact;
  if (floating != nullptr && floating->tensor.shape == weight.tensor.shape) {
    PARITAS_ASSIGN(exact, Source::of(*floating));
    f.error.emplace();
  }
  const auto [lowest, highest] = limits(weight.tensor.dtype);
  double energy = 0, error = 0;
  Channel whole;
  for (uint64_t at = 0; at < f.elements; at += kChunk) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(kChunk, f.elements - at));
    stored.load(at, count);
    if (exact) exact->load(at, count);
    for (size_t i = 0; i < count; ++i) {
      const double y = stored.real[i];
      if (std::isnan(f.min) || y < f.min) f.min = y;
      if (std::isnan(f.max) || y > f.max) f.max = y;
      f.zero += y == 0;
      f.saturated += f.quantised && (stored.codes[i] <= lowest || stored.codes[i] >= highest);
      Channel& channel = channels ? channels->list[(at + i) / channels->inner % channels->list.size()] : whole;
      channel.max_abs = std::max(channel.max_abs, std::abs(y));
      channel.dead = channel.dead && y == 0;
      if (!exact) continue;
      const double x = exact->real[i], d = x - y;
      channel.energy += x * x;
      channel.error += d * d;
      channel.float_zero = channel.float_zero && x == 0;
      energy += x * x;
      error += d * d;
      f.error->lost += x != 0 && y == 0;
      f.error->max_abs = std::max(f.error->max_abs, std::abs(d));
    }
  }
  if (f.error) f.error->sqnr_db = decibels(energy, error);
  if (channels) conclude(*channels, f);
  return f;
}

}  // namespace paritas
