#include "paritas/judge/catalogue_cut.h"

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {
namespace {

const char* kOtherInputs = "how other inputs behave";

Finding make(const char* id, const CutFacts& facts, bool convicts, std::string text) {
  Finding f;
  f.id = id;
  f.severity = convicts && facts.demanded ? Severity::kFault : Severity::kNote;
  f.text = fmt::format("Cut \"{}\" (at {}): {}", facts.cut, list(facts.tensors), text);
  f.evidence = {{"cut", facts.cut},
                {"tensors", facts.tensors},
                {"device_front", facts.front_figure},
                {"device_rear", facts.rear_figure},
                {"device_both", facts.both_figure},
                {"demanded", facts.demanded}};
  return f;
}

std::string figures(const std::string& text) { return text.empty() ? std::string() : fmt::format(" ({})", text); }

}  // namespace

std::string_view name(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::kHolds:
      return "holds";
    case CellOutcome::kDeviates:
      return "deviates";
    case CellOutcome::kUnknown:
      return "not judged";
    case CellOutcome::kFailed:
      return "not measured";
    case CellOutcome::kDrawn:
      return "cannot tell";
  }
  return "";
}

CellWords cell_words(bool front_on_device, bool rear_on_device, CellOutcome outcome) {
  if (outcome == CellOutcome::kFailed) return {"nothing: it could not be run", "that this half fails on the device"};
  if (outcome == CellOutcome::kDrawn)
    return {"nothing about outputs that depend on random operators: they are drawn anew in every session",
            "which half is to blame, or whether any is"};
  if (!front_on_device && !rear_on_device)
    return outcome == CellOutcome::kHolds
               ? CellWords{"the halves compose to the whole on this sample, so the other cells compare like with like",
                           "anything about the device"}
               : CellWords{"the halves do not compose to the whole", "anything about the device"};
  if (outcome == CellOutcome::kUnknown)
    return {"figures only: no gate or task says whether the outputs still hold", "which half is to blame"};
  const bool holds = outcome == CellOutcome::kHolds;
  if (front_on_device && rear_on_device)
    return holds ? CellWords{"both halves hold together on the device, as two models",
                             std::string("that the uncut model does, or ") + kOtherInputs}
                 : CellWords{"the outputs deviate with the model cut in two as well", "which half is to blame"};
  const char* half = front_on_device ? "front" : "rear";
  const char* other = front_on_device ? "rear" : "front";
  return holds ? CellWords{fmt::format("the {} half's error on the device does not break the outputs of this sample "
                                       "when the {} half is the reference's",
                                       half, other),
                           fmt::format("that the {} half is exact, or {}", half, kOtherInputs)}
               : CellWords{fmt::format("the {} half alone on the device is enough to break the outputs", half),
                           fmt::format("which node of it, or that the {} half is right", other)};
}

Finding cut_front(const CutFacts& facts) {
  Finding f = make("cut-front", facts, true,
                   fmt::format("the front half alone on the device is enough to break the outputs{}; the rear half "
                               "alone is not{}.",
                               figures(facts.front_figure), figures(facts.rear_figure)));
  f.shows = "with the rear half on the reference the outputs deviate, with the front half on the reference they hold";
  f.does_not_show = fmt::format("which node of the front half, that the rear half is exact, or {}", kOtherInputs);
  f.next = "cut the front half again (--cut, --auto-cuts), or look at its nodes in the ranking";
  return f;
}

Finding cut_rear(const CutFacts& facts) {
  Finding f = make("cut-rear", facts, true,
                   fmt::format("the rear half alone on the device is enough to break the outputs{}; the front half "
                               "alone is not{}.",
                               figures(facts.rear_figure), figures(facts.front_figure)));
  f.shows =
      "fed with the reference's tensors, the rear half on the device deviates; behind the device's front half "
      "the reference's rear half holds";
  f.does_not_show = fmt::format("which node of the rear half, that the front half is exact, or {}", kOtherInputs);
  f.next = "cut the rear half again (--cut, --auto-cuts), or look at its nodes in the ranking";
  return f;
}

Finding cut_each(const CutFacts& facts) {
  Finding f = make("cut-each", facts, true,
                   fmt::format("each half alone on the device breaks the outputs: the front half{}, the rear half{}.",
                               figures(facts.front_figure), figures(facts.rear_figure)));
  f.shows = "either half deviates on the device although the other one is the reference's";
  f.does_not_show = fmt::format(
      "that there are two causes: a tensor of the cut that the device cannot hold breaks both halves; which nodes, or "
      "{}",
      kOtherInputs);
  f.next = "cut elsewhere (--auto-cuts); when each half deviates at every cut, look for several causes";
  return f;
}

