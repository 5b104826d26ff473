// compare for other programs: CSV, JUnit XML, workflow commands.
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "paritas/report/reports.h"

namespace paritas {
namespace {

// Quoted when it must be; a leading character that spreadsheets take for a formula is kept behind a quote mark.
std::string field(const std::string& text) {
  std::string out = text;
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

std::string where(const TensorComparison& t, const CompareResult& result) {
  return result.reference_samples > 1 ? fmt::format("{} ({})", t.name, t.sample) : t.name;
}

// XML 1.0 knows no control characters but tab and line ends.
std::string xml_text(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') c = '?';
  return text;
}

std::string workflow_text(const std::string& text, bool property) {
  std::string out;
  for (char c : text) {
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
      out +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},", value(m.mean_abs), value(m.mse), value(m.rmse), value(m.cosine),
                      value(m.max_abs), m.max_abs_index, value(m.nmse), value(m.sqnr_db), m.differing, m.count);
      out += m.steps ? fmt::format("{},{},", value(m.steps->max), value(m.steps->mean)) : ",,";
    } else {
      out += ",,,,,,,,,,,,";
    }
    out += field(t.rule) + "\r\n";
  }
  return out;
}

std::string junit(const CompareResult& result) {
  pugi::xml_document document;
  auto declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  auto suite = document.append_child("testsuites").append_child("testsuite");
  suite.append_attribute("name") =
      xml_text(fmt::format("paritas compare {} {}", result.reference, result.device)).c_str();
  unsigned tests = 1, failures = 0, errors = 0, skipped = 0;
  const auto add = [&](const std::string& title, Verdict verdict, const std::string& text) {
    auto test = suite.append_child("testcase");
    test.append_attribute("classname") = "paritas.compare";
    test.append_attribute("name") = xml_text(title).c_str();
    const char* kind = verdict == Verdict::kInvalid     ? "error"
                       : verdict == Verdict::kDeviates  ? "failure"
                       : verdict == Verdict::kNotJudged ? "skipped"
                                                        : nullptr;
    if (kind == nullptr) return;
    ++(verdict == Verdict::kInvalid ? errors : verdict == Verdict::kDeviates ? failures : skipped);
    test.append_child(kind).append_attribute("message") = xml_text(text).c_str();
  };
  std::string reasons;
  for (size_t i = 0; i < result.deciding; ++i) reasons += (reasons.empty() ? "" : "; ") + result.reasons[i];
  add("verdict", result.verdict, reasons);  // what no single tensor can show: counts, inputs, coverage
  for (const TensorComparison& t : result.tensors) {
    ++tests;
    add(where(t, result), t.verdict, t.rule);
  }
  suite.append_attribute("tests") = tests;
  suite.append_attribute("failures") = failures;
  suite.append_attribute("errors") = errors;
  suite.append_attribute("skipped") = skipped;
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
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
