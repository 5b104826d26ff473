// Gates from text: TOML files, their JSON form, and the inline notation.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/judge/gate_names.h"
#include "paritas/judge/gates.h"
#include "paritas/judge/metric_table.h"
#include "paritas/judge/profiles.h"
#include "paritas/judge/toml_json.h"

namespace paritas {
namespace {

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

Status check_condition(const Condition& c, bool of_task, const std::string& subject) {
  if (!std::isfinite(c.value)) return usage_error(subject, "the threshold of a gate must be a finite number");
  const bool tolerance = c.atol || c.rtol;
  if (of_task) {
    if (tolerance || c.unit != GateUnit::kAbsolute)
      return usage_error(subject, "atol, rtol and units belong to gates on tensors, not on a task");
    return c.metric.empty() ? usage_error(subject, "a gate needs a metric") : Status{};
  }
  const MetricName* metric = find_metric(c.metric);
  if (metric == nullptr)
    return usage_error(subject, fmt::format("\"{}\" is not a metric", c.metric), "use one of: " + known_metrics());
  if (c.unit != GateUnit::kAbsolute && metric->unit != "tensor")
    return usage_error(
        subject, fmt::format("\"{}\" has no unit \"{}\": it is not in the tensor's own unit", c.metric, name(c.unit)),
        "units go with max_abs, mean_abs, rmse and abs_p50 to abs_p999");
  if (c.metric == "outside" && !tolerance)
    return usage_error(subject, "a gate on \"outside\" needs atol, rtol or both",
                       "for example: 'scores: outside<=0, atol=1e-5, rtol=1e-5'");
  if (c.metric != "outside" && tolerance)
    return usage_error(subject, fmt::format("atol and rtol belong to a gate on \"outside\", not on \"{}\"", c.metric));
  for (auto value : {c.atol, c.rtol})
    if (value && !(*value >= 0 && std::isfinite(*value)))
      return usage_error(subject, "atol and rtol must be finite and not negative");
  return {};
}

Status check_gate(const Gate& gate, const std::string& subject) {
  const bool of_task = !gate.task.empty();
  if (of_task && !(gate.tensor.empty() && gate.role.empty() && gate.type.empty()))
    return usage_error(subject, "a gate is on tensors or on a task, not on both");
  if (!gate.type.empty() && gate.type != "float" && gate.type != "integer")
    return usage_error(subject, fmt::format("type \"{}\" is neither \"float\" nor \"integer\"", gate.type));
  if (gate.any.empty()) return usage_error(subject, "a gate needs a condition: metric, op and value");
  for (const auto& all : gate.any) {
    if (all.empty()) return usage_error(subject, "an alternative of the gate has no condition");
    for (const Condition& condition : all) PARITAS_TRY(check_condition(condition, of_task, subject));
  }
  return {};
}

// --- JSON (and TOML through it)

bool is_condition_key(std::string_view key) {
  for (const char* known : {"metric", "op", "value", "unit", "atol", "rtol"})
    if (key == known) return true;
  return false;
}

Status take_condition_key(const std::string& key, const Json& value, const std::string& subject,
                          const std::string& where, Condition& condition) {
  if (key == "metric" || key == "op" || key == "unit") {
    if (!value.is_string()) return usage_error(subject, fmt::format("{}: \"{}\" must be a text", where, key));
    const auto text = value.get<std::string>();
    if (key == "metric") condition.metric = text;
    if (key == "op") {
      const auto op = op_from_name(text);
      if (!op) return usage_error(subject, fmt::format("{}: op \"{}\" is not one of < <= == >= >", where, text));
      condition.op = *op;
    }
    if (key == "unit") {
      const auto unit = unit_from_name(text);
      if (!unit)
        return usage_error(subject, fmt::format("{}: unit \"{}\" is not known", where, text),
                           "use range, epsilon, steps or storage, or leave it out");
      condition.unit = *unit;
    }
    return {};
  }
  if (!value.is_number()) return usage_error(subject, fmt::format("{}: \"{}\" must be a number", where, key));
  if (key == "value") condition.value = value.get<double>();
  if (key == "atol") condition.atol = value.get<double>();
  if (key == "rtol") condition.rtol = value.get<double>();
  return {};
}

Status require_condition_keys(const Json& object, const std::string& subject, const std::string& where) {
  for (const char* needed : {"metric", "op", "value"})
    if (!object.contains(needed)) return usage_error(subject, fmt::format("{}: \"{}\" is missing", where, needed));
  return {};
}

Result<Condition> condition_from_json(const Json& object, const std::string& subject, const std::string& where) {
  if (!object.is_object()) return usage_error(subject, fmt::format("{}: a condition must be a table", where));
  Condition condition;
  for (const auto& [key, value] : object.items()) {
    if (!is_condition_key(key))
      return usage_error(subject, fmt::format("{}: unknown key \"{}\"", where, key),
                         "keys of a condition are metric, op, value, unit, atol, rtol");
    PARITAS_TRY(take_condition_key(key, value, subject, where, condition));
  }
  PARITAS_TRY(require_condition_keys(object, subject, where));
  return condition;
}

Result<std::vector<Condition>> conditions_from_json(const Json& list, const std::string& subject,
                                                    const std::string& where) {
  if (!list.is_array()) return usage_error(subject, fmt::format("{}: \"all\" must be an array of tables", where));
  std::vector<Condition> all;
  for (const Json& item : list) {
    PARITAS_ASSIGN(Condition condition, condition_from_json(item, subject, where));
    all.push_back(std::move(condition));
  }
  return all;
}

Status take_alternatives(const Json& list, const std::string& subject, const std::string& where, Gate& gate) {
  if (!list.is_array()) return usage_error(subject, fmt::format("{}: \"any\" must be an array of tables", where));
  for (const Json& item : list) {
    if (item.is_object() && item.contains("all")) {
      if (item.size() != 1) return usage_error(subject, fmt::format("{}: \"all\" stands alone in its table", where));
      PARITAS_ASSIGN(auto all, conditions_from_json(item["all"], subject, where));
      gate.any.push_back(std::move(all));
      continue;
    }
    PARITAS_ASSIGN(Condition condition, condition_from_json(item, subject, where));
    gate.any.push_back({std::move(condition)});
  }
  return {};
}

Result<Gate> gate_from_json(const Json& object, const std::string& subject, size_t number) {
  const std::string where = fmt::format("gate {}", number);
  Gate gate;
  gate.origin = fmt::format("{}, {}", subject, where);
  if (!object.is_object()) return usage_error(subject, fmt::format("{}: must be a table", where));
  Condition own;
  bool has_own = false;
  for (const auto& [key, value] : object.items()) {
    if (is_condition_key(key)) {
      has_own = true;
      PARITAS_TRY(take_condition_key(key, value, subject, where, own));
    } else if (key == "tensor" || key == "role" || key == "type" || key == "task") {
      if (!value.is_string()) return usage_error(subject, fmt::format("{}: \"{}\" must be a text", where, key));
      const auto text = value.get<std::string>();
      if (text.empty()) return usage_error(subject, fmt::format("{}: \"{}\" is empty", where, key));
      (key == "tensor" ? gate.tensor : key == "role" ? gate.role : key == "type" ? gate.type : gate.task) = text;
    } else if (key == "optional") {
      if (!value.is_boolean())
        return usage_error(subject, fmt::format("{}: \"optional\" must be true or false", where));
      gate.optional = value.get<bool>();
    } else if (key == "any") {
      PARITAS_TRY(take_alternatives(value, subject, where, gate));
    } else if (key == "all") {
      PARITAS_ASSIGN(auto all, conditions_from_json(value, subject, where));
      gate.any.push_back(std::move(all));
    } else {
      return usage_error(subject, fmt::format("{}: unknown key \"{}\"", where, key),
                         "keys are tensor, role, type, task, metric, op, value, unit, atol, rtol, any, all, optional");
    }
  }
  if (object.contains("any") && object.contains("all"))
    return usage_error(subject, fmt::format("{}: \"any\" beside \"all\" is ambiguous", where),
                       "write the conditions that must all hold as one { all = [...] } inside \"any\", or two gates");
  if (has_own) {
    if (object.contains("any") || object.contains("all"))
      return usage_error(subject, fmt::format("{}: a condition beside \"any\" or \"all\" is ambiguous", where),
                         "write it into the list");
    PARITAS_TRY(require_condition_keys(object, subject, where));
    gate.any.push_back({std::move(own)});
  }
  if (gate.tensor.empty() && gate.role.empty() && gate.type.empty() && gate.task.empty())
    return usage_error(subject, fmt::format("{}: \"tensor\" is missing", where), "name a tensor, role, type or task");
  PARITAS_TRY(check_gate(gate, fmt::format("{}, {}", subject, where)));
  return gate;
}

Status take_choice(const Json& value, const std::string& subject, const char* key, const char* no, const char* yes,
                   bool& flag) {
  if (value != no && value != yes)
    return usage_error(subject, fmt::format("{} must be \"{}\" or \"{}\"", key, no, yes));
  flag = value == yes;
  return {};
}

Status take_nonfinite(const Json& value, const std::string& subject, GateSet& set) {
  if (value == "forbid")
    set.nonfinite = NonfinitePolicy::kForbid;
  else if (value == "same-inf")
    set.nonfinite = NonfinitePolicy::kSameInf;
  else if (value == "equal")
    set.nonfinite = NonfinitePolicy::kEqual;
  else
    return usage_error(subject, "nonfinite must be \"forbid\", \"same-inf\" or \"equal\"");
  return {};
}

Status add_profile(const std::string& wanted, const std::string& subject, GateSet& set) {
  const Profile* profile = find_profile(wanted);
  if (profile == nullptr) {
    std::string known;
    for (const Profile& each : profiles()) known += (known.empty() ? "" : ", ") + each.name;
    return usage_error(subject, fmt::format("there is no profile \"{}\"", wanted), "profiles are " + known);
  }
  PARITAS_ASSIGN(GateSet made, parse_gates_toml(profile->toml, profile->name));
  for (Gate& gate : made.gates) {
    gate.origin = fmt::format("profile {}", profile->name);
    set.gates.push_back(std::move(gate));
  }
  return {};
}

// --- inline

// "atol=1e-5" behind the condition of an inline gate.
Status parse_tolerance(const std::string& part, const std::string& subject, Condition& condition) {
  const auto equals = part.find('=');
  const std::string key = equals == std::string::npos ? part : trim(part.substr(0, equals));
  auto number = equals == std::string::npos ? std::nullopt : parse_number(trim(part.substr(equals + 1)));
  if ((key != "atol" && key != "rtol") || !number)
    return usage_error(subject, fmt::format("\"{}\" is not understood", part), "write atol=NUMBER or rtol=NUMBER");
  (key == "atol" ? condition.atol : condition.rtol) = number;
  return {};
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t start = 0;;) {
    const auto at = text.find(separator, start);
    parts.push_back(trim(text.substr(start, at == std::string::npos ? at : at - start)));
    if (at == std::string::npos) return parts;
    start = at + separator.size();
  }
}

constexpr const char* kExample = "write it like 'scores: cosine>=0.99'";

// "max_abs <= 2 steps, ..." without the tolerances
Result<Condition> parse_comparison(const std::string& text, const std::string& subject) {
  Condition condition;
  for (GateOp op : all_ops()) {
    const auto at = text.find(name(op));
    if (at == std::string::npos) continue;
    std::string number = trim(text.substr(at + name(op).size()));
    if (const auto space = number.rfind(' '); space != std::string::npos) {
      const auto unit = unit_from_name(number.substr(space + 1));
      if (!unit || *unit == GateUnit::kAbsolute) return usage_error(subject, "the threshold is not a number", kExample);
      condition.unit = *unit;
      number = trim(number.substr(0, space));
    }
    const auto value = parse_number(number);
    if (!value) return usage_error(subject, "the threshold is not a number", kExample);
    condition.metric = trim(text.substr(0, at));
    condition.op = op;
    condition.value = *value;
    return condition;
  }
  return usage_error(subject, "no condition such as cosine>=0.99", kExample);
}

Result<Condition> parse_condition(const std::string& text, const std::string& subject) {
  const auto parts = split(text, ",");
  PARITAS_ASSIGN(Condition condition, parse_comparison(parts[0], subject));
  for (size_t i = 1; i < parts.size(); ++i) PARITAS_TRY(parse_tolerance(parts[i], subject, condition));
  return condition;
}

}  // namespace

