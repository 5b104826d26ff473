// What changed in which respect, whether it can matter, and what is told first.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/judge/catalogue_package_diff.h"

namespace paritas::package_diff {
namespace {

using catalogue::PackageChange;

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, "; ")); }

std::string plural(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string fact_text(const PackageFact& fact) {
  constexpr size_t kLongest = 60;
  const auto [before, after] = brief_values(fact, kLongest);
  if (!fact.before) return fmt::format("{} added ({})", fact.subject, after);
  if (!fact.after) return fmt::format("{} removed ({})", fact.subject, before);
  return fmt::format("{} was {}, is {}", fact.subject, before, after);
}

PackageArea area_of_facts(const char* name, const std::vector<PackageFact>& facts) {
  PackageArea area;
  area.name = name;
  std::vector<const PackageFact*> mine;
  for (const PackageFact& fact : facts)
    if (fact.area == name) mine.push_back(&fact);
  if (mine.empty()) return area;
  area.difference = Difference::kChanged;
  area.matters = std::any_of(mine.begin(), mine.end(), [](const PackageFact* fact) { return fact->matters; });
  area.text = fact_text(*mine.front());
  if (mine.size() > 1) area.text += fmt::format(" and {} more", mine.size() - 1);
  return area;
}

bool counts(const ComparedConstant& constant) { return constant.other_part.empty(); }

PackageArea weights_area(const std::vector<ComparedPart>& parts) {
  PackageArea area;
  area.name = "weights";
  std::vector<std::string> texts;
  for (const ComparedPart& part : parts) {
    if (!part.weights_changed()) continue;
    area.difference = Difference::kChanged;
    uint64_t added = 0, removed = 0, moved = 0;
    for (const ComparedConstant& constant : part.constants) {
      if (!counts(constant))
        ++moved;
      else if (constant.difference == Difference::kAdded)
        ++added;
      else if (constant.difference == Difference::kRemoved)
        ++removed;
    }
    if (part.changed + added + removed != 0) area.matters = true;
    std::vector<std::string> words;
    if (part.changed != 0) {
      const ComparedConstant& most = part.constants.front();
      words.push_back(fmt::format("{} of {} constants changed, most \"{}\" ({})", part.changed,
                                  part.same + part.renamed + part.changed + part.removed, most.name,
                                  most.metrics ? fmt::format("NMSE {:.2g}, largest difference {:.4g}",
                                                             most.metrics->nmse, most.metrics->max_abs)
                                               : "another shape or type"));
    }
    if (added != 0) words.push_back(fmt::format("{} added", added));
    if (removed != 0) words.push_back(fmt::format("{} removed", removed));
    if (moved != 0) words.push_back(fmt::format("{} moved from or to another part", moved));
    texts.push_back(fmt::format("{}: {}", part.name, fmt::join(words, ", ")));
  }
  area.text = joined(texts);
  return area;
}

PackageArea graph_area(const std::vector<ComparedPart>& parts, const std::vector<PackageFact>& facts) {
  PackageArea area = area_of_facts("graph", facts);
  std::vector<std::string> texts;
  for (const ComparedPart& part : parts) {
    if (!part.graph || part.graph->same) continue;
    area.difference = Difference::kChanged;
    area.matters = true;
    std::vector<std::string> operators;
    for (const OperatorCount& count : part.graph->operators)
      operators.push_back(fmt::format("{} {} -> {}", count.op, count.before, count.after));
    texts.push_back(fmt::format("{}: {} before, {} after, {}{}", part.name, plural(part.graph->nodes_before, "node"),
                                part.graph->nodes_after, plural(part.graph->nodes.size(), "difference"),
                                operators.empty() ? "" : fmt::format(" ({})", fmt::join(operators, ", "))));
  }
  if (!area.text.empty()) texts.push_back(area.text);
  area.text = joined(texts);
  return area;
}

PackageArea context_area(const std::vector<ComparedPart>& parts) {
  PackageArea area;
  area.name = "contexts";
  std::vector<std::string> texts;
  for (const ComparedPart& part : parts) {
    if (part.told_by != "hash") continue;
    area.difference = Difference::kChanged;
    area.matters = true;
    texts.push_back(fmt::format("{} had SHA-256 {}, has {}", part.name, part.sha256_before.substr(0, 12),
                                part.sha256_after.substr(0, 12)));
  }
  area.text = joined(texts);
  return area;
}

PackageArea samples_area(const ComparedReference& reference) {
  PackageArea area;
  area.name = "reference inputs";
  area.matters = !reference.only_before.empty() || !reference.only_after.empty();
  if (!area.matters && !reference.reordered) return area;
  area.difference = Difference::kChanged;
  area.text = area.matters ? fmt::format("{} shared, {} only in the first, {} only in the second",
                                         plural(reference.shared, "sample"), reference.only_before.size(),
                                         reference.only_after.size())
                           : "the same samples in another order";
  return area;
}

PackageArea reference_area(const ComparedReference& reference, const std::vector<PackageFact>& facts) {
  PackageArea area = area_of_facts("reference", facts);
  area.name = "reference outputs";
  std::vector<std::string> texts;
  for (const ComparedReferenceTensor& tensor : reference.tensors) {
    if (tensor.equal == tensor.samples) continue;
    area.difference = Difference::kChanged;
    area.matters = true;
    std::string figure = "another shape";
    if (tensor.worst)
      figure = tensor.worst->names ? fmt::format("up to {} of {} differ", tensor.worst->differing, tensor.worst->count)
                                   : fmt::format("worst NMSE {:.2g}, largest difference there {:.4g}",
                                                 tensor.worst->nmse, tensor.worst->max_abs);
    texts.push_back(fmt::format("{} on {} of {} ({})", tensor.name, tensor.samples - tensor.equal,
                                plural(tensor.samples, "sample"), figure));
  }
  if (!area.text.empty()) texts.push_back(area.text);
  area.text = joined(texts);
  return area;
}

// Verdicts, of the whole or of one check.
std::string verdicts_text(const ComparedVerification& verification) {
  auto word = [](const std::string& verdict) { return verdict.empty() ? std::string("not verified") : verdict; };
  if (verification.before != verification.after)
    return fmt::format("\"{}\" before, \"{}\" after", word(verification.before), word(verification.after));
  std::vector<std::string> texts;
  for (const ComparedCheck& check : verification.checks)
    if (check.before != check.after)
      texts.push_back(fmt::format("{}: {} before, {} after", check.id, check.before.value_or("no such check"),
                                  check.after.value_or("no such check")));
  return joined(texts);
}

// As many digits as the two need to look different.
std::string figure_text(const ComparedFigure& figure) {
  if (!figure.before) return fmt::format("none before, {:.6g} after", *figure.after);
  if (!figure.after) return fmt::format("{:.6g} before, none after", *figure.before);
  const std::string before = fmt::format("{:.6g}", *figure.before), after = fmt::format("{:.6g}", *figure.after);
  if (before != after) return fmt::format("{} before, {} after", before, after);
  return fmt::format("{} before, {} after", *figure.before, *figure.after);
}

PackageArea verification_area(const ComparedVerification& verification) {
  PackageArea area;
  area.name = "verification";
  std::vector<std::string> texts;
  if (std::string text = verdicts_text(verification); !text.empty()) texts.push_back(std::move(text));
  std::vector<const ComparedFigure*> figures;
  for (const ComparedFigure& figure : verification.figures)
    if (!figure.same()) figures.push_back(&figure);
  if (!figures.empty()) {
    const ComparedFigure& first = *figures.front();
    texts.push_back(fmt::format("{} of {} figures changed, first {} {} {} ({})", figures.size(),
                                verification.figures.size(), first.scope, first.subject, first.figure,
                                figure_text(first)));
  }
  area.matters = !texts.empty();
  if (area.matters) area.difference = Difference::kChanged;
  area.text = joined(texts);
  return area;
}

PackageArea files_area(const std::vector<ComparedFile>& files) {
  PackageArea area;
  area.name = "files";
  uint64_t changed = 0, added = 0, removed = 0;
  std::vector<std::string> unknown;
  for (const ComparedFile& file : files) {
    changed += file.difference == Difference::kChanged;
    added += file.difference == Difference::kAdded;
    removed += file.difference == Difference::kRemoved;
    if (file.matters) unknown.push_back(fmt::format("{} {}", file.path, name(file.difference)));
  }
  if (changed + added + removed == 0) return area;
  area.difference = Difference::kChanged;
  area.matters = !unknown.empty();
  area.text = fmt::format("{} changed, {} added, {} removed", changed, added, removed);
  if (!unknown.empty()) area.text += fmt::format(" ({})", fmt::join(unknown, ", "));
  return area;
}

PackageArea timings_area(const ComparedTimings& timings) {
  PackageArea area;
  area.name = "timings";
  const bool same = timings.before == timings.after &&
                    std::all_of(timings.single.begin(), timings.single.end(), [](const auto& f) { return f.same(); });
  if (!same) area.difference = Difference::kChanged;
  if (!same) area.text = "shown, not compared";
  return area;
}

// Areas of the same importance as told by the catalogue; the verification has two.
std::optional<PackageChange> change_of(const std::string& area, const ComparedVerification& verification) {
  if (area == "verification")
    return verdicts_text(verification).empty() ? PackageChange::kResults : PackageChange::kVerdict;
  static const std::pair<const char*, PackageChange> kChanges[] = {{"contract", PackageChange::kContract},
                                                                   {"weights", PackageChange::kWeights},
                                                                   {"graph", PackageChange::kGraph},
                                                                   {"contexts", PackageChange::kContext},
                                                                   {"cut", PackageChange::kCut},
                                                                   {"parts", PackageChange::kParts},
                                                                   {"environment", PackageChange::kEnvironment},
                                                                   {"gates", PackageChange::kGates},
                                                                   {"tasks", PackageChange::kGates},
                                                                   {"reference inputs", PackageChange::kSamples},
                                                                   {"reference outputs", PackageChange::kReference},
                                                                   {"files", PackageChange::kFiles}};
  for (const auto& [name, change] : kChanges)
    if (area == name) return change;
  return std::nullopt;
}

Finding most_important(const PackageDiff& diff) {
  const PackageArea* first = nullptr;
  PackageChange best = PackageChange::kFiles;
  for (const PackageArea& area : diff.areas) {
    const auto change = change_of(area.name, diff.verification);
    if (!area.matters || !change || (first != nullptr && *change >= best)) continue;
    first = &area;
    best = *change;
  }
  std::vector<std::string> also;
  for (const PackageArea& area : diff.areas) {
    const bool told = first == nullptr ? area.difference != Difference::kSame : area.matters;
    if (told && &area != first) also.push_back(area.name);
  }
  return first == nullptr ? catalogue::packages_alike(also) : catalogue::package_changed(best, {first->text, also});
}

void add_notes(PackageDiff& diff) {
  for (const ComparedPart& part : diff.parts) {
    if (part.told_by == "hash")
      diff.notes.push_back(
          fmt::format("{} is compiled: its inside is the provider's own, so it is told by its hash; other bytes need "
                      "not compute otherwise",
                      part.name));
    if (part.told_by == "context")
      diff.notes.push_back(
          fmt::format("{}: another file, but the context is equal bit for bit, but for the name that the provider gave "
                      "its partition",
                      part.name));
    if (part.renamed != 0)
      diff.notes.push_back(fmt::format("{}: {} under another name with the same values: not counted as changed",
                                       part.name, plural(part.renamed, "constant")));
    if (part.rehoused != 0)
      diff.notes.push_back(fmt::format(
          "{}: {} moved between initialisers and Constant nodes with the same values: not counted as changed",
          part.name, plural(part.rehoused, "constant")));
    if (part.told_by == "content" && part.difference == Difference::kSame) {
      const std::string stated = fmt::format("part {}: ", part.name);
      const bool other = std::any_of(diff.facts.begin(), diff.facts.end(), [&](const PackageFact& fact) {
        return fact.area == "graph" && fact.subject.starts_with(stated);
      });
      diff.notes.push_back(fmt::format("{}: differs in bytes{}: the same graph with the same constants", part.name,
                                       other ? " and in what is said not to matter, in nothing else that is compared"
                                             : ", not in what is compared"));
    }
  }
  if (diff.verification.samples_before != diff.verification.samples_after)
    diff.notes.push_back(fmt::format("figures of the verification are the worst of {} before, of {} after",
                                     plural(diff.verification.samples_before, "sample"),
                                     diff.verification.samples_after));
}

}  // namespace