Finding cut_together(const CutFacts& facts) {
  Finding f = make("cut-together", facts, true,
                   fmt::format("only both halves on the device together break the outputs{}; each alone holds.",
                               figures(facts.both_figure)));
  f.shows = "the errors of both halves add up, or one half is sensitive to the other's";
  f.does_not_show = fmt::format("which half is easier to mend, or {}", kOtherInputs);
  f.next = "compare the margins of both single halves, or cut elsewhere";
  return f;
}

Finding cut_acquits(const CutFacts& facts) {
  Finding f =
      make("cut-acquits", facts, false,
           fmt::format("neither half on the device breaks the outputs, nor do both{}.", figures(facts.both_figure)));
  f.shows = "on this sample the outputs hold when the model is cut here";
  f.does_not_show = fmt::format("that both halves are exact, that the uncut model holds, or {}", kOtherInputs);
  f.next = "compare with the uncut model on the device; try more samples";
  return f;
}

Finding cut_undecided(const CutFacts& facts) {
  Finding f = make("cut-undecided", facts, false, "the cells that were measured do not decide between the halves.");
  f.shows = "the figures of the cells that were measured";
  f.does_not_show = "which half breaks the outputs";
  f.next = "declare a gate or a task for the outputs; for a cell that failed, read why";
  return f;
}

Finding cut_optimiser(const SplitFacts& facts) {
  Finding f;
  f.id = "cut-optimiser";
  f.text = fmt::format(
      "Cut \"{}\": the reference's halves differ from its whole by up to {:.2g} in {} (NMSE {:.2g}), and not at all "
      "with optimisation off: the optimiser moved them.",
      facts.cut, facts.max_abs, facts.output, facts.nmse);
  f.shows = "the split is right; differences of this size mean nothing in the other cells (noise floor)";
  f.does_not_show = "anything about the device";
  f.next = "run the reference with optimisation off (cpu,opt=none) for cells without this noise";
  f.evidence = {{"cut", facts.cut},
                {"output", facts.output},
                {"max_abs", json_number(facts.max_abs)},
                {"nmse", json_number(facts.nmse)}};
  return f;
}

Finding cut_wrong(const SplitFacts& facts) {
  Finding f;
  f.id = "cut-wrong";
  f.severity = Severity::kFault;
  if (!facts.node.empty()) f.nodes = {facts.node};
  f.text = fmt::format(
      "Cut \"{}\": the reference's halves do not compute what its whole computes. The first tensor that differs is "
      "\"{}\", in the {} half. Usual reasons: a tensor that a body (If, Loop, Scan) captures, a missing constant, "
      "outputs "
      "in another order, postprocessing that belongs to the other half.",
      facts.cut, facts.tensor, facts.in_front ? "front" : "rear");
  f.shows = "the split is wrong: no cell of this cut means anything, and none is reported";
  f.does_not_show = "anything about the device";
  f.next = "compare both halves with the model around that tensor, or cut elsewhere";
  f.evidence = {{"cut", facts.cut}, {"tensor", facts.tensor}, {"output", facts.output}};
  return f;
}

Finding cut_not_repeatable(const SplitFacts& facts) {
  Finding f;
  f.id = "cut-not-repeatable";
  f.severity = Severity::kFault;
  f.text = fmt::format(
      "Cut \"{}\": the reference's whole does not repeat: two runs on the same inputs differ in {} by up to {:.2g}.",
      facts.cut, facts.output, facts.max_abs);
  f.shows = "the reference is no fixed measure, so that halves cannot be compared with it";
  f.does_not_show = "whether the split is right, or anything about the device";
  f.next = "run the reference with one thread (cpu,threads=1), and look for random operators";
  f.evidence = {{"cut", facts.cut}, {"output", facts.output}, {"max_abs", json_number(facts.max_abs)}};
  return f;
}

Finding cut_changes_device(const CutFacts& facts, const std::string& whole_figure) {
  Finding f = make("cut-changes-device", facts, false,
                   fmt::format("the two halves on the device{} and the uncut model on the device{} do not agree on "
                               "whether the outputs hold.",
                               figures(facts.both_figure), figures(whole_figure)));
  f.shows = "the device compiles the cut model to something else (fusion or layout across the cut)";
  f.does_not_show = "which of the two is right node by node";
  f.next = "cut elsewhere, away from what the device fuses";
  f.evidence["device_whole"] = whole_figure;
  return f;
}

}  // namespace paritas::catalogue
