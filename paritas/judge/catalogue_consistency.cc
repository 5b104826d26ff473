#include "paritas/judge/catalogue_consistency.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {
namespace {

Finding noise(const NoiseFacts& facts) {
  Finding f;
  std::vector<std::string> outputs;
  Json evidence = Json::array();
  bool fails = false;
  for (const NoiseFacts::Output& output : facts.outputs) {
    outputs.push_back(output.shape_changed ? fmt::format("{} (its shape changes)", output.name)
                                           : fmt::format("{} by up to {:.3g} ({:.1f} dB, {} elements)", output.name,
                                                         output.max_abs, output.sqnr_db, output.differing));
    fails = fails || output.fails_gate;
    evidence.push_back({{"output", output.name},
                        {"shape_changed", output.shape_changed},
                        {"max_abs", json_number(output.max_abs)},
                        {"sqnr_db", json_number(output.sqnr_db)},
                        {"differing", output.differing},
                        {"fails_gate", output.fails_gate}});
  }
  f.text = list(outputs);
  if (fails) f.text += "; a gate fails on that alone";
  f.shows = facts.shows;
  f.does_not_show = facts.does_not_show;
  f.evidence = {{"check", facts.check}, {"setting", facts.setting}, {"outputs", std::move(evidence)}};
  return f;
}

std::string operator_text(const RandomOperatorFacts& facts) {
  return facts.inside.empty() ? fmt::format("\"{}\" ({})", facts.node, facts.op)
                              : fmt::format("\"{}\" ({} with {} inside)", facts.node, facts.inside, facts.op);
}

bool all_seeded(const std::vector<RandomOperatorFacts>& operators) {
  return std::all_of(operators.begin(), operators.end(), [](const auto& each) { return each.seeded; });
}

std::string drawing(const std::vector<RandomOperatorFacts>& operators) {
  std::string text = operators.empty() ? "random operators" : operator_text(operators.front());
  if (operators.size() > 1) text += fmt::format(" and {} more", operators.size() - 1);
  return text;
}

}  // namespace

std::string random_reason(const std::vector<RandomOperatorFacts>& operators) {
  const bool seeded = all_seeded(operators);
  return fmt::format("cannot tell: depends on {}, {}", drawing(operators),
                     seeded ? "whose seed makes both sides draw alike only in the first runs of sessions on the CPU"
                            : "drawn anew in every session");
}

Finding random_operators(const RandomFacts& facts) {
  Finding f;
  f.id = "random-operators";
  for (const RandomOperatorFacts& each : facts.operators) f.nodes.push_back(each.node);
  const bool one = facts.operators.size() == 1;
  f.text = fmt::format("{} depend{} on random numbers: {} {}, so that what differs may be the draw.",
                       list(facts.outputs), facts.outputs.size() == 1 ? "s" : "", drawing(facts.operators),
                       all_seeded(facts.operators)
                           ? std::string(one ? "has a seed, which makes" : "have seeds, which make") +
                                 " both sides draw alike only in the first runs of sessions on the CPU"
                           : std::string(one ? "draws" : "draw") + " anew in each session");
  f.shows = "that neither a difference nor an agreement of these outputs says anything about the device";
  f.does_not_show = "that the device is right or wrong there";
  f.next =
      "for the diagnosis, make the drawn numbers an input of the model, or give the operators a seed attribute (enough "
      "between the CPU and the simulator)";
  Json operators = Json::array();
  for (const RandomOperatorFacts& each : facts.operators)
    operators.push_back({{"node", each.node},
                         {"op", each.op},
                         {"inside", each.inside.empty() ? Json(nullptr) : Json(each.inside)},
                         {"seeded", each.seeded}});
  f.evidence = {{"outputs", facts.outputs}, {"operators", std::move(operators)}};
  return f;
}

Finding device_noise(const NoiseFacts& facts) {
  Finding f = noise(facts);
  f.id = "device-noise";
  f.text = fmt::format("The device moves by itself ({}: {}): {}.", facts.check, facts.setting, f.text);
  f.next = "differences up to that size tell nothing: look for random operators, uninitialised memory or a race";
  return f;
}

Finding reference_noise(const NoiseFacts& facts) {
  Finding f = noise(facts);
  f.id = "reference-noise";
  f.text = fmt::format("The reference moves by itself ({}: {}): {}.", facts.check, facts.setting, f.text);
  f.next =
      "no gate can be tighter than that: compare with a reference in float32, and choose the gates by what the task "
      "bears";
  return f;
}

}  // namespace paritas::catalogue
