#include "paritas/judge/catalogue_experiments.h"

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {

Finding injection(const InjectionFacts& facts) {
  Finding f;
  f.nodes = facts.nodes;
  f.text = fmt::format("Injected into the reference: {} at {} (error NMSE {:.2g}). ", facts.mode, list(facts.tensors),
                       facts.nmse);
  const std::string decisions =
      facts.decisions_changed > 0
          ? fmt::format("; {} decision{} moved", facts.decisions_changed, facts.decisions_changed == 1 ? "" : "s")
          : "";
  if (!facts.broken.empty()) {
    f.id = "injection-breaks";
    f.text += fmt::format("That alone breaks the gates: {}{}.", list(facts.broken), decisions);
    f.shows = "this error alone is enough to break the outputs on this input";
    f.does_not_show = "that nothing else breaks them as well, or why the error arises";
    f.next = "restore these nodes (locate --search), or look at their operands' range";
  } else if (facts.equal) {
    f.id = "injection-no-effect";
    f.text += "No output changes, to the bit.";
    f.shows = "it weakens the suspicion against these nodes on these inputs";
    f.does_not_show = "that they are innocent on other inputs: an injection never proves that";
    f.next = "suspect other nodes; try further inputs";
  } else if (facts.gated) {
    f.id = "injection-harmless";
    f.text +=
        fmt::format("The gates hold: the outputs move by an NMSE of {:.2g} at most{}.", facts.output_nmse, decisions);
    f.shows = "it weakens the suspicion against these nodes on these inputs";
    f.does_not_show = "that they are innocent on other inputs, or together with other errors";
    f.next = "suspect nodes whose error moves the outputs more; try further inputs";
  } else {
    f.id = "injection-measured";
    f.text += fmt::format("The outputs move by an NMSE of {:.2g} at most{}.", facts.output_nmse, decisions);
    f.shows = "how much of this error arrives at the outputs on this input";
    f.does_not_show = "whether that is too much: no gate says so";
    f.next = "declare a gate, e.g. --gate 'scores: cosine>=0.99'";
  }
  f.evidence = {{"tensors", facts.tensors},
                {"mode", facts.mode},
                {"nmse", json_number(facts.nmse)},
                {"output_nmse", json_number(facts.output_nmse)},
                {"decisions_changed", facts.decisions_changed},
                {"broken", facts.broken}};
  return f;
}

Finding nothing_injected(const std::string& first_divergence, bool demanded) {
  Finding f;
  f.id = "search-incomplete";
  f.severity = demanded ? Severity::kFault : Severity::kNote;
  if (!first_divergence.empty()) f.nodes = {first_divergence};
  f.text = fmt::format("The cause was not found: no probe gave a local error that could be injected{}.",
                       first_divergence.empty()
                           ? ""
                           : fmt::format("; the first tensor with figures that deviates is {}'s", first_divergence));
  f.shows = "only that the outputs differ";
  f.does_not_show = "which node is the cause, nor that any node is right by itself";
  f.next = "cut the network in two (--auto-cuts 4), or let the reference compute parts of it (--search)";
  f.evidence = {{"tested_share", 0}};
  return f;
}

Finding restored(const RestoredFacts& facts) {
  Finding f;
  f.id = "restored";
  f.nodes = facts.nodes;
  f.text =
      fmt::format("With {} computed by the reference and everything else by {}, the gates hold on {}.",
                  facts.islands.size() == 1 ? "one island (" + facts.islands.front() + ")"
                                            : fmt::format("{} islands ({})", facts.islands.size(), list(facts.islands)),
                  facts.device, facts.samples == 1 ? "the sample" : fmt::format("all {} samples", facts.samples));
  if (facts.minimal) f.text += " Without any one of them they do not.";
  if (!facts.elsewhere.empty())
    f.text += fmt::format(" Of the device's parts, {} nodes ran elsewhere: {}.", facts.elsewhere.size(),
                          list(facts.elsewhere));
  f.shows = facts.minimal ? "computing these elsewhere is enough on these inputs, and none of them can be left out"
                          : "computing these elsewhere is enough on these inputs; a smaller set may do";
  f.does_not_show =
      "that their kernels are wrong (they may be where an error from before becomes visible), that no other set does, "
      "or "
      "how other inputs behave; cutting the network also changes what the device's compiler fuses";
  f.next = "try an equivalent form or another precision for these nodes; else compute them on the CPU";
  f.evidence = {{"islands", facts.islands},
                {"minimal", facts.minimal},
                {"samples", facts.samples},
                {"elsewhere", facts.elsewhere}};
  return f;
}

Finding restore_needless(const RestoredFacts& facts) {
  Finding f;
  f.id = "restore-needless";
  f.text = fmt::format("The gates hold with everything on {}: there is nothing to restore.", facts.device);
  f.shows = "no node has to be computed elsewhere for these gates, on these inputs";
  f.does_not_show = "how other inputs behave, or that the gates are strict enough";
  f.next = "search with the gates and the sample that fail";
  f.evidence = {{"samples", facts.samples}};
  return f;
}

Finding restore_not_found(const RestoredFacts& facts, bool budget_spent) {
  Finding f;
  f.id = "restore-not-found";
  f.text = budget_spent
               ? std::string("The budget was spent before a set of islands was found with which the gates hold.")
               : std::string("No set of islands smaller than the whole network was found with which the gates hold.");
  f.shows = "none of the sets that were tried is enough";
  f.does_not_show = "that there is none: most sets were not tried";
  f.next = budget_spent ? "give the search more time or sessions"
                        : "look at what the gates demand beside the noise of storage";
  f.evidence = {{"samples", facts.samples}};
  return f;
}

}  // namespace paritas::catalogue
