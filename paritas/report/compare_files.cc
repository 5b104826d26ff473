// compare for other programs: CSV and workflow commands.
#include <cmath>

#include <fmt/format.h>

#include "paritas/compare/summary.h"
#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

// Quoted when it must be; a leading character that spreadsheets take for a formula is kept behind a quote mark.
std::string field(const std::string& text) {
  std::string out = visible(text, {.lines = true});
  if (!out.empty() && (out[0] == '=' || out[0] == '+' || out[0] == '@' ||
                       (out[0] == '-' && out.size() > 1 && !(out[1] >= '0' && out[1] <= '9') && out[1] != 'i')))
    out.insert(out.begin(), '\'');
  if (out.find_first_of(",\"\r\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (char c : out) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// As JSON writes it: enough digits to read the same value back; nan, inf, -inf.
std::string value(double v) { return fmt::format("{}", v); }

// Empty for plain integers.
std::string energy(const PairMetrics& m, double v) { return has_energy(m) ? value(v) : std::string(); }

std::string workflow_text(const std::string& text, bool property) {
  std::string out;
  for (char c : visible(text, {.lines = true})) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string csv(const CompareResult& result) {
  std::string out =
      "name,device_name,role,sample,status,verdict,dtype,shape,MAE,MSE,RMSE,CosSim,MaxAbsErr,MaxAbsIndex,NMSE,SQNR_dB,"
      "differing,count,max_step,mean_step,rule\r\n";
  for (const TensorComparison& t : result.tensors) {
    const SideInfo* side = t.reference ? &*t.reference : t.device ? &*t.device : nullptr;
    out += fmt::format("{},{},{},{},{},{},{},{},", field(t.name), field(t.device_name), name(t.role), field(t.sample),
                       name(t.status), name(t.verdict), side ? name(side->dtype) : "",
                       side ? field(to_string(side->shape)) : "");
    if (t.metrics) {
      const PairMetrics& m = *t.metrics;
      if (m.names)
        out += fmt::format(",,,,,,,,{},{},", m.differing, m.count);
      else
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},", value(m.mean_abs), value(m.mse), value(m.rmse),
                           energy(m, m.cosine), value(m.max_abs), m.max_abs_index, energy(m, m.nmse),
                           energy(m, m.sqnr_db), m.differing, m.count);
      out += m.steps ? fmt::format("{},{},", value(m.steps->max), value(m.steps->mean)) : ",,";
    } else {
      out += ",,,,,,,,,,,,";
    }
    out += field(t.rule) + "\r\n";
  }
  return out;
}

std::string github(const CompareResult& result) {
  std::string out;
  const auto line = [&out](Verdict verdict, const std::string& title, const std::string& text) {
    if (verdict == Verdict::kPass) return;
    out += fmt::format("::{} title={}::{}\n", verdict == Verdict::kNotJudged ? "warning" : "error",
                       workflow_text(title, true), workflow_text(text, false));
  };
  const std::string title = fmt::format("paritas compare: {}", name(result.verdict));
  if (result.reasons.empty()) line(result.verdict, title, "nothing was compared");
  for (size_t i = 0; i < result.deciding; ++i) line(result.verdict, title, result.reasons[i]);
  if (result.verdict == Verdict::kPass)
    out += fmt::format("::notice title={}::{} of {} outputs compared and judged\n", workflow_text(title, true),
                       result.coverage.outputs_compared, result.coverage.outputs);
  return out;
}

}  // namespace paritas
