#include "paritas/monitor/judge_monitor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/project/task_checks.h"

namespace paritas {
namespace {

// How far mean and standard deviation of normalised values may lie from 0 and 1: calibration sets are small and
// pictures are not the whole of a training set. Pixels that were not normalised lie far outside.
constexpr double kMeanWithin = 0.5;
constexpr double kStdLow = 0.5, kStdHigh = 1.5;

// Steps that stretch pixels to -1 .. 1 whatever the data: they promise a range, no mean and no deviation.
bool only_scales(const Arithmetic& a) {
  for (size_t c = 0; c < 3; ++c)
    for (const float pixel : {0.0F, 255.0F}) {
      const float scaled = (a.divide_pixel ? pixel / a.scale : pixel * a.scale) - a.mean[c];
      if (std::fabs(a.multiply_std ? scaled * a.std[c] : scaled / a.std[c]) > 1.01F) return false;
    }
  return true;
}

bool judged_by_task(const Project& project, const MonitorResult& result, const std::string& output) {
  for (size_t t = 0; t < project.tasks.size(); ++t) {
    const ProjectTask& task = project.tasks[t];
    if (!result.tasks[t].gates.empty() && compares_sides(task, project.gates) &&
        std::find(task.outputs.begin(), task.outputs.end(), output) != task.outputs.end())
      return true;
  }
  return false;
}

void judge_layer(const Project& project, const MonitorResult& result, const MonitoredLayer& layer,
                 VerdictBuilder& builder) {
  const bool output = layer.role == Role::kOutput;
  if (!layer.gated && !output && layer.verdict != Verdict::kInvalid && layer.verdict != Verdict::kDeviates) return;
  // Never less than what was found on a sample: a task covers an output that no gate covers, no refused one.
  if (layer.verdict == Verdict::kNotJudged && !layer.gated && judged_by_task(project, result, layer.name)) return;
  builder.add(layer.verdict, fmt::format("{}: {} ({})", layer.name, layer.rule, layer.verdict_sample));
  if (layer.samples < result.compared)
    builder.not_judged(fmt::format("{}: compared on {} of {} samples", layer.name, layer.samples, result.compared));
}

}  // namespace

Status judge_monitor(const Project& project, const std::vector<MonitorRecord>& records, const UnpairedOutputs& unpaired,
                     MonitorResult& result) {
  VerdictBuilder builder;
  for (size_t t = 0; t < project.tasks.size(); ++t) {
    std::vector<ClassificationSample> samples;
    for (const MonitorRecord& record : records) samples.push_back(record.tasks[t]);
    TaskResult& task = result.tasks.emplace_back();
    task.name = project.tasks[t].name;
    task.result = conclude_classification(std::get<ClassificationSpec>(project.tasks[t].spec), std::move(samples));
  }
  PARITAS_TRY(judge_tasks(project.gates, result.tasks, builder));
  for (const auto& [sample, why] : result.failed) builder.invalid(fmt::format("{} could not be run: {}", sample, why));
  for (const std::string& name : unpaired.reference)
    builder.deviates(fmt::format("{}: the device has no such output", name));
  if (!project.gates.allow_extra_outputs)
    for (const std::string& name : unpaired.device)
      builder.deviates(fmt::format("{}: only the device has this output", name));
  for (const MonitoredLayer& layer : result.layers) judge_layer(project, result, layer, builder);
  result.verdict = builder.verdict();
  result.reasons = builder.reasons();
  result.deciding = builder.deciding();
  return {};
}

void judge_normalisation(const Project& project, Feed feed, MonitorResult& result) {
  for (InputCoverage& coverage : result.coverage.inputs) {
    coverage.normalisation = "not judged";
    const auto input = std::find_if(project.inputs.begin(), project.inputs.end(),
                                    [&](const ProjectInput& each) { return each.name == coverage.input; });
    if (input == project.inputs.end() || !input->steps) {
      coverage.normalisation_text = "no normalisation is declared";
      continue;
    }
    const Arithmetic& arithmetic = input->steps->arithmetic;
    const Arithmetic none;
    if (arithmetic.mean == none.mean && arithmetic.std == none.std) {
      coverage.normalisation_text = "no mean and no std is declared";
      continue;
    }
    if (feed == Feed::kDeclared && input->steps->quantisation) {
      coverage.normalisation_text = "the reference is fed with codes";
      continue;
    }
    if (only_scales(arithmetic)) {
      coverage.normalisation_text = "the declared steps stretch pixels to a range, and promise no mean and no std";
      continue;
    }
    coverage.normalisation = "fits";
    for (size_t c = 0; c < coverage.channels.size(); ++c) {
      const ChannelRange& channel = coverage.channels[c];
      const bool fits = std::fabs(channel.mean) <= kMeanWithin && channel.std >= kStdLow && channel.std <= kStdHigh;
      if (!fits) coverage.normalisation = "doubtful";
      coverage.normalisation_text +=
          fmt::format("{}channel {}: mean {:.3f}, std {:.3f}", c == 0 ? "" : "; ", c, channel.mean, channel.std);
    }
  }
}

}  // namespace paritas
