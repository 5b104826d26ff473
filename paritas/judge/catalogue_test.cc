// One test per wording: id, severity, numbers in the text, and every part filled.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_whole(const Finding& f, const std::string& id, Severity severity) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, severity);
  EXPECT_THAT(f.text, ::testing::EndsWith("."));
  EXPECT_FALSE(f.shows.empty());
  EXPECT_FALSE(f.does_not_show.empty());
  EXPECT_FALSE(f.next.empty());
  const Json json = to_json(f);
  for (const char* key : {"id", "severity", "nodes", "text", "shows", "does_not_show", "next", "evidence"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["severity"], severity == Severity::kFault ? "fault" : "note");
}

RangeFacts facts() {
  RangeFacts f;
  f.node = "/n3/Pow";
  f.op = "Pow";
  f.tensor = "/n3/Pow_output_0";
  f.format = "float16";
  f.reference_max_abs = 178000;
  f.limit = 65504;
  return f;
}

CauseFacts cause() { return {"/mm", "MatMul", 0.0123, 45.6, 0.87}; }

TEST(Catalogue, RangeOverflow) {
  const Finding f = range_overflow(facts(), Consequence::kInjected);
  expect_whole(f, "range-overflow", Severity::kFault);
  EXPECT_EQ(f.text,
            "/n3/Pow (Pow) makes values up to 1.78e+05; float16 ends at 65504, so they are 2.72 times too large.");
  EXPECT_THAT(f.nodes, ElementsAre("/n3/Pow"));
  EXPECT_EQ(f.evidence["reference_max_abs"], 178000.0);
  EXPECT_EQ(f.evidence["limit"], 65504.0);
  EXPECT_EQ(f.evidence["consequence"], "injected");
}

TEST(Catalogue, RangeFindingsNameTheirGroup) {
  RangeFacts f = facts();
  f.group = {"b", "c", "d", "e", "f", "g"};
  const Finding finding = range_overflow(f, Consequence::kInjected);
  EXPECT_THAT(finding.text, HasSubstr("Further nodes leave the range behind it: b, c, d, e and 2 more."));
  EXPECT_EQ(finding.nodes.size(), 7u);
}

TEST(Catalogue, AConsequenceByPathClaimsLessThanAnInjectedOne) {
  const Finding injected = range_overflow(facts(), Consequence::kInjected);
  const Finding path = range_overflow(facts(), Consequence::kPath);
  EXPECT_THAT(injected.shows, HasSubstr("injecting"));
  EXPECT_THAT(path.shows, AllOf(HasSubstr("path of deviating tensors"), Not(HasSubstr("injecting"))));
  EXPECT_THAT(path.does_not_show, HasSubstr("that it alone explains the outputs"));
  EXPECT_EQ(path.evidence["consequence"], "path");
}

TEST(Catalogue, RangeUnderflow) {
  RangeFacts f = facts();
  f.reference_max_abs = 3.1e-6;
  f.limit = 6.1e-5;
  f.lost_energy = 0.231;
  const Finding finding = range_underflow(f, Consequence::kPath);
  expect_whole(finding, "range-underflow", Severity::kFault);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("3.1e-06"), HasSubstr("6.1e-05"), HasSubstr("23.1 % of their energy")));
  EXPECT_EQ(finding.evidence["lost_energy"], 0.231);
}

TEST(Catalogue, ATinyLossOfEnergyIsNoZeroPercent) {
  RangeFacts f = facts();
  f.lost_energy = 1.2e-7;
  EXPECT_THAT(range_underflow(f, Consequence::kPath).text, HasSubstr("a share of 1.2e-07 of their energy"));
}

TEST(Catalogue, NonfiniteMade) {
  RangeFacts f = facts();
  f.device_nonfinite = 42;
  const Finding finding = nonfinite_made(f, Consequence::kInjected);
  expect_whole(finding, "nonfinite-made", Severity::kFault);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("42 NaN or infinite elements"), HasSubstr("float16")));
  EXPECT_EQ(finding.evidence["device_nonfinite"], 42);
}

