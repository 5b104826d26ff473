#include "paritas/judge/catalogue_groups.h"

#include <fmt/format.h>

namespace paritas::catalogue {

Finding uneven_error(const UnevenFacts& facts) {
  Finding f;
  f.id = "uneven-error";
  f.severity = Severity::kNote;
  f.nodes = {facts.node};
  f.text = fmt::format(
      "Of the {} {} of {}, {:.3g} % is at {} of {}, which has {:.3g} % of the elements and {:.3g} % of the "
      "reference's energy.",
      facts.run, facts.nonfinite ? "NaN and infinities" : "error energy", facts.tensor, 100 * facts.share, facts.where,
      facts.axis, 100 * facts.fair, 100 * facts.reference_share);
  f.shows = "where in the tensor the error sits on this sample";
  f.does_not_show = facts.run == "local" ? "why, or that it matters for the outputs"
                                         : "which node put it there, why, or that it matters for the outputs";
  f.next = facts.run == "local"
               ? "look at this part of the node's operands: range, layout, weights of that index"
               : "ask the same of the tensors in front of it (--groups), up to the first whose local error is so";
  f.evidence = {{"tensor", facts.tensor},
                {"run", facts.run},
                {"axis", facts.axis},
                {"where", facts.where},
                {"share", json_number(facts.share)},
                {"fair", json_number(facts.fair)},
                {"reference_share", json_number(facts.reference_share)}};
  return f;
}

}  // namespace paritas::catalogue
