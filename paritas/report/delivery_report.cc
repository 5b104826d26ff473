#include "paritas/report/delivery_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paritas {
namespace {

constexpr size_t kDefaultReasons = 5;
constexpr double kMebibyte = 1024.0 * 1024.0;

std::string short_hash(const std::string& sha256) { return sha256.substr(0, 12); }

std::string sized(uint64_t elements, uint64_t bytes) {
  return fmt::format("{} elements, {} bytes ({:.2f} MiB)", with_thousands(elements), with_thousands(bytes),
                     static_cast<double>(bytes) / kMebibyte);
}

// The checks below say what a pass rests on.
std::string reasons_text(Verdict verdict, std::vector<std::string> reasons, uint64_t deciding, const Style& style) {
  std::string out = banner(style, verdict);
  if (verdict == Verdict::kPass) return fmt::format("{}   all {} checks hold\n", out, reasons.size());
  reasons.resize(std::min<size_t>(reasons.size(), deciding));
  const std::string indent(name(verdict).size() + 3, ' ');
  const size_t shown = style.verbose ? reasons.size() : std::min(reasons.size(), kDefaultReasons);
  for (size_t i = 0; i < shown; ++i) out += wrap(reasons[i], i == 0 ? "   " : indent, indent + "  ", style.width);
  if (shown < reasons.size()) out += fmt::format("{}... and {} more (--verbose)\n", indent, reasons.size() - shown);
  return out;
}

std::string cuts_text(const Manifest& manifest, const Style& style) {
  std::string out;
  for (const PackageCut& cut : manifest.cuts) {
    uint64_t elements = 0, bytes = 0;
    std::vector<std::string> names;
    for (const BoundaryTensor& tensor : cut.tensors) {
      elements += tensor.elements;
      bytes += tensor.bytes;
      names.push_back(fmt::format("{} {}", tensor.name, to_string(tensor.shape)));
    }
    out += wrap(fmt::format("{}: {} hand over {}", cut.name, fmt::join(names, ", "), sized(elements, bytes)),
                "Cut        ", "             ", style.width);
    for (const BoundaryTensor& tensor : cut.tensors)
      out += dim(style, fmt::format("             {} is {}", tensor.name, tensor.source)) + "\n";
  }
  return out;
}

std::string parts_text(const Manifest& manifest, const Style& style) {
  std::string out;
  for (const PackagePart& part : manifest.parts) {
    std::vector<std::string> placed;
    for (const auto& [provider, nodes] : part.placement.nodes)
      placed.push_back(fmt::format("{} on {}", nodes, provider));
    std::string text =
        fmt::format("{}: {} for {}, {} nodes of the model", part.name, part.file, part.target, part.nodes);
    if (!placed.empty()) text += fmt::format(", {} of its own graph", fmt::join(placed, ", "));
    if (part.compiled)
      text += fmt::format("; context compiled in {:.2f} s, loads in {:.3f} s", part.build_seconds, part.reload_seconds);
    if (part.trace) text += fmt::format("; op trace names {} operations", part.trace->source_ops);
    out += wrap(text, "Part       ", "             ", style.width);
  }
  return out;
}

std::string candidates_text(const std::vector<CutCost>& candidates, const Style& style) {
  if (candidates.empty()) return {};
  Table table({"cut", "nodes", "tensors", "elements", "bytes", "front half", "device/CPU", ""},
              {false, true, true, true, true, false, false, false});
  for (const CutCost& cost : candidates)
    table.row({cost.name, fmt::format("{}+{}", cost.front_nodes, cost.rear_nodes), std::to_string(cost.tensors.size()),
               with_thousands(cost.elements), with_thousands(cost.bytes), cost.front_placement,
               std::string(name(cost.verdict)),
               cost.chosen    ? "chosen: cheapest that holds"
               : cost.allowed ? "holds"
                              : cost.deciding});
  return "\nProposed cuts, front half on the device and rear half on the CPU\n" + table.render(style, "  ");
}

std::string checks_text(const VerifyResult& result, const Style& style) {
  std::string out;
  for (const PackageCheck& check : result.checks) {
    out += wrap(fmt::format("{}: {}{}", check.id, check.text,
                            check.verdict == Verdict::kPass ? "" : fmt::format(" ({})", name(check.verdict))),
                "Check      ", "             ", style.width);
    if (!style.verbose) continue;
    out += wrap("shows: " + check.shows, "             ", "               ", style.width);
    out += wrap("does not show: " + check.does_not_show, "             ", "               ", style.width);
  }
  return out;
}

std::string tensors_text(const char* what, const std::optional<CheckResult>& judged, const Style& style) {
  if (!judged) return {};
  Table table({"sample", "tensor", "cosine", "max abs", "differing", "rule"}, {false, false, true, true, true, false});
  for (const TensorComparison& tensor : judged->comparison.tensors) {
    if (tensor.role == Role::kInput || !tensor.compared()) continue;
    const bool names = tensor.metrics->names;
    table.row({tensor.sample, tensor.name, names ? "" : fmt::format("{:.6f}", tensor.metrics->cosine),
               names ? "" : number(tensor.metrics->max_abs), with_thousands(tensor.metrics->differing), tensor.rule});
  }
  return table.empty() ? std::string() : fmt::format("\n{}\n", what) + table.render(style, "  ");
}

std::string notes_text(const std::vector<std::string>& notes, const Style& style) {
  std::string out;
  for (const std::string& note : notes) out += wrap("note: " + note, "", "  ", style.width);
  return dim_lines(style, out);
}

std::string verification_text(const VerifyResult& result, const Style& style) {
  std::string out = checks_text(result, style);
  for (const std::string& difference : result.environment)
    out += wrap("differs from where it was made: " + difference, "Machine    ", "             ", style.width);
  if (style.verbose)
    out += tensors_text("CPU parts, fed with the reference's tensors", result.cpu_parts, style) +
           tensors_text("Chain", result.chain, style);
  return out;
}

}  // namespace