TEST(Catalogue, RangeHarmless) {
  RangeFacts second = facts();
  second.node = "/mask";
  const Finding f = range_harmless({facts(), second});
  expect_whole(f, "range-harmless", Severity::kNote);
  EXPECT_THAT(f.text, AllOf(HasSubstr("2 nodes make values that float16 cannot hold"), HasSubstr("/n3/Pow, /mask")));
  EXPECT_EQ(f.evidence.size(), 2u);
  EXPECT_THAT(range_harmless({facts()}).text, HasSubstr("1 node makes values"));
}

TEST(Catalogue, LocalCause) {
  const Finding f = local_cause(cause());
  expect_whole(f, "local-cause", Severity::kFault);
  EXPECT_EQ(
      f.text,
      "/mm (MatMul) has a local NMSE of 0.012 (45.6 times what storing it costs); injected alone into the reference "
      "run it brings 87 % of the deviation.");
  EXPECT_EQ(f.evidence["share"], 0.87);
}

TEST(Catalogue, LocalCauseWithoutABaselineDoesNotInventOne) {
  CauseFacts facts = cause();
  facts.x_baseline = NAN;
  const Finding f = local_cause(facts);
  EXPECT_THAT(f.text, Not(HasSubstr("times what storing")));
  EXPECT_THAT(f.text, Not(HasSubstr("nan")));
  EXPECT_EQ(f.evidence["x_baseline"], "nan");
}

TEST(Catalogue, AShareAboveOneIsShownAsAll) {
  CauseFacts facts = cause();
  facts.share = 1.3;
  EXPECT_THAT(local_cause(facts).text, HasSubstr("brings 100 % of the deviation"));
  EXPECT_EQ(local_cause(facts).evidence["share"], 1.3);
}

TEST(Catalogue, AShareBelowOneIsNeverShownAsAll) {
  CauseFacts facts = cause();
  facts.share = 0.9996;
  EXPECT_THAT(local_cause(facts).text, HasSubstr("brings 99 % of the deviation"));
  EXPECT_THAT(spread(0.9996, {"a"}, true).text, HasSubstr("bring 99 % of it"));
  EXPECT_THAT(not_reproduced(-0.1, "", true).text, HasSubstr("bring 0 % of it"));
}

TEST(Catalogue, Amplified) {
  const Finding f = amplified(cause(), "/sub", 512);
  expect_whole(f, "amplified-rounding", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("local NMSE 0.012"), HasSubstr("/sub behind it"), HasSubstr("512 times"),
                            HasSubstr("87 %")));
  EXPECT_THAT(f.nodes, ElementsAre("/mm", "/sub"));
}

TEST(Catalogue, Spread) {
  const Finding f = spread(0.93, {"a", "b"}, true);
  expect_whole(f, "spread-error", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("93 %"), HasSubstr("a, b")));
}

TEST(Catalogue, NotReproduced) {
  const Finding f = not_reproduced(0.04, "/first", true);
  expect_whole(f, "not-reproduced", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("4 %"), HasSubstr("/first")));
  EXPECT_THAT(f.nodes, ElementsAre("/first"));
  EXPECT_THAT(not_reproduced(0.04, "", true).nodes, ElementsAre());
}

TEST(Catalogue, SearchIncomplete) {
  const Finding f = search_incomplete(0.04, "/first", true);
  expect_whole(f, "search-incomplete", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("did not cover every node"), HasSubstr("4 %"), HasSubstr("/first")));
}

TEST(Catalogue, WithoutACauseAndWithoutAGateItIsANote) {
  for (const Finding& f :
       {spread(0.9, {"a"}, false), not_reproduced(0.04, "a", false), search_incomplete(0.04, "a", false)}) {
    EXPECT_EQ(f.severity, Severity::kNote) << f.id;
    EXPECT_THAT(f.does_not_show, HasSubstr("no gate was declared")) << f.id;
  }
}

