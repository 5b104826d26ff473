#include "paritas/judge/gates.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/base/sha256.h"
#include "paritas/judge/metric_table.h"
#include "paritas/judge/toml.h"

namespace paritas {
namespace {

struct OpName {
  GateOp op;
  std::string_view text;
  std::string_view opposite;  // shown when the gate failed
};
// Two-character operators first, so that a prefix search finds the longest.
constexpr OpName kOps[] = {{GateOp::kLessEqual, "<=", ">"},
                           {GateOp::kGreaterEqual, ">=", "<"},
                           {GateOp::kEqual, "==", "!="},
                           {GateOp::kLess, "<", ">="},
                           {GateOp::kGreater, ">", "<="}};

const OpName& entry(GateOp op) {
  return *std::find_if(std::begin(kOps), std::end(kOps), [op](const OpName& o) { return o.op == op; });
}

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string known_metrics() {
  std::string list;
  for (const MetricName& metric : metric_names()) {
    if (!list.empty()) list += ", ";
    list += metric.name;
  }
  return list;
}

Status check_gate(const Gate& gate, const std::string& subject) {
  if (gate.tensor.empty()) return usage_error(subject, "a gate needs the name of a tensor");
  if (!is_metric(gate.metric))
    return usage_error(subject, fmt::format("\"{}\" is not a metric", gate.metric), "use one of: " + known_metrics());
  if (!std::isfinite(gate.value)) return usage_error(subject, "the threshold of a gate must be a finite number");
  const bool tolerance = gate.atol || gate.rtol;
  if (gate.metric == "outside" && !tolerance)
    return usage_error(subject, "a gate on \"outside\" needs atol, rtol or both",
                       "for example: 'scores: outside<=0, atol=1e-5, rtol=1e-5'");
  if (gate.metric != "outside" && tolerance)
    return usage_error(subject,
                       fmt::format("atol and rtol belong to a gate on \"outside\", not on \"{}\"", gate.metric));
  for (auto value : {gate.atol, gate.rtol})
    if (value && !(*value >= 0 && std::isfinite(*value)))
      return usage_error(subject, "atol and rtol must be finite and not negative");
  return {};
}

std::optional<double> toml_number(const toml::node* node) {
  if (node == nullptr) return std::nullopt;
  if (node->is_integer()) return static_cast<double>(**node->as_integer());
  if (node->is_floating_point()) return **node->as_floating_point();
  return std::nullopt;
}

Result<Gate> gate_from_toml(const toml::table& table, const std::string& subject, size_t number) {
  const std::string where = fmt::format("gate {}", number);
  Gate gate;
  gate.origin = fmt::format("{}, {}", subject, where);
  for (const auto& [key, value] : table) {
    const std::string_view k = key.str();
    if (k == "tensor" || k == "metric" || k == "op") {
      auto text = value.value_exact<std::string>();
      if (!text) return usage_error(subject, fmt::format("{}: \"{}\" must be a text", where, k));
      if (k == "tensor") gate.tensor = *text;
      if (k == "metric") gate.metric = *text;
      if (k == "op") {
        auto it = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpName& o) { return o.text == *text; });
        if (it == std::end(kOps))
          return usage_error(subject, fmt::format("{}: op \"{}\" is not one of < <= == >= >", where, *text));
        gate.op = it->op;
      }
    } else if (k == "value" || k == "atol" || k == "rtol") {
      auto number_value = toml_number(&value);
      if (!number_value) return usage_error(subject, fmt::format("{}: \"{}\" must be a number", where, k));
      if (k == "value") gate.value = *number_value;
      if (k == "atol") gate.atol = number_value;
      if (k == "rtol") gate.rtol = number_value;
    } else {
      return usage_error(subject, fmt::format("{}: unknown key \"{}\"", where, k),
                         "keys are tensor, metric, op, value, atol, rtol");
    }
  }
  for (const char* needed : {"tensor", "metric", "op", "value"})
    if (!table.contains(needed)) return usage_error(subject, fmt::format("{}: \"{}\" is missing", where, needed));
  PARITAS_TRY(check_gate(gate, fmt::format("{}, {}", subject, where)));
  return gate;
}

