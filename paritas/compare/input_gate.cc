#include "paritas/compare/input_gate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace paritas {
namespace {

struct CodeRange {
  int64_t low, high;
};

std::optional<CodeRange> code_range(DType type) {
  switch (type) {
    case DType::kI8:
      return CodeRange{-128, 127};
    case DType::kU8:
      return CodeRange{0, 255};
    case DType::kI16:
      return CodeRange{-32768, 32767};
    case DType::kU16:
      return CodeRange{0, 65535};
    default:
      return std::nullopt;
  }
}

template <class T>
T rounded(T value, QuantisationRule::Rounding rounding) {
  // nearbyint follows the rounding mode of the process, which is ties to even; round() goes away from zero.
  return rounding == QuantisationRule::Rounding::kTiesAway ? std::round(value) : std::nearbyint(value);
}

template <class T>
double unclamped(float value, const QuantisationRule& rule) {
  const T scaled = static_cast<T>(value) / static_cast<T>(rule.scale);
  const T zero_point = static_cast<T>(rule.zero_point);
  if (rule.zero_point_inside) return static_cast<double>(rounded<T>(scaled + zero_point, rule.rounding));
  return static_cast<double>(rounded<T>(scaled, rule.rounding)) + static_cast<double>(rule.zero_point);
}

struct Difference {
  uint64_t differing = 0;
  int64_t largest = 0;
};

// Codes that the rule makes of the floats, against the recorded codes.
Difference difference(const TensorView& floats, const TensorView& codes, const QuantisationRule& rule) {
  Difference result;
  std::vector<double> x(4096), q(4096);
  for (uint64_t first = 0; first < floats.count(); first += x.size()) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(x.size(), floats.count() - first));
    load_as_double(floats.dtype(), floats.bytes(), first, std::span(x).first(n));
    load_as_double(codes.dtype(), codes.bytes(), first, std::span(q).first(n));
    for (size_t i = 0; i < n; ++i) {
      if (std::isnan(x[i])) {  // no rule makes a code of it
        ++result.differing;
        result.largest = std::max<int64_t>(result.largest, 2);
        continue;
      }
      const int64_t d = quantise(static_cast<float>(x[i]), codes.dtype(), rule) - static_cast<int64_t>(q[i]);
      result.differing += d != 0;
      result.largest = std::max(result.largest, d < 0 ? -d : d);
    }
  }
  return result;
}

std::vector<QuantisationRule> variants(const QuantisationRule& rule) {
  std::vector<QuantisationRule> all;
  for (auto rounding : {QuantisationRule::Rounding::kTiesToEven, QuantisationRule::Rounding::kTiesAway})
    for (bool inside : {false, true})
      for (bool wide : {false, true}) {
        QuantisationRule other = rule;
        other.rounding = rounding;
        other.zero_point_inside = inside;
        other.double_precision = wide;
        all.push_back(other);
      }
  return all;
}

}  // namespace

std::string QuantisationRule::text() const {
  return fmt::format("scale {}, zero point {} {} the rounding, {}, {}", scale, zero_point,
                     zero_point_inside ? "inside" : "outside",
                     rounding == Rounding::kTiesAway ? "ties away from zero" : "ties to even",
                     double_precision ? "float64" : "float32");
}

int64_t quantise(float value, DType type, const QuantisationRule& rule) {
  const CodeRange range = code_range(type).value_or(CodeRange{0, 0});
  const double code = rule.double_precision ? unclamped<double>(value, rule) : unclamped<float>(value, rule);
  if (std::isnan(code)) return range.low;
  return static_cast<int64_t>(std::clamp(code, static_cast<double>(range.low), static_cast<double>(range.high)));
}

