// What users write for --at.
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "paritas/locate/inject.h"

namespace paritas {
namespace {

Unexpected bad(const std::string& text, const std::string& cause) {
  return usage_error(
      text, cause,
      "write TENSOR: MODE with local, difference*F, accumulated*F, round(float16), noise(NMSE) or offset(V)");
}

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// "name(argument)" -> argument
std::optional<std::string> argument_of(const std::string& mode, std::string_view name) {
  if (mode.rfind(std::string(name) + "(", 0) != 0 || mode.back() != ')') return std::nullopt;
  return trimmed(mode.substr(name.size() + 1, mode.size() - name.size() - 2));
}

// "name" or "name*factor"
std::optional<Result<double>> factor_of(const std::string& mode, const std::string& name, const std::string& text) {
  if (mode == name) return 1.0;
  if (mode.rfind(name + "*", 0) != 0) return std::nullopt;
  const auto factor = number_in(trimmed(mode.substr(name.size() + 1)));
  if (!factor) return Result<double>(bad(text, fmt::format("\"{}\" has no number behind the *", mode)));
  return *factor;
}

Status read_noise(const std::string& argument, Injection& injection) {
  const auto comma = argument.find(',');
  const auto nmse = number_in(trimmed(argument.substr(0, comma)));
  if (!nmse || *nmse < 0) return bad(injection.text, "noise needs its NMSE, a number of 0 or more");
  injection.amount = *nmse;
  if (comma == std::string::npos) return {};
  const std::string seed = trimmed(argument.substr(comma + 1));
  const auto value = seed.rfind("seed ", 0) == 0 ? number_in(trimmed(seed.substr(5))) : std::nullopt;
  if (!value || *value < 0 || *value != std::floor(*value) || *value > 0x1p53)
    return bad(injection.text, fmt::format("\"{}\" is no seed; write noise(1e-4, seed 7)", seed));
  injection.seed = static_cast<uint64_t>(*value);
  return {};
}

Status read_mode(const std::string& mode, Injection& injection) {
  for (const auto& [word, what] : {std::pair("local", InjectionMode::kLocal),
                                   {"difference", InjectionMode::kDifference},
                                   {"accumulated", InjectionMode::kAccumulated}}) {
    const auto factor = factor_of(mode, word, injection.text);
    if (!factor) continue;
    PARITAS_ASSIGN(injection.amount, *factor);
    if (what == InjectionMode::kLocal && injection.amount != 1)
      return bad(injection.text, "the local result has no factor; its error has: difference*F");
    injection.mode = what;
    return {};
  }
  if (const auto format = argument_of(mode, "round")) {
    const auto dtype = dtype_from_name(*format == "fp16" ? "float16" : *format == "bf16" ? "bfloat16" : *format);
    if (!dtype || !is_float(*dtype)) return bad(injection.text, fmt::format("\"{}\" is no float format", *format));
    injection.mode = InjectionMode::kRound;
    injection.format = *dtype;
    return {};
  }
  if (const auto argument = argument_of(mode, "noise")) {
    injection.mode = InjectionMode::kNoise;
    return read_noise(*argument, injection);
  }
  if (const auto argument = argument_of(mode, "offset")) {
    const auto value = number_in(*argument);
    if (!value) return bad(injection.text, fmt::format("\"{}\" is no offset", *argument));
    injection.mode = InjectionMode::kOffset;
    injection.amount = *value;
    return {};
  }
  return bad(injection.text, fmt::format("\"{}\" is no mode", mode));
}

}  // namespace

Result<Injection> parse_injection(const std::string& text) {
  Injection injection;
  injection.text = text;
  const auto colon = text.rfind(": ");
  if (colon == std::string::npos) return bad(text, "no \": \" between tensor and mode");
  injection.tensors = trimmed(text.substr(0, colon));
  const std::string mode = trimmed(text.substr(colon + 2));
  if (injection.tensors.empty() || mode.empty()) return bad(text, "tensor or mode is missing");
  PARITAS_TRY(read_mode(mode, injection));
  return injection;
}

}  // namespace paritas
