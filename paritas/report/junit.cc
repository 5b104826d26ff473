// Results as JUnit XML, which build servers show as tests.
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

// XML 1.0 knows no control characters but tab and line ends, and nothing that is no UTF-8.
std::string xml_text(const std::string& text) { return visible(text, {.lines = true}); }

// One suite. What is not judged is skipped, what is invalid is an error.
class Suite {
 public:
  explicit Suite(const std::string& title) {
    auto declaration = document_.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    suite_ = document_.append_child("testsuites").append_child("testsuite");
    suite_.append_attribute("name") = xml_text(title).c_str();
  }

  void add(const std::string& class_name, const std::string& title, Verdict verdict, const std::string& text) {
    auto test = suite_.append_child("testcase");
    test.append_attribute("classname") = xml_text(class_name).c_str();
    test.append_attribute("name") = xml_text(title).c_str();
    ++tests_;
    const char* kind = verdict == Verdict::kInvalid     ? "error"
                       : verdict == Verdict::kDeviates  ? "failure"
                       : verdict == Verdict::kNotJudged ? "skipped"
                                                        : nullptr;
    if (kind == nullptr) return;
    ++(verdict == Verdict::kInvalid ? errors_ : verdict == Verdict::kDeviates ? failures_ : skipped_);
    test.append_child(kind).append_attribute("message") = xml_text(text).c_str();
  }

  // What no single part can show: counts, inputs, coverage.
  void add_verdict(const std::string& class_name, Verdict verdict, const std::vector<std::string>& reasons,
                   uint64_t deciding) {
    std::string text;
    for (size_t i = 0; i < deciding && i < reasons.size(); ++i) text += (text.empty() ? "" : "; ") + reasons[i];
    add(class_name, "verdict", verdict, text);
  }

  void add_tensors(const CompareResult& result) {
    for (const TensorComparison& t : result.tensors) add_tensor(result, t);
  }

  std::string text() {
    suite_.append_attribute("tests") = tests_;
    suite_.append_attribute("failures") = failures_;
    suite_.append_attribute("errors") = errors_;
    suite_.append_attribute("skipped") = skipped_;
    std::ostringstream out;
    document_.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return out.str();
  }

 private:
  void add_tensor(const CompareResult& result, const TensorComparison& t) {
    // Passing without having been compared (missing, and no gate asks for it) is no passed test.
    const Verdict verdict =
        t.verdict == Verdict::kPass && !t.compared() && t.role != Role::kInput ? Verdict::kNotJudged : t.verdict;
    add("paritas.compare", result.reference_samples > 1 ? fmt::format("{} ({})", t.name, t.sample) : t.name, verdict,
        t.rule);
  }

  pugi::xml_document document_;
  pugi::xml_node suite_;
  unsigned tests_ = 0, failures_ = 0, errors_ = 0, skipped_ = 0;
};

}  // namespace

std::string junit(const CompareResult& result) {
  Suite suite(fmt::format("paritas compare {} {}", result.reference, result.device));
  suite.add_verdict("paritas.compare", result.verdict, result.reasons, result.deciding);
  suite.add_tensors(result);
  return suite.text();
}

std::string junit(const CheckResult& result) {
  Suite suite(fmt::format("paritas check {}", result.project));
  suite.add_verdict("paritas.check", result.verdict, result.reasons, result.deciding);
  suite.add_tensors(result.comparison);
  for (const TaskResult& task : result.tasks) {
    suite.add("paritas.task", task.name, task.verdict, task.reasons.empty() ? "" : task.reasons.front());
    for (const TaskGate& gate : task.gates) suite.add("paritas.task." + task.name, gate.gate, gate.verdict, gate.text);
  }
  for (const StepResult& step : result.steps)
    if (step.size_probe) suite.add("paritas.step", step.type, step.size_probe->verdict, step.size_probe->text);
  return suite.text();
}

}  // namespace paritas