// "atol=1e-5" behind the condition of an inline gate.
Status parse_tolerance(const std::string& part, const std::string& subject, Gate& gate) {
  const auto equals = part.find('=');
  const std::string key = equals == std::string::npos ? part : trim(part.substr(0, equals));
  auto number = equals == std::string::npos ? std::nullopt : parse_number(trim(part.substr(equals + 1)));
  if ((key != "atol" && key != "rtol") || !number)
    return usage_error(subject, fmt::format("\"{}\" is not understood", part), "write atol=NUMBER or rtol=NUMBER");
  (key == "atol" ? gate.atol : gate.rtol) = number;
  return {};
}

}  // namespace

std::string_view name(GateOp op) { return entry(op).text; }

std::string Gate::text() const {
  std::string text = fmt::format("{}: {} {} {}", tensor, metric, name(op), value);
  if (atol) text += fmt::format(", atol={}", *atol);
  if (rtol) text += fmt::format(", rtol={}", *rtol);
  return text;
}

bool Gate::matches(const std::string& tensor_name) const {
  return tensor == tensor_name || glob_match(tensor, tensor_name);
}

std::vector<const Gate*> GateSet::for_tensor(const std::string& tensor) const {
  std::vector<const Gate*> found;
  for (const Gate& gate : gates)
    if (gate.matches(tensor)) found.push_back(&gate);
  return found;
}

Status GateSet::configure(const std::string& tensor, MetricOptions& options) const {
  const Gate* tolerance = nullptr;
  for (const Gate* gate : for_tensor(tensor)) {
    if (gate->metric.rfind("abs_p", 0) == 0) options.quantiles = true;
    if (gate->metric != "outside") continue;
    if (tolerance != nullptr && (tolerance->atol != gate->atol || tolerance->rtol != gate->rtol))
      return usage_error(gate->origin,
                         fmt::format("\"{}\" has two gates on \"outside\" with different tolerances", tensor),
                         "keep one of them");
    tolerance = gate;
    options.atol = gate->atol;
    options.rtol = gate->rtol;
  }
  return {};
}

Result<Gate> parse_gate(const std::string& text) {
  const std::string subject = fmt::format("--gate '{}'", text);
  const std::string example = "write it like 'scores: cosine>=0.99'";
  // The condition is what follows the last ": " or ':' (names may hold colons: "output:0: cosine>=0.99").
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return usage_error(subject, "no colon between tensor and condition", example);
  Gate gate;
  gate.origin = "--gate";
  gate.tensor = trim(text.substr(0, colon));
  std::string condition = text.substr(colon + 1);
  std::vector<std::string> parts;
  for (size_t start = 0; start <= condition.size();) {
    const auto comma = std::min(condition.find(',', start), condition.size());
    parts.push_back(trim(condition.substr(start, comma - start)));
    start = comma + 1;
  }
  bool found = false;
  for (const OpName& op : kOps) {
    const auto at = parts[0].find(op.text);
    if (at == std::string::npos) continue;
    auto number = parse_number(trim(parts[0].substr(at + op.text.size())));
    if (!number) return usage_error(subject, "the threshold is not a number", example);
    gate.metric = trim(parts[0].substr(0, at));
    gate.op = op.op;
    gate.value = *number;
    found = true;
    break;
  }
  if (!found) return usage_error(subject, "no condition such as cosine>=0.99", example);
  for (size_t i = 1; i < parts.size(); ++i) PARITAS_TRY(parse_tolerance(parts[i], subject, gate));
  PARITAS_TRY(check_gate(gate, subject));
  return gate;
}