Result<Gate> parse_gate(const std::string& text) {
  const std::string subject = fmt::format("--gate '{}'", text);
  // The condition is what follows the last ": " or ':' (names may hold colons: "output:0: cosine>=0.99").
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return usage_error(subject, "no colon between tensor and condition", kExample);
  Gate gate;
  gate.origin = "--gate";
  const std::string selector = trim(text.substr(0, colon));
  if (selector.empty()) return usage_error(subject, "a gate needs the name of a tensor");
  if (selector.rfind("role=", 0) == 0 && selector.size() > 5)
    gate.role = selector.substr(5);
  else if (selector.rfind("type=", 0) == 0 && selector.size() > 5)
    gate.type = selector.substr(5);
  else if (selector.rfind("task=", 0) == 0 && selector.size() > 5)
    gate.task = selector.substr(5);
  else
    gate.tensor = selector;
  for (const std::string& alternative : split(text.substr(colon + 1), " or ")) {
    gate.any.emplace_back();
    for (const std::string& part : split(alternative, " and ")) {
      PARITAS_ASSIGN(Condition condition, parse_condition(part, subject));
      gate.any.back().push_back(std::move(condition));
    }
  }
  PARITAS_TRY(check_gate(gate, subject));
  return gate;
}

Result<GateSet> gates_from_json(const Json& json, const std::string& subject) {
  if (!json.is_object()) return usage_error(subject, "must be a table");
  GateSet set;
  for (const auto& [key, value] : json.items()) {
    const bool tables =
        value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_object(); });
    if (key == "gate" && tables) {
      for (size_t i = 0; i < value.size(); ++i) {
        PARITAS_ASSIGN(Gate gate, gate_from_json(value[i], subject, i + 1));
        set.gates.push_back(std::move(gate));
      }
    } else if (key == "nonfinite") {
      PARITAS_TRY(take_nonfinite(value, subject, set));
    } else if (key == "extra_outputs") {
      PARITAS_TRY(take_choice(value, subject, "extra_outputs", "forbid", "allow", set.allow_extra_outputs));
    } else if (key == "dtypes") {
      PARITAS_TRY(take_choice(value, subject, "dtypes", "may-differ", "exact", set.exact_dtypes));
    } else if (key == "profiles" && value.is_array()) {
      for (const Json& wanted : value) {
        if (!wanted.is_string()) return usage_error(subject, "\"profiles\" must be an array of texts");
        PARITAS_TRY(add_profile(wanted.get<std::string>(), subject, set));
      }
    } else {
      return usage_error(subject, fmt::format("unknown key \"{}\"", key), "write gates as [[gate]] tables");
    }
  }
  return set;
}

