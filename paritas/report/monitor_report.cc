#include "paritas/report/monitor_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kShownLayers = 20, kShownBlocks = 12, kShownSamples = 5;

std::string cell(const MonitoredLayer& layer, const char* metric, bool worst) {
  const MetricSummary* m = layer.find(metric);
  return m == nullptr ? "-" : number(worst ? m->worst : m->median);
}

// Flagged ones first, by how often, then by median NMSE.
std::vector<const MonitoredLayer*> ranked(const MonitorResult& result) {
  std::vector<const MonitoredLayer*> layers;
  for (const MonitoredLayer& layer : result.layers) layers.push_back(&layer);
  std::stable_sort(layers.begin(), layers.end(), [](const MonitoredLayer* a, const MonitoredLayer* b) {
    if (a->flagged != b->flagged) return a->flagged > b->flagged;
    const MetricSummary *x = a->find("nmse"), *y = b->find("nmse");
    return (x == nullptr ? -1 : x->median) > (y == nullptr ? -1 : y->median);
  });
  return layers;
}

std::string layers_table(const MonitorResult& result, const Style& style) {
  Table table({"layer", "op", "flagged", "cosine", "worst", "SQNR dB", "worst", "max abs", "x baseline", "worst in"},
              {false, false, true, true, true, true, true, true, true, false});
  const auto layers = ranked(result);
  const size_t shown = style.verbose ? layers.size() : std::min(layers.size(), kShownLayers);
  for (size_t i = 0; i < shown; ++i) {
    const MonitoredLayer& l = *layers[i];
    const MetricSummary* sqnr = l.find("sqnr_db");
    table.row({l.name, l.op, fmt::format("{} of {}", l.flagged, l.samples), cell(l, "cosine", false),
               cell(l, "cosine", true), cell(l, "sqnr_db", false), cell(l, "sqnr_db", true), cell(l, "max_abs", true),
               cell(l, "x_baseline", true), sqnr == nullptr ? "" : sqnr->worst_sample});
  }
  std::string text = table.render(style);
  if (shown < layers.size())
    text += dim(style, fmt::format("{} more layers: --verbose, --csv", layers.size() - shown)) + "\n";
  return text;
}

std::string blocks_table(const MonitorResult& result, const Style& style) {
  Table table({"block", "layers", "flagged", "worst layer", "median NMSE"}, {false, true, true, false, true});
  size_t left = 0;
  for (const MonitoredBlock& b : result.blocks) {
    if (b.flagged == 0 && !style.verbose) continue;
    if (table.rows() == kShownBlocks && !style.verbose) {
      ++left;
      continue;
    }
    table.row({b.path.empty() ? "(none)" : b.path, std::to_string(b.layers), std::to_string(b.flagged), b.worst_layer,
               scientific(b.worst_nmse)});
  }
  if (table.empty()) return {};
  std::string text = "\nBlocks with flagged layers\n" + table.render(style);
  if (left > 0) text += dim(style, fmt::format("{} more blocks: --verbose", left)) + "\n";
  return text;
}

std::string coverage_text(const MonitorResult& result, const Style& style) {
  std::string text = "\nWhat the samples cover\n";
  const MonitorCoverage& coverage = result.coverage;
  const auto line = [&](const std::string& one) { text += wrap(one, "  ", "    ", style.width) + "\n"; };
  if (coverage.groups_by.empty())
    line("classes: not known (no classification is declared)");
  else
    line(fmt::format("classes: {} (by {})", coverage.groups.size(), coverage.groups_by));
  for (const InputCoverage& input : coverage.inputs) {
    for (size_t c = 0; c < input.channels.size(); ++c) {
      const ChannelRange& channel = input.channels[c];
      line(fmt::format("{}{}: {} to {}, mean {}, std {}", input.input,
                       input.channel_axis.empty() ? "" : fmt::format(" channel {}", c), number(channel.low),
                       number(channel.high), number(channel.mean), number(channel.std)));
    }
    line(fmt::format("{}: {} constant, {} saturated samples; normalisation {} ({})", input.input, input.constant.size(),
                     input.saturated.size(), input.normalisation, input.normalisation_text));
  }
  return text;
}

std::string tasks_text(const MonitorResult& result, const Style& style) {
  std::string text;
  for (const TaskResult& task : result.tasks) {
    text += "\n" + wrap(fmt::format("{}: {}", task.name, name(task.verdict)), "", "  ", style.width) + "\n";
    const auto& c = std::get<ClassificationResult>(task.result);
    const auto line = [&](const std::string& one) { text += wrap(one, "  ", "    ", style.width) + "\n"; };
    line(fmt::format("top-1 agrees in {} of {} ({} to {}); top-{} in {}", c.top1_same, c.judged,
                     percent(c.top1_interval.low), percent(c.top1_interval.high), c.spec.k, c.topk_same));
    for (const auto& [side, accuracy] : {std::pair("reference", &c.reference_accuracy), {"device", &c.device_accuracy}})
      if (*accuracy)
        line(fmt::format("accuracy of the {}: {} ({} to {})", side, percent((*accuracy)->share),
                         percent((*accuracy)->interval.low), percent((*accuracy)->interval.high)));
    for (const TaskGate& gate : task.gates) line(gate.gate + ": " + gate.text);
  }
  return text;
}

std::string notes_text(const MonitorResult& result, const Style& style) {
  std::string text;
  const auto line = [&](const std::string& one) { text += wrap(one, "note: ", "  ", style.width) + "\n"; };
  if (!result.decisions.empty())
    line(
        fmt::format("{} operators choose ({}): figures of layers behind them were taken free, so a moved choice shows "
                    "as an error there; paritas locate feeds the reference's choices",
                    result.decisions.size(), result.decisions.front()));
  for (size_t i = 0; i < result.amplified.size() && i < kShownSamples; ++i) {
    const Amplified& a = result.amplified[i];
    line(
        fmt::format("{}: the error reaches {} (NMSE {}, {} x the median) though no inner layer is worse than usual "
                    "({}: {}, median {})",
                    a.sample, a.output, scientific(a.nmse), number(a.nmse / a.median), a.inner_layer,
                    scientific(a.inner_nmse), scientific(a.inner_median)));
  }
  if (result.amplified.size() > kShownSamples)
    line(fmt::format("{} more such samples: --json", result.amplified.size() - kShownSamples));
  for (const std::string& note : result.notes) line(note);
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string terminal(const MonitorResult& result, const Style& style) {
  std::string text = banner(style, result.verdict);
  for (size_t i = 0; i < result.deciding && i < result.reasons.size(); ++i)
    text += (i == 0 ? "   " : "           ") + visible(result.reasons[i]) + "\n";
  if (result.deciding == 0) text += "\n";
  uint64_t flagged = 0;
  for (const MonitoredLayer& layer : result.layers) flagged += layer.flagged > 0;
  text += fmt::format("\n{} of {} samples, {} against {}; {} of {} tensors paired, {} flagged by the monitor profile\n",
                      result.compared, result.samples, visible(result.reference), visible(result.device),
                      result.paired_layers, result.reference_layers, flagged);
  for (const auto& [rule, count] : result.pairing_rules)
    text += fmt::format("  paired by {}: {}\n", visible(rule), count);
  text += "\n" + layers_table(result, style) + blocks_table(result, style) + tasks_text(result, style) +
          coverage_text(result, style) + notes_text(result, style);
  return text;
}

}  // namespace paritas
