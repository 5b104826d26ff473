// PairMetrics as JSON and back. Every number is written so that it is read back to the bit.
#include <array>
#include <limits>

#include <fmt/format.h>

#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

Json storage_json(const StorageBaseline& s) {
  return {{"type", name(s.type)},
          {"max_abs", json_number(s.max_abs)},
          {"rms", json_number(s.rms)},
          {"overflowed", s.overflowed},
          {"subnormal", s.subnormal},
          {"flushed", s.flushed},
          {"max_over_limit", json_number(s.max_over_limit)},
          {"lost_energy", json_number(s.lost_energy)}};
}

Json use_json(const CodeUse& use) {
  return {{"levels", use.levels},
          {"at_lowest", use.at_lowest},
          {"at_highest", use.at_highest},
          {"entropy_bits", json_number(use.entropy_bits)}};
}

Json codes_json(const IntegerFigures& f) {
  return {{"count", f.count},
          {"steps", f.steps},
          {"mean_step", json_number(f.mean_step)},
          {"mean_bias", json_number(f.mean_bias)},
          {"max_step", f.max_step},
          {"reference", use_json(f.reference)},
          {"device", use_json(f.device)}};
}

// Reads fields one by one and keeps the first complaint.
class Reader {
 public:
  Reader(const Json& json, const std::string& subject) : json_(json), subject_(subject) {
    if (!json.is_object()) complain("is no object");
  }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  double real(const char* key) {
    if (!has(key)) return complain(fmt::format("\"{}\" is missing", key)), 0;
    const auto value = number_from_json(json_[key]);
    if (!value) complain(fmt::format("\"{}\" is not a number", key));
    return value.value_or(0);
  }
  uint64_t whole(const char* key) {
    if (has(key) && json_[key].is_number_unsigned()) return json_[key].get<uint64_t>();
    complain(fmt::format("\"{}\" is not a whole number", key));
    return 0;
  }
  std::optional<double> maybe_real(const char* key) { return has(key) ? std::optional(real(key)) : std::nullopt; }
  std::optional<uint64_t> maybe_whole(const char* key) { return has(key) ? std::optional(whole(key)) : std::nullopt; }
  // Two numbers: smallest and largest.
  void range(const char* key, double& low, double& high) {
    if (!has(key) || !json_[key].is_array() || json_[key].size() != 2)
      return complain(fmt::format("\"{}\" is not a pair of numbers", key));
    const auto a = number_from_json(json_[key][0]), b = number_from_json(json_[key][1]);
    if (!a || !b) return complain(fmt::format("\"{}\" is not a pair of numbers", key));
    low = *a;
    high = *b;
  }
  const Json& at(const char* key) const { return json_[key]; }
  void complain(const std::string& cause) {
    if (cause_.empty()) cause_ = cause;
  }
  Status status() const {
    return cause_.empty() ? Status{}
                          : Status(input_error(subject_, "metrics: " + cause_, "is it a result of paritas?"));
  }

 private:
  const Json& json_;
  const std::string& subject_;
  std::string cause_;
};

Result<StorageBaseline> storage_from_json(const Json& json, const std::string& subject) {
  Reader r(json, subject);
  StorageBaseline s;
  PARITAS_ASSIGN(const std::string type, json_string(json, "type", subject));
  const auto dtype = dtype_from_name(type);
  if (!dtype) r.complain(fmt::format("\"{}\" is no type", type));
  s.type = dtype.value_or(DType::kF16);
  s.max_abs = r.real("max_abs");
  s.rms = r.real("rms");
  s.overflowed = r.whole("overflowed");
  s.subnormal = r.whole("subnormal");
  s.flushed = r.whole("flushed");
  s.max_over_limit = r.real("max_over_limit");
  s.lost_energy = r.real("lost_energy");
  PARITAS_TRY(r.status());
  return s;
}

