#include "paritas/judge/catalogue_package.h"

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {
namespace {

std::string in_brackets(const std::string& text) { return text.empty() ? std::string() : fmt::format(" ({})", text); }

}  // namespace

Finding package_part_enough(const PackagePartFacts& facts) {
  Finding f;
  f.id = "package-part";
  f.severity = facts.demanded ? Severity::kFault : Severity::kNote;
  f.text = fmt::format(
      "The part \"{}\" on {} alone is enough to break the outputs{}; every other part was the "
      "reference's.",
      facts.part, facts.target, in_brackets(facts.figure));
  f.shows = "with this part from the package and all others on the reference, the outputs deviate on this sample";
  f.does_not_show = "which node of the part, that the other parts are exact, or how other inputs behave";
  f.next = "paritas locate MODEL with --device " + facts.target + " looks into its nodes";
  f.evidence = {{"part", facts.part}, {"alone", facts.figure}, {"all", facts.whole}, {"demanded", facts.demanded}};
  return f;
}

Finding package_parts_together(const std::vector<std::string>& parts, const PackagePartFacts& facts) {
  Finding f;
  f.id = "package-together";
  f.severity = facts.demanded ? Severity::kFault : Severity::kNote;
  f.text = fmt::format("The outputs of the whole package deviate{}, and no part alone is enough: {}.",
                       in_brackets(facts.whole), list(parts));
  f.shows = "each part alone holds with the reference's others; errors of several parts add up";
  f.does_not_show = "which part could be spared, or how other inputs behave";
  f.next = "paritas locate on the whole model shows how errors grow along the graph";
  f.evidence = {{"parts", parts}, {"all", facts.whole}, {"demanded", facts.demanded}};
  return f;
}

Finding package_holds(const std::vector<std::string>& parts, const std::string& figure) {
  Finding f;
  f.id = "package-holds";
  f.severity = Severity::kNote;
  f.text = fmt::format("The package holds on this sample{}: {}.", in_brackets(figure), list(parts));
  f.shows = "the parts that ship give what the whole model gives on the reference, on this sample";
  f.does_not_show = "other inputs, or that any part is exact";
  f.next = "paritas verify checks it on the package's own samples";
  f.evidence = {{"parts", parts}, {"all", figure}};
  return f;
}

}  // namespace paritas::catalogue
