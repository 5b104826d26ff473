#include <fmt/format.h>

#include "paritas/project/check.h"
#include "paritas/report/all_sides_report.h"
#include "paritas/report/cross_matrix_report.h"
#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kDefaultReasons = 5;

std::string short_hash(const std::string& sha256) { return sha256.substr(0, 12); }

// Figures that people read first, for each kind of task.
std::string task_line(const TaskResult& task) {
  if (const auto* detection = std::get_if<DetectionResult>(&task.result))
    return fmt::format("{} of {} box{} matched, {} on the device", detection->matched, detection->reference_boxes,
                       detection->reference_boxes == 1 ? "" : "es", detection->device_boxes);
  if (const auto* classes = std::get_if<ClassificationResult>(&task.result))
    return fmt::format("{} of {} rows keep the first class", classes->top1_same, classes->judged);
  const auto& command = std::get<CommandResult>(task.result);
  std::string text;
  for (const TaskFigure& figure : command.outcome.figures)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", figure.name, number(figure.value));
  return text;
}

std::string tasks_text(const CheckResult& result, const Style& style) {
  std::string out;
  for (const TaskResult& task : result.tasks) {
    out += fmt::format("Task       {}: {} ({})\n", visible(task.name), name(task.verdict), task_line(task));
    for (const TaskGate& gate : task.gates)
      out += wrap(fmt::format("{}{}", gate.text,
                              gate.verdict == Verdict::kPass ? "" : fmt::format(" ({})", name(gate.verdict))),
                  "           ", "             ", style.width);
    for (const std::string& limit : task.outcome().does_not_show)
      out += wrap("does not show " + limit, "           ", "             ", style.width);
    if (!style.verbose) continue;
    for (const std::string& shown : task.outcome().shows)
      out += wrap("shows " + shown, "           ", "             ", style.width);
    for (const std::string& note : task.outcome().notes)
      out += wrap("note: " + note, "           ", "             ", style.width);
  }
  return out;
}

std::string steps_text(const CheckResult& result, const Style& style) {
  std::string out;
  for (const StepResult& step : result.steps) {
    if (!step.skipped.empty()) out += fmt::format("Step       {}: {}\n", step.type, visible(step.skipped));
    if (step.size_probe)
      out += wrap(fmt::format("{}: {}", step.type, step.size_probe->text), "Step       ", "           ", style.width);
    if (!step.locate) continue;
    const LocateResult& located = *step.locate;
    if (!located.only_cuts)
      out += fmt::format("Step       locate: {}\n", located.first_divergence.empty()
                                                        ? "no first divergence was found"
                                                        : "first divergence at " + located.first_divergence);
    if (located.cross_matrices)
      out += "\n" + cross_matrix_blocks(*located.cross_matrices, !located.device_simulated.empty(), style);
    for (const Finding& finding : located.findings)
      if (finding.severity == Severity::kFault || style.verbose)
        out += wrap("finding: " + finding.text, "           ", "             ", style.width);
  }
  return out;
}

std::string inputs_text(const CheckResult& result, const Style& style) {
  std::string out;
  for (const CheckedInput& input : result.inputs) {
    const FrozenTensor& first = input.tensors.front();
    out += fmt::format("Input      {}{}: {} {}, {}{}, sha256 {}\n", visible(input.name),
                       input.fed.empty() ? "" : fmt::format(" ({}, for some sides)", input.fed), name(first.dtype),
                       to_string(first.shape), first.file.empty() ? "declared value" : first.file,
                       input.tensors.size() > 1 ? fmt::format(" and {} more", input.tensors.size() - 1) : "",
                       short_hash(first.tensor_sha256));
    if (!style.verbose) continue;
    for (size_t i = 1; i < input.tensors.size(); ++i)
      out += fmt::format("             {}, sha256 {}\n", visible(input.tensors[i].file),
                         short_hash(input.tensors[i].tensor_sha256));
  }
  return out;
}

std::string variants_text(const ReferenceVariants& variants, const Style& style) {
  const auto line = [&](const std::string& text) {
    return wrap(visible(text), "           ", "             ", style.width);
  };
  std::string out = wrap("Reference  " + visible(variants.declared), "", "           ", style.width) +
                    line("its other answer: " + variants.other);
  if (!variants.failed.empty()) return out + line("which could not be had: " + variants.failed);
  for (const VariantMove* move : worst_moves(variants)) out += line(variant_text(*move));
  return out;
}

}  // namespace

std::string simulated_note(const RunInfo& device) {
  return device.target.rfind("sim:", 0) == 0 ? fmt::format(" ({}: simulated, each result rounded)", device.target) : "";
}

Json complete_json(const CheckResult& result) {
  Json json = to_json(result);
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const auto& located = result.steps[i].locate;
    if (located && located->cross_matrices)
      json["steps"][i]["locate"]["cross_matrix"] = cross_matrix_json(*located->cross_matrices);
  }
  return json;
}

std::string terminal(const CheckResult& result, const Style& style) {
  std::string out = banner(style, result.verdict);
  const size_t shown = style.verbose ? result.reasons.size() : std::min(result.reasons.size(), kDefaultReasons);
  for (size_t i = 0; i < shown; ++i)
    out += (i == 0 ? "   " : std::string(name(result.verdict).size() + 3, ' ')) + visible(result.reasons[i]) + "\n";
  if (shown < result.reasons.size())
    out += fmt::format("{}... and {} more (--verbose)\n", std::string(name(result.verdict).size() + 3, ' '),
                       result.reasons.size() - shown);
  out += fmt::format("\nChecked    {} against {}, {} sample{}\n", visible(result.device), visible(result.reference),
                     result.comparison.samples, result.comparison.samples == 1 ? "" : "s");
  out += inputs_text(result, style);
  if (const auto& placement = result.comparison.device_info.placement; placement && placement->total() > 0)
    out += fmt::format("Ran on     {} of {} nodes on {}{}\n", placement->on(placement->requested), placement->total(),
                       placement->requested, simulated_note(result.comparison.device_info));
  if (result.reference_variants) out += variants_text(*result.reference_variants, style);
  out += tasks_text(result, style) + steps_text(result, style) + "\n";
  if (result.all_sides) out += all_sides_text(*result.all_sides, style);
  const CompareResult& comparison = result.comparison;
  out += comparison_table(comparison, style);
  for (const auto* notes : {&result.notes, &comparison.notes})
    for (const std::string& note : *notes) out += dim(style, "note: " + note) + "\n";
  out += dim(style, fmt::format("project sha256 {}, gates {}", short_hash(result.project_sha256),
                                result.gates_sha256.empty() ? "none" : short_hash(result.gates_sha256))) +
         "\n";
  return out;
}

}  // namespace paritas
