#include "paritas/project/size_probe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/runtime/inputs.h"
#include "paritas/runtime/runner.h"

namespace paritas {
namespace {

// A coordinate counts as doubled or unmoved within this share of itself: float32 postprocessing is far closer, and 1
// and 2 are far apart.
constexpr double kSame = 0.01;
constexpr double kNearlyAll = 0.95;   // of the coordinates must agree: boxes clipped to a fixed border do not move
constexpr double kLargest = 4194304;  // size values beyond could lose digits when doubled

Result<std::vector<double>> numbers(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
}

bool is_x(BoxFormat format, size_t coordinate) { return (coordinate % 2 == 0) != (format == BoxFormat::kYxyx); }

SizeResponse respond(const std::vector<double>& plain, const std::vector<double>& doubled, BoxFormat format) {
  double largest = 0;
  for (double value : plain)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  SizeResponse share;
  uint64_t x = 0, y = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    // Next to 0, rounding decides the ratio.
    if (!std::isfinite(plain[i]) || !std::isfinite(doubled[i]) || std::fabs(plain[i]) < 1e-3 * largest || largest == 0)
      continue;
    const double ratio = doubled[i] / plain[i];
    const bool of_x = is_x(format, i % 4);
    ++(of_x ? x : y);
    (of_x ? share.x_doubled : share.y_doubled) += std::fabs(ratio - 2) <= 2 * kSame;
    (of_x ? share.x_stayed : share.y_stayed) += std::fabs(ratio - 1) <= kSame;
  }
  if (x > 0) share.x_doubled /= static_cast<double>(x), share.x_stayed /= static_cast<double>(x);
  if (y > 0) share.y_doubled /= static_cast<double>(y), share.y_stayed /= static_cast<double>(y);
  return share;
}

bool only_x(const SizeResponse& r) { return r.x_doubled >= kNearlyAll && r.y_stayed >= kNearlyAll; }
bool only_y(const SizeResponse& r) { return r.y_doubled >= kNearlyAll && r.x_stayed >= kNearlyAll; }

std::string in_words(const SizeResponse& r) {
  if (only_x(r)) return "x alone";
  if (only_y(r)) return "y alone";
  if (r.x_doubled >= kNearlyAll && r.y_doubled >= kNearlyAll) return "x and y";
  if (r.x_stayed >= kNearlyAll && r.y_stayed >= kNearlyAll) return "nothing";
  return fmt::format("x of {:.0f} % and y of {:.0f} % of the boxes", 100 * r.x_doubled, 100 * r.y_doubled);
}

std::string layout_text(const std::string& order) { return order == "wh" ? "[width, height]" : "[height, width]"; }

void judge(SizeProbeResult& result) {
  if (result.declared.empty() || result.found == result.declared) return;
  if (result.found.empty()) {
    result.verdict = Verdict::kNotJudged;
    result.text += fmt::format("; declared is {}", layout_text(result.declared));
    return;
  }
  result.verdict = Verdict::kInvalid;
  result.text += fmt::format(", but {} is declared", layout_text(result.declared));
}

// Width and height of the first run: those given, made unequal if need be.
Result<std::vector<int64_t>> unequal_size(const Tensor& given, const std::string& subject) {
  if (given.count() != 2 || (!is_integer(given.dtype) && given.dtype != DType::kF32 && given.dtype != DType::kF64))
    return input_error(
        subject, fmt::format("the size input is {} {}, not two numbers", name(given.dtype), to_string(given.shape)),
        "the probe takes a size input of two elements (batch 1)");
  PARITAS_ASSIGN(const std::vector<double> values, numbers(given));
  for (double value : values)
    if (!(value >= 2 && value <= kLargest) || value != std::floor(value))
      return input_error(subject, fmt::format("the size input holds {}, which is no size in pixels", value));
  std::vector<int64_t> size = {static_cast<int64_t>(values[0]), static_cast<int64_t>(values[1])};
  if (size[0] == size[1]) size[1] += size[1] / 2;
  return size;
}

template <class T>
Tensor two(const Tensor& like, const std::vector<int64_t>& size) {
  return tensor_from_values(like.dtype, like.shape, std::vector<T>{static_cast<T>(size[0]), static_cast<T>(size[1])});
}

Result<Tensor> size_tensor(const Tensor& like, const std::vector<int64_t>& size, const std::string& subject) {
  switch (like.dtype) {
    case DType::kI64:
      return two<int64_t>(like, size);
    case DType::kI32:
      return two<int32_t>(like, size);
    case DType::kF32:
      return two<float>(like, size);
    case DType::kF64:
      return two<double>(like, size);
    default:
      return input_error(subject, fmt::format("a size input of type {} cannot hold a doubled size", name(like.dtype)));
  }
}

}  // namespace