Result<GateSet> parse_gates_toml(const std::string& text, const std::string& subject) {
  PARITAS_ASSIGN(const Json json, parse_toml(text, subject));
  PARITAS_ASSIGN(GateSet set, gates_from_json(json, subject));
  if (set.gates.empty()) return usage_error(subject, "declares no gate", "add a [[gate]] table, or leave the file out");
  set.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  return set;
}

Result<GateSet> load_gates(const GateSources& sources) {
  GateSet set;
  if (sources.file) {
    PARITAS_ASSIGN(std::string text, read_text(*sources.file, 1 << 20));
    PARITAS_ASSIGN(set, parse_gates_toml(text, sources.file->string()));
  }
  std::string joined = set.sha256;
  for (const std::string& wanted : sources.profiles) {
    PARITAS_TRY(add_profile(wanted, "--profile", set));
    joined += find_profile(wanted)->toml + "\n";
  }
  for (const std::string& text : sources.inline_gates) {
    PARITAS_ASSIGN(Gate gate, parse_gate(text));
    set.gates.push_back(std::move(gate));
    joined += text + "\n";
  }
  if (!sources.inline_gates.empty() || !sources.profiles.empty())
    set.sha256 = sha256_hex(std::as_bytes(std::span(joined)));
  return set;
}

Result<GateSet> load_gates(const std::optional<Path>& file, const std::vector<std::string>& inline_gates) {
  return load_gates(GateSources{file, {}, inline_gates});
}

}  // namespace paritas