void conclude(PackageDiff& diff) {
  auto facts = [&](const char* name) { return area_of_facts(name, diff.facts); };
  diff.areas = {facts("contract"),
                weights_area(diff.parts),
                graph_area(diff.parts, diff.facts),
                context_area(diff.parts),
                facts("cut"),
                facts("parts"),
                facts("environment"),
                facts("gates"),
                facts("tasks"),
                samples_area(diff.reference),
                reference_area(diff.reference, diff.facts),
                verification_area(diff.verification),
                files_area(diff.files),
                facts("source"),
                facts("made"),
                timings_area(diff.timings)};
  diff.changed =
      std::any_of(diff.areas.begin(), diff.areas.end(), [](const PackageArea& area) { return area.matters; });
  diff.finding = most_important(diff);
  add_notes(diff);
}

}  // namespace paritas::package_diff

namespace paritas {
namespace {

constexpr const char* kDots = "...";
constexpr size_t kDotsSize = 3;

bool continues_character(const std::string& text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;  // UTF-8
}

std::string cut_out(const std::string& text, size_t from, size_t width) {
  if (text.size() <= width) return text;
  while (from > 0 && continues_character(text, from)) --from;
  std::string part = from == 0 ? text : kDots + text.substr(from);
  if (part.size() <= width) return part;
  size_t end = width - kDotsSize;
  while (end > 0 && continues_character(part, end)) --end;
  return part.substr(0, end) + kDots;
}

}  // namespace

std::pair<std::string, std::string> brief_values(const PackageFact& fact, size_t width) {
  const std::string before = fact.before.value_or("-"), after = fact.after.value_or("-");
  constexpr size_t kLead = 12;  // what both share, shown in front of the difference
  const auto differ = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
  const auto common = static_cast<size_t>(differ - before.begin());
  const size_t from = common < kLead || common + kLead < width ? 0 : common - kLead;
  return {cut_out(before, from, width), cut_out(after, from, width)};
}

}  // namespace paritas