Result<QuantisationRule> quantisation_rule_from_json(const Json& json, const std::string& subject) {
  if (!json.is_object()) return usage_error(subject, "a quantisation must be a table");
  QuantisationRule rule;
  for (const auto& [key, value] : json.items()) {
    const auto choice = [&, k = key, v = value](const char* no, const char* yes, bool& flag) -> Status {
      if (v != no && v != yes) return usage_error(subject, fmt::format("{} must be \"{}\" or \"{}\"", k, no, yes));
      flag = v == yes;
      return {};
    };
    if (key == "scale") {
      if (!value.is_number()) return usage_error(subject, "scale must be a number");
      rule.scale = value.get<double>();
    } else if (key == "zero_point") {
      if (!value.is_number_integer()) return usage_error(subject, "zero_point must be a whole number");
      rule.zero_point = value.get<int64_t>();
    } else if (key == "rounding") {
      bool away = false;
      PARITAS_TRY(choice("even", "away", away));
      rule.rounding = away ? QuantisationRule::Rounding::kTiesAway : QuantisationRule::Rounding::kTiesToEven;
    } else if (key == "zero_point_at") {
      PARITAS_TRY(choice("outside", "inside", rule.zero_point_inside));
    } else if (key == "arithmetic") {
      PARITAS_TRY(choice("float32", "float64", rule.double_precision));
    } else {
      return usage_error(subject, fmt::format("unknown key \"{}\"", key),
                         "keys are scale, zero_point, rounding, zero_point_at, arithmetic");
    }
  }
  if (!json.contains("scale")) return usage_error(subject, "scale is missing");
  if (!(rule.scale > 0) || !std::isfinite(rule.scale)) return usage_error(subject, "scale must be positive and finite");
  return rule;
}

Result<QuantisationRule> parse_quantisation_rule(const std::string& text, const std::string& subject) {
  Json json = Json::object();
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    const auto equals = part.find('=');
    if (equals == std::string::npos)
      return usage_error(subject, fmt::format("\"{}\" is not KEY=VALUE", part),
                         "for example: scale=0.0078,zero_point=128");
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key == "scale" || key == "zero_point") {
      double number = 0;
      const auto [stop, code] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (code != std::errc() || stop != value.data() + value.size())
        return usage_error(subject, fmt::format("\"{}\" is not a number", value));
      json[key] = number;
      if (key == "zero_point" && number == std::trunc(number) && std::fabs(number) < 1e15)
        json[key] = static_cast<int64_t>(number);
    } else {
      json[key] = value;
    }
    start = end + 1;
  }
  return quantisation_rule_from_json(json, subject);
}

Result<std::optional<InputAgreement>> compare_quantised_input(const Tensor& reference, const Tensor& device,
                                                              const std::optional<QuantisationRule>& rule,
                                                              const std::optional<Quantisation>& known) {
  const bool device_quantised = is_float(reference.dtype) && code_range(device.dtype).has_value();
  const bool reference_quantised = is_float(device.dtype) && code_range(reference.dtype).has_value();
  if (!device_quantised && !reference_quantised) return std::nullopt;
  QuantisationRule used;
  if (rule) {
    used = *rule;
    const bool contradicts = known && known->scale.size() == 1 && known->zero_point.size() == 1 &&
                             (known->scale[0] != used.scale || known->zero_point[0] != used.zero_point);
    if (contradicts)
      return InputAgreement{false,
                            fmt::format("the declared {} contradicts the recording, which says scale {}, zero point {}",
                                        used.text(), known->scale[0], known->zero_point[0])};
  } else if (known && known->scale.size() == 1 && known->zero_point.size() == 1) {
    used.scale = known->scale[0];
    used.zero_point = known->zero_point[0];
  } else {
    return std::nullopt;
  }
  const auto range = *code_range(device_quantised ? device.dtype : reference.dtype);
  if (used.zero_point < range.low || used.zero_point > range.high)  // all would saturate, and agree
    return InputAgreement{false, fmt::format("the zero point {} is no code of {}", used.zero_point,
                                             name(device_quantised ? device.dtype : reference.dtype))};
  PARITAS_ASSIGN(const TensorView floats, TensorView::of(device_quantised ? reference : device));
  PARITAS_ASSIGN(const TensorView codes, TensorView::of(device_quantised ? device : reference));
  const Difference found = difference(floats, codes, used);
  if (found.differing == 0)
    return InputAgreement{true, fmt::format("equal after quantisation ({}{})", used.text(),
                                            rule ? "" : "; scale and zero point from the recording")};
  std::string text =
      fmt::format("{} of {} elements differ after quantisation ({}), by up to {} step{}", found.differing,
                  floats.count(), used.text(), found.largest, found.largest == 1 ? "" : "s");
  if (found.largest == 1)
    for (const QuantisationRule& other : variants(used))
      if (difference(floats, codes, other).differing == 0) {
        text += fmt::format("; they are equal by another rule: {}: declare that one if it is meant", other.text());
        break;
      }
  return InputAgreement{false, text};
}

}  // namespace paritas
