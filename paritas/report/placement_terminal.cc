#include <algorithm>

#include <fmt/format.h>

#include "paritas/report/finding_text.h"
#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kDefaultRows = 12;

std::string plural(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", with_thousands(count), what, count == 1 ? "" : "s");
}

std::string label(const Style& style, const char* text) {
  return bold(style, text) + std::string(15 - std::min<size_t>(14, std::string_view(text).size()), ' ');
}

std::string optimised_line(const PlacementAudit& audit, const Style& style) {
  if (!audit.totals.optimised_nodes)
    return label(style, "Optimised") + "how many nodes the optimised graph has is not told\n";
  std::string text;
  for (const auto& [provider, nodes] : audit.optimised)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", with_thousands(nodes),
                        provider.find(' ') == std::string::npos ? "on " + provider : provider);
  return label(style, "Optimised") + fmt::format("{}: {}\n", plural(*audit.totals.optimised_nodes, "node"), text);
}

std::string source_line(const PlacementAudit& audit, const Style& style) {
  const PlacementTotals& totals = audit.totals;
  std::string text = plural(totals.source_nodes, "node") + ":";
  const char* separator = " ";
  for (int i = 0; i < kPlaces; ++i) {
    const auto place = static_cast<Place>(i);
    if (totals.of(place) == 0) continue;
    text += fmt::format("{}{} {}", separator, with_thousands(totals.of(place)), name(place));
    separator = ", ";
  }
  if (totals.inferred > 0) text += fmt::format(" ({} by what surrounds them)", with_thousands(totals.inferred));
  return wrap(text, label(style, "Source"), std::string(15, ' '), style.width);
}

std::string where_lines(const PlacementAudit& audit, const Style& style) {
  const PlacementTotals& totals = audit.totals;
  std::string out = label(style, "Device");
  out += audit.device_requested ? fmt::format("{} of {} nodes, {} on {}, {}\n", with_thousands(audit.on_device()),
                                              with_thousands(audit.counted()), percent(audit.device_share()),
                                              audit.requested, plural(totals.device_partitions, "partition"))
                                : fmt::format("none was asked for: {}\n", audit.requested);
  out += optimised_line(audit, style) + source_line(audit, style);
  if (totals.device_share_by_time)
    out +=
        label(style, "Time") + fmt::format("{} of what nodes took was on the device (profile, {})\n",
                                           percent(*totals.device_share_by_time), plural(totals.profile_runs, "run"));
  if (totals.device_cycles)
    out += label(style, "Cycles") + fmt::format("{} in {} of the device, {} beside them; none are counted on the CPU\n",
                                                with_thousands(*totals.device_cycles),
                                                plural(audit.executed_ops, "operation"),
                                                with_thousands(totals.other_cycles.value_or(0)));
  std::string crossings =
      fmt::format("{}, {}", plural(totals.crossings, "hand-over"), plural(totals.crossing_bytes, "byte"));
  if (totals.crossings_of_unknown_size > 0)
    crossings += fmt::format(" and {} of unknown size", with_thousands(totals.crossings_of_unknown_size));
  return out + label(style, "Crossing") + crossings + " between partitions in one run\n";
}

std::string evidence_table(const PlacementAudit& audit, const Style& style) {
  Table table({"evidence", "names that map", "says"}, {false, true, false});
  for (const EvidenceUse& use : audit.evidence)
    table.row({std::string(name(use.source)),
               use.names == 0 ? "none to map" : fmt::format("{} of {}", use.mapped, use.names), use.says});
  return table.empty() ? std::string() : "\n" + table.render(style);
}

std::string optional_number(const std::optional<uint64_t>& value) { return value ? with_thousands(*value) : "-"; }

std::string partitions_table(const PlacementAudit& audit, const Style& style) {
  if (audit.partitions.size() < 2) return {};
  Table table({"partition", "source nodes", "optimised", "us", "bytes in", "bytes out"},
              {false, true, true, true, true, true});
  size_t shown = 0;
  for (const PartitionRow& row : audit.partitions) {
    if (shown == 2 * kDefaultRows && !style.verbose) break;
    ++shown;
    table.row({row.name, with_thousands(row.source_nodes),
               row.optimised_nodes == 0 ? "-" : with_thousands(row.optimised_nodes), optional_number(row.microseconds),
               optional_number(row.input_bytes), optional_number(row.output_bytes)});
  }
  std::string out = "\n" + table.render(style);
  if (audit.partitions.size() > shown) out += fmt::format("... {} more\n", audit.partitions.size() - shown);
  return out;
}

std::string evidence_of(const NodePlacement& node) {
  if (node.inferred) return "what surrounds it";
  std::string text;
  for (EvidenceSource source : node.evidence) text += (text.empty() ? "" : ", ") + std::string(name(source));
  return text.empty() ? "none" : text;
}

// All nodes with --verbose, else those that are not on the device.
std::string nodes_table(const PlacementAudit& audit, const Style& style) {
  Table table({"node", "op", "where", "evidence"}, {false, false, false, false});
  size_t shown = 0, all = 0;
  for (const NodePlacement& node : audit.nodes) {
    if (!style.verbose && (node.place == Place::kDevice || node.place == Place::kConstant)) continue;
    if (++all > kDefaultRows && !style.verbose) continue;
    ++shown;
    table.row({node.name, node.op, std::string(name(node.place)), evidence_of(node)});
  }
  if (all == 0) return {};
  std::string out = "\n" + table.render(style);
  if (all > shown) out += fmt::format("... {} more (--verbose, --json)\n", all - shown);
  return out;
}