std::string terminal(const VerifyResult& result, const Style& style) {
  std::string out = reasons_text(result.verdict, result.reasons, result.deciding, style);
  out += fmt::format("\nPackage    {}, of {} (SHA-256 {})\n", result.package, result.source_name,
                     short_hash(result.source_sha256));
  out += verification_text(result, style);
  out += notes_text(result.notes, style);
  out += dim(style, fmt::format("manifest sha256 {}, {:.1f} s", short_hash(result.manifest_sha256), result.seconds)) +
         "\n";
  return out;
}

std::string terminal(const SplitResult& result, const Style& style) {
  std::string out = reasons_text(result.verdict, result.reasons, result.deciding, style);
  out += "\n";
  if (!result.refused.empty())
    out += wrap("nothing was delivered: " + result.refused, "Package    ", "             ", style.width);
  else
    out += fmt::format("Package    {}: {} files, {} and {}\n", result.package, result.manifest.files.size(),
                       kManifestName, "SHA256SUMS");
  out += cuts_text(result.manifest, style);
  if (!result.manifest.premise.empty())
    out += wrap(result.manifest.premise, "Premise    ", "             ", style.width);
  out += parts_text(result.manifest, style);
  if (result.verification) out += verification_text(*result.verification, style);
  out += candidates_text(result.candidates, style);
  out += notes_text(result.notes, style);
  out += dim(style, fmt::format("model sha256 {}, {:.1f} s", short_hash(result.model_sha256), result.seconds)) + "\n";
  return out;
}

std::string terminal(const PackageLocateResult& result, const Style& style) {
  std::string out = banner(style, result.verdict);
  const std::string indent(name(result.verdict).size() + 3, ' ');
  for (size_t i = 0; i < result.reasons.size(); ++i)
    out += wrap(result.reasons[i], i == 0 ? "   " : indent, indent + "  ", style.width);
  out += fmt::format("\nLocated    {} against {} on {}\n\n", result.package, result.model, result.reference);
  Table table({"part", "target", "tensor", "cosine, chain", "cosine, part alone fed", "this part alone"},
              {false, false, false, true, true, false});
  for (const LocatedPart& part : result.parts)
    for (size_t i = 0; i < part.tensors.size(); ++i) {
      const PartTensor& tensor = part.tensors[i];
      auto figure = [](const PairMetrics& m) {
        return m.names ? fmt::format("{} differ", m.differing) : fmt::format("{:.6f}", m.cosine);
      };
      table.row({i == 0 ? part.name : "", i == 0 ? part.target : "", tensor.name, figure(tensor.accumulated),
                 figure(tensor.local), i == 0 ? part.alone.deciding : ""});
    }
  out += table.render(style, "  ") + "\n";
  for (const Finding& finding : result.findings) {
    out += wrap(finding.text, finding.severity == Severity::kFault ? "Fault      " : "Note       ", "             ",
                style.width);
    out += wrap("shows: " + finding.shows, "             ", "               ", style.width);
    out += wrap("does not show: " + finding.does_not_show, "             ", "               ", style.width);
    out += wrap("next: " + finding.next, "             ", "               ", style.width);
  }
  out += notes_text(result.notes, style);
  out += dim(style, fmt::format("manifest sha256 {}, {:.1f} s", short_hash(result.manifest_sha256), result.seconds)) +
         "\n";
  return out;
}

}  // namespace paritas