TEST(Catalogue, DecisionOnly) {
  const Finding f = decision_only({"/TopK"});
  expect_whole(f, "decision-only", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("/TopK"));
}

TEST(Catalogue, PartialPlacement) {
  const Finding f = partial_placement("QNNExecutionProvider", 298, 300, 1, {"2 x Erf on CPUExecutionProvider: a, b"});
  expect_whole(f, "partial-placement", Severity::kNote);
  EXPECT_THAT(f.text, AllOf(HasSubstr("Only 298 of 300 nodes ran on QNNExecutionProvider"),
                            HasSubstr("in 1 partition."), HasSubstr("2 x Erf")));
  EXPECT_EQ(f.evidence["on_device"], 298);
  EXPECT_THAT(partial_placement("X", 1, 3, 2, {}).text, HasSubstr("2 partitions"));
}

TEST(Catalogue, PlacementUnknown) {
  const Finding f = placement_unknown("SomeProvider");
  expect_whole(f, "placement-unknown", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("SomeProvider"));
}

TEST(Catalogue, ProbeEffect) {
  const Finding f = probe_effect("scores", 0.3389, 0.3251);
  expect_whole(f, "probe-effect", Severity::kNote);
  EXPECT_THAT(f.text, AllOf(HasSubstr("scores"), HasSubstr("0.3389"), HasSubstr("0.3251")));
  EXPECT_EQ(f.evidence["marked"], 0.3251);
}

PlacementFacts placed() {
  PlacementFacts f;
  f.provider = "QNNExecutionProvider";
  f.on_device = 842;
  f.total = 842;
  f.partitions = 1;
  f.counted = "nodes of the optimised graph";
  f.assigned = true;
  return f;
}

TEST(Catalogue, PlacementShownClaimsNoMoreThanItsEvidence) {
  PlacementFacts f = placed();
  Finding finding = placement_shown(f);
  expect_whole(finding, "placement-shown", Severity::kNote);
  EXPECT_EQ(finding.text, "842 of 842 nodes of the optimised graph are on QNNExecutionProvider, in 1 partition.");
  EXPECT_EQ(finding.shows, "which nodes the runtime handed to the provider");
  EXPECT_THAT(finding.does_not_show, HasSubstr("that every operation inside ran on the accelerator"));
  f.traced_ops = 774;
  finding = placement_shown(f);
  EXPECT_THAT(finding.shows, HasSubstr("compiled them into 774 operations"));
  EXPECT_THAT(finding.does_not_show, HasSubstr("ran on the accelerator"));
  f.executed_ops = 653;
  f.profiled = true;
  finding = placement_shown(f);
  EXPECT_THAT(finding.shows,
              AllOf(HasSubstr("partitions were executed"), HasSubstr("653 of the operations took cycles")));
  EXPECT_THAT(finding.does_not_show, HasSubstr("operations without cycles"));
  f = placed();
  f.assigned = false;
  EXPECT_THAT(placement_shown(f).shows, HasSubstr("evidence files"));
}

TEST(Catalogue, NothingPlaced) {
  const Finding f = nothing_placed("GGMLExecutionProvider", 813);
  expect_whole(f, "nothing-placed", Severity::kFault);
  EXPECT_THAT(f.text, HasSubstr("took none of 813 nodes: 0 %"));
}

TEST(Catalogue, CpuFallback) {
  const Finding f = cpu_fallback("QNNExecutionProvider", {"/a/Erf"});
  expect_whole(f, "cpu-fallback", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("1 node of the source graph fell back to the CPU"));
}

TEST(Catalogue, VendorCpu) {
  const Finding f = vendor_cpu("QNNExecutionProvider", 842);
  expect_whole(f, "vendor-cpu", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("842 nodes went to QNNExecutionProvider, whose back end here computes on the CPU"));
}