Result<CodeUse> use_from_json(const Json& json, const std::string& subject) {
  Reader r(json, subject);
  CodeUse use{r.whole("levels"), r.whole("at_lowest"), r.whole("at_highest"), r.real("entropy_bits")};
  PARITAS_TRY(r.status());
  return use;
}

Result<IntegerFigures> codes_from_json(const Json& json, const std::string& subject) {
  Reader r(json, subject);
  IntegerFigures f;
  f.count = r.whole("count");
  f.mean_step = r.real("mean_step");
  f.mean_bias = r.real("mean_bias");
  f.max_step = r.whole("max_step");
  if (!r.has("steps") || !r.at("steps").is_array() || r.at("steps").size() != f.steps.size()) {
    r.complain("\"steps\" is no histogram");
  } else {
    for (size_t i = 0; i < f.steps.size(); ++i) {
      if (!r.at("steps")[i].is_number_unsigned())
        r.complain("\"steps\" is no histogram");
      else
        f.steps[i] = r.at("steps")[i].get<uint64_t>();
    }
  }
  PARITAS_TRY(r.status());
  if (!r.has("reference") || !r.has("device")) return input_error(subject, "metrics: \"codes\" lacks a side");
  PARITAS_ASSIGN(f.reference, use_from_json(r.at("reference"), subject));
  PARITAS_ASSIGN(f.device, use_from_json(r.at("device"), subject));
  return f;
}

PairMetrics names_from(Reader& r) {
  PairMetrics m;
  m.names = true;
  m.count = r.whole("count");
  m.finite = r.whole("finite");
  m.differing = r.whole("differing");
  if (m.differing > 0) return m;
  m.sqnr_db = std::numeric_limits<double>::infinity();
  m.max_integer_difference = 0;
  m.outside = r.maybe_whole("outside");
  if (m.outside) {
    m.outside_atol = r.real("outside_atol");
    m.outside_rtol = r.real("outside_rtol");
  }
  return m;
}

void read_figures(Reader& r, PairMetrics& m) {
  m.count = r.whole("count");
  m.finite = r.whole("finite");
  m.differing = r.whole("differing");
  m.max_abs = r.real("max_abs");
  m.max_abs_index = r.whole("max_abs_index");
  m.max_abs_reference = r.real("max_abs_reference");
  m.max_abs_device = r.real("max_abs_device");
  m.mean_abs = r.real("mean_abs");
  m.mse = r.real("mse");
  m.rmse = r.real("rmse");
  m.nmse = r.real("nmse");
  m.sqnr_db = r.real("sqnr_db");
  m.cosine = r.real("cosine");
  m.cosine_distance = r.real("cosine_distance");
  m.zero_norm = r.has("zero_norm") && r.at("zero_norm") == true;
  m.scale_ratio = r.real("scale_ratio");
  m.max_rel = r.real("max_rel");
  m.max_ulp = r.maybe_whole("max_ulp");
  m.epsilon = r.maybe_real("epsilon");
  r.range("reference_range", m.reference_min, m.reference_max);
  r.range("device_range", m.device_min, m.device_max);
  m.reference_max_abs = r.real("reference_max_abs");
  m.device_max_abs = r.real("device_max_abs");
  m.reference_zeros = r.whole("reference_zeros");
  m.device_zeros = r.whole("device_zeros");
  m.reference_norm = r.real("reference_norm");
  m.error_norm = r.real("error_norm");
  m.max_integer_difference = r.maybe_whole("max_integer_difference");
  m.outside = r.maybe_whole("outside");
  if (m.outside) {
    m.worst_outside = r.real("worst_outside");
    m.outside_atol = r.real("outside_atol");
    m.outside_rtol = r.real("outside_rtol");
  }
  if (r.has("abs_p50"))
    m.abs_quantiles = std::array{r.real("abs_p50"), r.real("abs_p90"), r.real("abs_p99"), r.real("abs_p999")};
  if (r.has("max_step")) m.steps = StepFigures{r.real("step_size"), r.real("max_step"), r.real("mean_step")};
}

}  // namespace