Result<GateSet> parse_gates_toml(const std::string& text, const std::string& subject) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return usage_error(subject, fmt::format("not valid TOML at line {}: {}", parsed.error().source().begin.line,
                                            parsed.error().description()));
  const toml::table table = std::move(parsed).table();
  GateSet set;
  for (const auto& [key, value] : table) {
    if (key.str() == "gate" && value.is_array_of_tables()) continue;
    if (key.str() == "nonfinite") {
      const auto policy = value.value_exact<std::string>().value_or("");
      if (policy == "forbid")
        set.nonfinite = NonfinitePolicy::kForbid;
      else if (policy == "same-inf")
        set.nonfinite = NonfinitePolicy::kSameInf;
      else if (policy == "equal")
        set.nonfinite = NonfinitePolicy::kEqual;
      else
        return usage_error(subject, "nonfinite must be \"forbid\", \"same-inf\" or \"equal\"");
      continue;
    }
    return usage_error(subject, fmt::format("unknown key \"{}\"", key.str()), "write gates as [[gate]] tables");
  }
  if (const toml::array* gates = table["gate"].as_array()) {
    for (size_t i = 0; i < gates->size(); ++i) {
      PARITAS_ASSIGN(Gate gate, gate_from_toml(*(*gates)[i].as_table(), subject, i + 1));
      set.gates.push_back(std::move(gate));
    }
  }
  if (set.gates.empty()) return usage_error(subject, "declares no gate", "add a [[gate]] table, or leave the file out");
  set.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  return set;
}

Result<GateSet> load_gates(const std::optional<Path>& file, const std::vector<std::string>& inline_gates) {
  GateSet set;
  if (file) {
    PARITAS_ASSIGN(std::string text, read_text(*file, 1 << 20));
    PARITAS_ASSIGN(set, parse_gates_toml(text, file->string()));
  }
  std::string joined = set.sha256;
  for (const std::string& text : inline_gates) {
    PARITAS_ASSIGN(Gate gate, parse_gate(text));
    set.gates.push_back(std::move(gate));
    joined += text + "\n";
  }
  if (!inline_gates.empty()) set.sha256 = sha256_hex(std::as_bytes(std::span(joined)));
  return set;
}

Status check_gates_match(const GateSet& gates, const std::vector<std::string>& names) {
  for (const Gate& gate : gates.gates) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& n) { return gate.matches(n); })) continue;
    std::string known;
    for (size_t i = 0; i < names.size() && i < 8; ++i) known += (i ? ", " : "") + names[i];
    if (names.size() > 8) known += fmt::format(" and {} more", names.size() - 8);
    return usage_error(gate.origin, fmt::format("no tensor is called \"{}\"", gate.tensor), "there is: " + known);
  }
  return {};
}

GateOutcome evaluate(const Gate& gate, const PairMetrics& metrics) {
  GateOutcome outcome;
  outcome.gate = &gate;
  outcome.value = metric_value(metrics, gate.metric);
  if (!outcome.value) {
    outcome.text = fmt::format("{} does not exist for these types", gate.metric);
    return outcome;
  }
  const double value = *outcome.value;
  switch (gate.op) {  // every comparison with NaN is false: NaN never passes
    case GateOp::kLess:
      outcome.passed = value < gate.value;
      break;
    case GateOp::kLessEqual:
      outcome.passed = value <= gate.value;
      break;
    case GateOp::kGreaterEqual:
      outcome.passed = value >= gate.value;
      break;
    case GateOp::kGreater:
      outcome.passed = value > gate.value;
      break;
    case GateOp::kEqual:
      outcome.passed = value == gate.value;
      break;
  }
  const std::string_view shown = outcome.passed ? entry(gate.op).text : entry(gate.op).opposite;
  // Enough digits to show on which side of the threshold the value lies.
  int digits = 4;
  while (digits < 17 && fmt::format("{:.{}g}", value, digits) == fmt::format("{:.{}g}", gate.value, digits) &&
         value != gate.value)
    ++digits;
  outcome.text = std::isnan(value)
                     ? fmt::format("{} is NaN, {} {} was demanded", gate.metric, name(gate.op), gate.value)
                     : fmt::format("{} {:.{}g} {} {}", gate.metric, value, digits, shown, gate.value);
  return outcome;
}

}  // namespace paritas