std::string name_list(const std::vector<std::string>& names, const Style& style) {
  std::string text;
  for (size_t i = 0; i < names.size() && (i < kDefaultRows + 8 || style.verbose); ++i)
    text += (i ? ", " : "") + names[i];
  if (names.size() > kDefaultRows + 8 && !style.verbose)
    text += fmt::format(" and {} more", names.size() - kDefaultRows - 8);
  return text;
}

std::string pin_block(const PinExperiment& pin, const PlacementAudit& after, const Style& style) {
  std::string pins;
  for (const auto& text : pin.pins) pins += (pins.empty() ? "" : ", ") + text;
  std::string out =
      "\n" + wrap(fmt::format("{} touches {} of the source graph{}", pins, plural(pin.touched_source.size(), "node"),
                              pin.touched_source.empty() ? "" : ": " + name_list(pin.touched_source, style)),
                  label(style, "Before"), std::string(15, ' '), style.width);
  if (!pin.ran) return out;
  out += std::string(15, ' ') +
         fmt::format("and {} of the optimised graph\n", plural(pin.touched_optimised.size(), "node"));
  const std::string after_text =
      fmt::format("{} of them on the CPU, {} beside them; partitions {} -> {}; hand-overs {} -> {}, bytes {} -> {}",
                  pin.on_cpu_after.size(), plural(pin.moved_too.size(), "other node"),
                  pin.before.totals.device_partitions, after.totals.device_partitions,
                  with_thousands(pin.before.totals.crossings), with_thousands(after.totals.crossings),
                  with_thousands(pin.before.totals.crossing_bytes), with_thousands(after.totals.crossing_bytes));
  out += wrap(after_text, label(style, "After"), std::string(15, ' '), style.width);
  Table table({"output", "reference max", "without pin", "with pin", "cosine without", "with", "rule"},
              {false, true, true, true, true, true, false});
  bool told = false;
  for (const PinOutput& output : pin.outputs) {
    told = told || !output.cannot_tell;
    if (output.cannot_tell) {
      table.row({output.name, "", "", "", "", "", output.rule});
      continue;
    }
    if (output.integers) {
      table.row({output.name, "", "", "", "", "",
                 fmt::format("{} -> {} of {} differ; {}", output.before.differing, output.after.differing,
                             output.before.count, output.rule)});
      continue;
    }
    table.row({output.name, number(output.before.reference_max), number(output.before.device_max),
               number(output.after.device_max), number(output.before.cosine), number(output.after.cosine),
               output.rule});
  }
  out += "\n" + table.render(style);
  const char* verdict = pin.on_cpu_after.empty() ? "the pin moved nothing"
                        : !told                  ? "cannot tell: every output depends on random operators"
                        : !pin.deviated          ? "nothing to repair: the outputs agreed without the pin"
                        : pin.recovered          ? "the outputs match again, with the pinned nodes computed by the CPU"
                                                 : "did not repair";
  return out + label(style, "Pinned") + verdict + "\n";
}

std::string change_block(const PlacementChange& change, const Style& style) {
  std::string out = "\n" + label(style, "Against") +
                    fmt::format("{}: device {} -> {}, partitions {} -> {}, hand-overs {} -> {}\n", visible(change.file),
                                percent(change.share_before), percent(change.share_after), change.partitions_before,
                                change.partitions_after, change.crossings_before, change.crossings_after);
  Table table({"moved", "op", "from", "to"}, {false, false, false, false});
  size_t shown = 0;
  for (const MovedNode& node : change.moved) {
    if (shown == kDefaultRows && !style.verbose) break;
    ++shown;
    table.row({node.name, node.op, node.from, node.to});
  }
  if (!table.empty()) out += table.render(style);
  if (change.moved.size() > shown) out += fmt::format("... {} more\n", change.moved.size() - shown);
  if (!change.only_before.empty()) out += fmt::format("gone: {}\n", visible(name_list(change.only_before, style)));
  if (!change.only_after.empty()) out += fmt::format("new: {}\n", visible(name_list(change.only_after, style)));
  return out;
}

}  // namespace

std::string terminal(const PlacementResult& result, const Style& style) {
  const PlacementAudit& audit = result.placement;
  std::string out = banner(style, result.verdict);
  const std::string pad(name(result.verdict).size() + 3, ' ');
  for (size_t i = 0; i < result.reasons.size() && i < 3; ++i)
    out += (i == 0 ? "   " : pad) + visible(result.reasons[i]) + "\n";
  if (!audit.evidence.empty())
    out += "\n" + where_lines(audit, style) + evidence_table(audit, style) + partitions_table(audit, style) +
           nodes_table(audit, style);
  if (result.pin) out += pin_block(*result.pin, audit, style);
  if (result.change) out += change_block(*result.change, style);
  if (!result.findings.empty()) out += "\n";
  for (const Finding& finding : result.findings) out += finding_block(finding, style, /*whole=*/true);
  if (!audit.unmapped.empty())
    out += dim(style, fmt::format("note: {} of the optimised graph {} to no node of the model: {}",
                                  plural(audit.unmapped.size(), "name"), audit.unmapped.size() == 1 ? "leads" : "lead",
                                  name_list(audit.unmapped, style))) +
           "\n";
  if (!audit.ambiguous.empty())
    out +=
        dim(style, fmt::format("note: {} by several nodes of the model, so that no place is known by {}: {}",
                               audit.ambiguous.size() == 1 ? "a name is used"
                                                           : fmt::format("{} names are used", audit.ambiguous.size()),
                               audit.ambiguous.size() == 1 ? "it" : "them", name_list(audit.ambiguous, style))) +
        "\n";
  for (const auto& pinned : result.pinned_dimensions) out += dim(style, "pinned: " + pinned) + "\n";
  for (const auto* notes : {&audit.notes, &result.notes})
    for (const std::string& note : *notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

}  // namespace paritas