Json to_json(const PairMetrics& m) {
  if (m.names) {
    Json json = {{"values", "names"}, {"count", m.count}, {"finite", m.finite}, {"differing", m.differing}};
    if (m.outside)
      json.update({{"outside", *m.outside},
                   {"outside_atol", json_number(m.outside_atol)},
                   {"outside_rtol", json_number(m.outside_rtol)}});
    return json;
  }
  Json json = {{"count", m.count}, {"finite", m.finite}};
  for (const MetricName& metric : metric_names())
    if (auto value = metric_value(m, metric.name)) json[std::string(metric.name)] = json_number(*value);
  // Counts as whole numbers, not as doubles.
  json["differing"] = m.differing;
  if (m.max_ulp) json["max_ulp"] = *m.max_ulp;
  if (m.max_integer_difference) json["max_integer_difference"] = *m.max_integer_difference;
  if (m.outside) {
    json["outside"] = *m.outside;
    json["worst_outside"] = json_number(m.worst_outside);
    json["outside_atol"] = json_number(m.outside_atol);
    json["outside_rtol"] = json_number(m.outside_rtol);
  }
  if (m.steps) json["step_size"] = json_number(m.steps->size);
  if (m.epsilon) json["epsilon"] = json_number(*m.epsilon);
  json["max_abs_index"] = m.max_abs_index;
  json["max_abs_reference"] = json_number(m.max_abs_reference);
  json["max_abs_device"] = json_number(m.max_abs_device);
  if (m.zero_norm) json["zero_norm"] = true;
  json["reference_range"] = {json_number(m.reference_min), json_number(m.reference_max)};
  json["device_range"] = {json_number(m.device_min), json_number(m.device_max)};
  json["reference_max_abs"] = json_number(m.reference_max_abs);
  json["device_max_abs"] = json_number(m.device_max_abs);
  json["reference_zeros"] = m.reference_zeros;
  json["device_zeros"] = m.device_zeros;
  json["reference_norm"] = json_number(m.reference_norm);
  json["error_norm"] = json_number(m.error_norm);
  if (m.nonfinite.any())
    json["nonfinite"] = {{"nan_nan", m.nonfinite.nan_nan},
                         {"nan_other", m.nonfinite.nan_other},
                         {"same_inf", m.nonfinite.same_inf},
                         {"opposite_inf", m.nonfinite.opposite_inf},
                         {"inf_finite", m.nonfinite.inf_finite},
                         {"device_only", m.nonfinite.device_only},
                         {"reference_nan", m.nonfinite.reference_nan}};
  if (m.storage) json["storage"] = storage_json(*m.storage);
  if (m.codes) json["codes"] = codes_json(*m.codes);
  return json;
}

Result<PairMetrics> pair_metrics_from_json(const Json& json, const std::string& subject) {
  PairMetrics m;
  Reader r(json, subject);
  PARITAS_TRY(r.status());
  if (r.has("values") && r.at("values") == "names") {
    m = names_from(r);
    PARITAS_TRY(r.status());
    return m;
  }
  read_figures(r, m);
  PARITAS_TRY(r.status());
  if (r.has("nonfinite")) {
    Reader n(r.at("nonfinite"), subject);
    m.nonfinite = {n.whole("nan_nan"),    n.whole("nan_other"),   n.whole("same_inf"),     n.whole("opposite_inf"),
                   n.whole("inf_finite"), n.whole("device_only"), n.whole("reference_nan")};
    PARITAS_TRY(n.status());
  }
  if (r.has("storage")) {
    PARITAS_ASSIGN(m.storage, storage_from_json(r.at("storage"), subject));
  }
  if (r.has("codes")) {
    PARITAS_ASSIGN(m.codes, codes_from_json(r.at("codes"), subject));
  }
  return m;
}

}  // namespace paritas
