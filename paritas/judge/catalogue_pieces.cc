#include "paritas/judge/catalogue_pieces.h"

#include <fmt/format.h>

namespace paritas::catalogue {
namespace {

std::string inputs_text(const SaturationFacts& f) {
  if (f.synthetic) return fmt::format("{} inputs of the sweep", f.inputs);
  return fmt::format("{} inputs ({:.2g} % of the model's own)", f.inputs, 100 * f.share);
}

std::string due_text(const SaturationFacts& f) {
  const std::string who = f.format.empty() ? "the reference" : fmt::format("{} alone", f.format);
  return f.due ? fmt::format("{} would from {:.4g} on", who, *f.due)
               : fmt::format("{} would nowhere on these inputs", who);
}

Finding saturation(const SaturationFacts& facts) {
  Finding f;
  f.nodes = {facts.node};
  f.does_not_show =
      facts.synthetic
          ? "that the model's own inputs get there: the sweep is not their distribution; or what becomes of the answer"
          : "what becomes of the answer, or why the device computes so";
  f.next = facts.synthetic ? "see whether the model's own inputs reach it: the table without the sweep"
                           : fmt::format("measure its consequence: paritas inject --at '{}: local'", facts.node);
  f.evidence = {{"left", facts.left},
                {"from", json_number(facts.from)},
                {"level", json_number(facts.level)},
                {"due", facts.due ? json_number(*facts.due) : Json(nullptr)},
                {"inputs", facts.inputs},
                {"share", json_number(facts.share)},
                {"max_abs", json_number(facts.max_abs)},
                {"synthetic", facts.synthetic}};
  return f;
}

}  // namespace

Finding saturates_early(const SaturationFacts& facts) {
  Finding f = saturation(facts);
  f.id = "piece-saturates-early";
  f.text =
      fmt::format("{} ({}) on {} stays at {:.6g} from {:.4g} on to the {}; {}. {} lie between, off by {:.2g} at most.",
                  facts.node, facts.op, facts.device, facts.level, facts.from, facts.left ? "left" : "right",
                  due_text(facts), inputs_text(facts), facts.max_abs);
  f.shows =
      "fed with the reference's input, the device's output does not change there although its format could hold that";
  f.does_not_show = "how it goes on beyond these inputs (it may be a step); " + f.does_not_show;
  return f;
}

Finding tail_lost(const SaturationFacts& facts) {
  Finding f = saturation(facts);
  f.id = "piece-tail-lost";
  f.text = fmt::format("{} ({}) on {} is zero from {:.4g} on to the {}; {}. {} lie between and lose up to {:.2g}.",
                       facts.node, facts.op, facts.device, facts.from, facts.left ? "left" : "right", due_text(facts),
                       inputs_text(facts), facts.max_abs);
  f.shows = "fed with the reference's input, the device's tail goes to zero before its number format has to";
  return f;
}

Finding gelu_forms(const GeluFormFacts& facts) {
  Finding f;
  f.id = "piece-gelu-form";
  f.nodes = {facts.node};
  const auto form = [](const std::string& text) {
    return text == "exact"  ? std::string("the exact form")
           : text == "tanh" ? std::string("the form with tanh")
                            : std::string("neither the exact form nor the one with tanh");
  };
  f.text = fmt::format("GELU {}: {} computes {}, the reference {}; the model declares {}.", facts.node, facts.device,
                       form(facts.device_form), form(facts.reference_form), form(facts.declared));
  f.shows =
      "by their values at inputs where the forms differ by more than rounding, the sides compute different functions";
  f.does_not_show = "that it matters: the forms differ by 4.8e-4 at most; or how the device is programmed";
  f.next = fmt::format("measure its consequence: paritas inject --at '{}: local'", facts.node);
  f.evidence = {{"declared", facts.declared},
                {"reference", facts.reference_form},
                {"device", facts.device_form},
                {"position", json_number(facts.position)},
                {"synthetic", facts.synthetic}};
  return f;
}

}  // namespace paritas::catalogue