TEST(Catalogue, EvidenceContradicts) {
  const Finding f = evidence_contradicts("the profile has 1 partitions, the op trace 2", {"/a"});
  expect_whole(f, "evidence-contradicts", Severity::kFault);
  EXPECT_EQ(f.text, "Two sources contradict each other: the profile has 1 partitions, the op trace 2 (/a).");
  EXPECT_THAT(f.does_not_show, HasSubstr("which of them is right"));
}

TEST(Catalogue, PlacementRequired) {
  const Finding f = placement_required("100%", 0.9996, 2999, 3000, {"/a/Erf"});
  expect_whole(f, "placement-required", Severity::kFault);
  // Never rounded up to what was required.
  EXPECT_EQ(f.text, "100% is not met: 2999 of 3000 nodes, 99 %. Not shown to be on the device: /a/Erf.");
}

TEST(Catalogue, ContextOpaque) {
  const Finding f = context_opaque(12, "QNNExecutionProvider");
  expect_whole(f, "context-opaque", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("12 nodes of this model are partitions compiled for QNNExecutionProvider"));
}

TEST(Catalogue, PlacementChanged) {
  const Finding f = placement_changed("old.json", 14, 1, 12, {"/a/Softmax"});
  expect_whole(f, "placement-changed", Severity::kNote);
  EXPECT_EQ(f.text, "Against old.json: 14 nodes moved, partitions 1 -> 12 (/a/Softmax).");
}

PinFacts pin() {
  PinFacts f;
  f.pins = {"Softmax=CPU"};
  f.touched = {"/a/Softmax", "/b/Softmax"};
  f.moved = 2;
  f.provider = "QNNExecutionProvider";
  f.device_nodes = 828;
  f.partitions_before = 1;
  f.partitions_after = 12;
  f.outputs = {"scores"};
  f.figures = "scores: largest value 0.3389 without the pin, 0.3193 with it, 0.962 on the reference";
  return f;
}

TEST(Catalogue, PinDidNotRepair) {
  const Finding f = pin_did_not_repair(pin(), {"scores"});
  expect_whole(f, "pin-did-not-repair", Severity::kNote);
  EXPECT_EQ(
      f.text,
      "Softmax=CPU moved 2 nodes to the CPU (1 -> 12 partitions on QNNExecutionProvider, 828 nodes left there), and "
      "that did not repair: scores still deviates. scores: largest value 0.3389 without the pin, 0.3193 with it, "
      "0.962 on the reference.");
  EXPECT_THAT(f.does_not_show, HasSubstr("cuts the graph anew"));
}

TEST(Catalogue, PinMatchesOnCpu) {
  const Finding f = pin_matches_on_cpu(pin());
  expect_whole(f, "pin-matches-on-cpu", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("scores matches again with 2 nodes computed by the CPU"));
  EXPECT_THAT(f.does_not_show, HasSubstr("that the device is repaired"));
  PinFacts all = pin();
  all.device_nodes = 0;
  EXPECT_THAT(pin_matches_on_cpu(all).text, HasSubstr("because everything was computed by the CPU"));
  EXPECT_THAT(pin_matches_on_cpu(all).does_not_show, HasSubstr("anything about the device"));
}

TEST(Catalogue, PinWithoutEffect) {
  PinFacts f = pin();
  f.moved = 0;
  expect_whole(pin_without_effect(f), "pin-without-effect", Severity::kNote);
  EXPECT_THAT(pin_without_effect(f).text, HasSubstr("touches 2 nodes, and none of them left QNNExecutionProvider"));
  f.touched.clear();
  EXPECT_EQ(pin_without_effect(f).text, "Softmax=CPU touches no node of this model.");
}

TEST(Catalogue, PinNothingToRepair) {
  expect_whole(pin_nothing_to_repair(pin(), {}), "pin-nothing-to-repair", Severity::kNote);
  EXPECT_THAT(pin_nothing_to_repair(pin(), {}).text, HasSubstr("agreed with the reference before, and still do"));
  EXPECT_THAT(pin_nothing_to_repair(pin(), {"boxes"}).text, HasSubstr("and boxes no longer do"));
}

}  // namespace
}  // namespace paritas::catalogue