Status conclude_size_probe(const Tensor& plain, const Tensor& first, const Tensor& second, BoxFormat format,
                           SizeProbeResult& result) {
  const std::string subject = fmt::format("size-probe of \"{}\"", result.boxes);
  if (plain.shape.empty() || plain.shape.back() != 4 || plain.count() == 0 || !is_float(plain.dtype))
    return input_error(subject, fmt::format("the boxes are {} {}, not rows of four numbers", name(plain.dtype),
                                            to_string(plain.shape)));
  if (first.shape != plain.shape || second.shape != plain.shape) {
    result.text = "the number of boxes depends on the size input: the order cannot be told";
    judge(result);
    return {};
  }
  PARITAS_ASSIGN(const auto values, numbers(plain));
  PARITAS_ASSIGN(const auto values_first, numbers(first));
  PARITAS_ASSIGN(const auto values_second, numbers(second));
  result.boxes_used = values.size() / 4;
  result.first = respond(values, values_first, format);
  result.second = respond(values, values_second, format);
  if (only_x(result.first) && only_y(result.second)) result.found = "wh";
  if (only_y(result.first) && only_x(result.second)) result.found = "hw";
  const std::string what = fmt::format("doubling the first element of \"{}\" doubles {}, the second {}", result.input,
                                       in_words(result.first), in_words(result.second));
  result.text = result.found.empty() ? what + ": the order cannot be told"
                                     : fmt::format("{}: the model reads {}", what, layout_text(result.found));
  judge(result);
  return {};
}

Result<SizeProbeResult> probe_size(const SizeProbeRequest& request, const std::string& subject) {
  SizeProbeResult result;
  result.input = request.step.input;
  result.boxes = request.step.boxes;
  result.declared = request.step.order;
  NamedTensors inputs = request.inputs;
  auto given =
      std::find_if(inputs.begin(), inputs.end(), [&](const auto& entry) { return entry.first == result.input; });
  if (given == inputs.end()) return input_error(subject, fmt::format("there is no input \"{}\"", result.input));
  const Tensor like = given->second;
  PARITAS_ASSIGN(result.size, unequal_size(like, subject));

  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request.model));
  PARITAS_ASSIGN(const auto pinned, pin_to_inputs(model, inputs, request.dims, nullptr));
  PARITAS_ASSIGN(Runner runner, Runner::start(request.target, request.worker));
  PARITAS_ASSIGN(Session session, runner.open(pinned));
  const std::vector<std::vector<int64_t>> sizes = {
      result.size, {2 * result.size[0], result.size[1]}, {result.size[0], 2 * result.size[1]}};
  std::vector<Tensor> boxes;
  for (const auto& size : sizes) {
    PARITAS_ASSIGN(given->second, size_tensor(like, size, subject));
    PARITAS_ASSIGN(RunReply reply, session.run(inputs, {result.boxes}));
    if (reply.outputs.size() != 1)
      return input_error(subject, fmt::format("the model gave no output \"{}\"", result.boxes));
    boxes.push_back(std::move(reply.outputs.front().second));
  }
  PARITAS_TRY(conclude_size_probe(boxes[0], boxes[1], boxes[2], request.step.format, result));
  return result;
}

}  // namespace paritas
