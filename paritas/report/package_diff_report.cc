#include "paritas/report/package_diff_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/delivery/compare_packages.h"

namespace paritas {
namespace {

constexpr size_t kDefaultRows = 10;

size_t shown_of(size_t count, const Style& style) { return style.verbose ? count : std::min(count, kDefaultRows); }

std::string rest_of(size_t count, size_t shown, const char* what) {
  return shown >= count ? std::string() : fmt::format("  ... and {} more {} (--verbose)\n", count - shown, what);
}

std::string package_text(const char* label, const ComparedPackage& package) {
  return fmt::format("{} {}, of {} (SHA-256 {}), made {}\n", label, package.folder, package.source_name,
                     package.source_sha256.substr(0, 12), package.created);
}

std::string facts_text(const PackageDiff& diff, const std::string& area, const Style& style) {
  Table table({"what", "before", "after"}, {false, false, false});
  constexpr size_t kWidest = 44;
  std::vector<const PackageFact*> facts;
  for (const PackageFact& fact : diff.facts)
    if (fact.area == area) facts.push_back(&fact);
  const size_t shown = shown_of(facts.size(), style);
  for (size_t i = 0; i < shown; ++i) {
    auto [before, after] = style.verbose ? std::pair(facts[i]->before.value_or("-"), facts[i]->after.value_or("-"))
                                         : brief_values(*facts[i], kWidest);
    table.row({facts[i]->subject, std::move(before), std::move(after)});
  }
  return table.empty() ? std::string() : table.render(style, "  ") + rest_of(facts.size(), shown, "of these");
}

std::string side_text(const ComparedConstant& constant) {
  auto text = [](const SideInfo& side) { return fmt::format("{} {}", name(side.dtype), to_string(side.shape)); };
  if (!constant.before && !constant.after) return "";
  if (!constant.before || !constant.after) return text(constant.before ? *constant.before : *constant.after);
  const std::string before = text(*constant.before), after = text(*constant.after);
  return before == after ? before : before + " -> " + after;
}

std::string weights_text(const ComparedPart& part, const Style& style) {
  if (part.constants.empty()) return {};
  Table table({part.name, "", "type", "differing", "largest", "NMSE"}, {false, false, false, true, true, true});
  const size_t shown = shown_of(part.constants.size(), style);
  for (size_t i = 0; i < shown; ++i) {
    const ComparedConstant& c = part.constants[i];
    const std::string difference = c.other_part.empty()                 ? std::string(name(c.difference))
                                   : c.difference == Difference::kAdded ? "from part " + c.other_part
                                                                        : "to part " + c.other_part;
    table.row({c.after_name.empty() ? c.name : c.name + " -> " + c.after_name, difference, side_text(c),
               c.metrics ? with_thousands(c.metrics->differing) : "", c.metrics ? number(c.metrics->max_abs) : "",
               c.metrics ? scientific(c.metrics->nmse) : ""});
  }
  return table.render(style, "  ") + rest_of(part.constants.size(), shown, "constants");
}

std::string graph_text(const ComparedPart& part, const Style& style) {
  if (!part.graph || part.graph->nodes.empty()) return {};
  Table table({part.name, "", "before", "after"}, {false, false, false, false});
  const std::vector<ComparedNode>& nodes = part.graph->nodes;
  const size_t shown = shown_of(nodes.size(), style);
  for (size_t i = 0; i < shown; ++i)
    table.row({nodes[i].name, nodes[i].what.empty() ? std::string(name(nodes[i].difference)) : nodes[i].what,
               nodes[i].op_before, nodes[i].op_after});
  return table.render(style, "  ") + rest_of(nodes.size(), shown, "nodes");
}

std::string reference_text(const ComparedReference& reference, const Style& style) {
  Table table({"tensor", "samples", "equal", "cosine", "largest", "NMSE", "worst in"},
              {false, true, true, true, true, true, false});
  for (const ComparedReferenceTensor& tensor : reference.tensors) {
    const bool figures = tensor.worst && !tensor.worst->names;
    table.row({tensor.name, std::to_string(tensor.samples), std::to_string(tensor.equal),
               figures ? fmt::format("{:.6f}", tensor.worst->cosine) : "", figures ? number(tensor.worst->max_abs) : "",
               figures ? scientific(tensor.worst->nmse) : "",
               tensor.equal == tensor.samples ? "" : tensor.worst_before});
  }
  return table.empty() ? std::string() : table.render(style, "  ");
}

std::string figures_text(const std::vector<ComparedFigure>& figures, bool all, const Style& style) {
  Table table({"of", "figure", "before", "after"}, {false, false, true, true});
  // Digits enough for what is nearly equal to look different.
  auto cells = [](const ComparedFigure& figure) {
    auto text = [](const std::optional<double>& value, const char* format) {
      return value ? fmt::format(fmt::runtime(format), *value) : std::string("-");
    };
    const bool alike = text(figure.before, "{:.6g}") == text(figure.after, "{:.6g}");
    const char* format = alike && !figure.same() ? "{}" : "{:.6g}";
    return std::pair(text(figure.before, format), text(figure.after, format));
  };
  std::vector<const ComparedFigure*> kept;
  for (const ComparedFigure& figure : figures)
    if (all || !figure.same()) kept.push_back(&figure);
  const size_t shown = shown_of(kept.size(), style);
  for (size_t i = 0; i < shown; ++i) {
    auto [before, after] = cells(*kept[i]);
    table.row({fmt::format("{}, {}", kept[i]->scope, kept[i]->subject), kept[i]->figure, std::move(before),
               std::move(after)});
  }
  return table.empty() ? std::string() : table.render(style, "  ") + rest_of(kept.size(), shown, "figures");
}

std::string checks_text(const ComparedVerification& verification, const Style& style) {
  Table table({"check", "before", "after"}, {false, false, false});
  for (const ComparedCheck& check : verification.checks)
    if (style.verbose || check.before != check.after)
      table.row({check.id, check.before.value_or("-"), check.after.value_or("-")});
  return table.empty() ? std::string() : table.render(style, "  ");
}

std::string files_text(const std::vector<ComparedFile>& files, const Style& style) {
  Table table({"file", "of", "", "bytes before", "after"}, {false, false, false, true, true});
  std::vector<const ComparedFile*> kept;
  for (const ComparedFile& file : files)
    if (file.difference != Difference::kSame) kept.push_back(&file);
  const size_t shown = shown_of(kept.size(), style);
  auto bytes = [](const std::optional<PackageFile>& file) {
    return file ? with_thousands(file->bytes) : std::string("-");
  };
  for (size_t i = 0; i < shown; ++i)
    table.row({kept[i]->path, kept[i]->role, std::string(name(kept[i]->difference)), bytes(kept[i]->before),
               bytes(kept[i]->after)});
  return table.empty() ? std::string() : table.render(style, "  ") + rest_of(kept.size(), shown, "files");
}

// What belongs to an area below its line.
std::string details_of(const std::string& area, const PackageDiff& diff, const Style& style) {
  std::string out;
  if (area == "weights" || area == "graph")
    for (const ComparedPart& part : diff.parts)
      out += area == "weights" ? weights_text(part, style) : graph_text(part, style);
  if (area == "reference outputs") return reference_text(diff.reference, style) + facts_text(diff, "reference", style);
  if (area == "verification")
    return checks_text(diff.verification, style) + figures_text(diff.verification.figures, style.verbose, style);
  if (area == "files") return files_text(diff.files, style);
  if (area == "timings") {
    out = figures_text(diff.timings.single, true, style);
    return out + wrap("single observations, in seconds; " + diff.timings.text, "  ", "  ", style.width);
  }
  return out + facts_text(diff, area, style);
}

// The table below does not say it all.
bool has_own_text(const std::string& area) { return area == "graph" || area == "verification" || area == "files"; }

}  // namespace

std::string terminal(const PackageDiff& diff, const Style& style) {
  const std::string lead = diff.changed ? "CHANGED   " : "SAME      ";
  std::string out = wrap(diff.finding.text, bold(style, lead), std::string(lead.size(), ' '), style.width);
  const std::string pad(26, ' ');
  out += wrap(diff.finding.shows, "          shows           ", pad, style.width);
  out += wrap(diff.finding.does_not_show, "          does not show   ", pad, style.width);
  out += wrap(diff.finding.next, "          next            ", pad, style.width);
  out += "\n" + package_text("Before ", diff.before) + package_text("After  ", diff.after);
  std::vector<std::string> same;
  for (const PackageArea& area : diff.areas) {
    if (area.difference == Difference::kSame) {
      same.push_back(area.name);
      continue;
    }
    const std::string details = details_of(area.name, diff, style);
    std::string heading = bold(style, area.name) + (area.matters ? "" : " (does not matter)");
    if (details.empty() || has_own_text(area.name)) heading += ": " + area.text;
    out += "\n" + wrap(heading, "", "  ", style.width) + details;
  }
  if (!same.empty()) out += "\n" + wrap(fmt::format("same: {}", fmt::join(same, ", ")), "", "  ", style.width);
  std::string notes;
  for (const std::string& note : diff.notes) notes += wrap("note: " + note, "", "  ", style.width);
  out += dim_lines(style, notes);
  return out +
         dim(style, fmt::format("manifests sha256 {} and {}, {:.1f} s", diff.before.manifest_sha256.substr(0, 12),
                                diff.after.manifest_sha256.substr(0, 12), diff.seconds)) +
         "\n";
}

}  // namespace paritas
