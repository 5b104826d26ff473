// Fields that scripts may rely on (docs/results.md), and what a reader must see on the terminal.
#include "paritas/report/reports.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_keys(const Json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) EXPECT_TRUE(json.contains(key)) << key << " in " << json.dump();
}

PairMetrics metrics(double cosine = 0.5) {
  PairMetrics m;
  m.count = m.finite = 1352;
  m.differing = 1000;
  m.cosine = cosine;
  m.nmse = 0.25;
  m.sqnr_db = INFINITY;
  m.max_abs = 0.75;
  m.reference_max = 0.962;
  m.device_max = 0.1;
  return m;
}

TensorComparison pair(const std::string& name, Role role = Role::kOutput) {
  TensorComparison t;
  t.name = name;
  t.role = role;
  t.sample = "sample-000000";
  t.reference = t.device = SideInfo{DType::kF32, {1, 1352}};
  t.metrics = metrics();
  t.verdict = Verdict::kDeviates;
  t.rule = "cosine 0.5 < 0.99";
  return t;
}

CompareResult compared() {
  CompareResult r;
  r.verdict = Verdict::kDeviates;
  r.reasons = {"scores: cosine 0.5 < 0.99"};
  r.deciding = 1;
  r.reference = "ref";
  r.device = "dev";
  r.samples = 1;
  r.tensors = {pair("scores"), pair("lost")};
  r.tensors[1].status = PairStatus::kMissingDevice;
  r.tensors[1].device.reset();
  r.tensors[1].metrics.reset();
  r.unmatched_reference = {"lost"};
  r.coverage = {2, 1, 2, 0, 0};
  r.gate_texts = {"*: cosine >= 0.99"};
  r.gates_sha256 = "ab";
  r.notes = {"contents not re-hashed"};
  return r;
}

// Class ids and counts have no direction and no energy.
TEST(CompareFiles, PlainIntegersHaveNoCosine) {
  CompareResult result = compared();
  result.tensors = {pair("ids")};
  result.tensors[0].reference->dtype = result.tensors[0].device->dtype = DType::kI64;
  EXPECT_THAT(csv(result), HasSubstr(",0.5,0.75,"));
  result.tensors[0].metrics->max_integer_difference = 1;
  EXPECT_THAT(csv(result), AllOf(HasSubstr(",,0.75,0,,,1000,1352,"), Not(HasSubstr("inf"))));
}

TEST(CompareFiles, ControlCharactersAreWrittenOut) {
  CompareResult result = compared();
  result.tensors = {pair("a\x1b[2J\xe2\x80\xae")};
  result.reasons = {"a\x1b[2J\nb: cosine"};
  EXPECT_THAT(csv(result), AllOf(HasSubstr("a\\x1b[2J\\u202e"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(junit(result), AllOf(HasSubstr("a\\x1b[2J\\u202e"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(github(result), AllOf(HasSubstr("a\\x1b[2J%0Ab"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(terminal(result, {}), HasSubstr("a\\x1b[2J\\nb: cosine"));
}

TEST(CompareTerminal, QuantilesAreShownWhereTheyWereTaken) {
  CompareResult result = compared();
  EXPECT_THAT(terminal(result, {}), Not(HasSubstr("p99.9")));
  result.tensors[0].metrics->abs_quantiles = {0.001, 0.01, 0.1, 0.5};
  EXPECT_THAT(terminal(result, {}), AllOf(HasSubstr("|d| p50"), HasSubstr("0.0010  0.0100  0.1000  0.5000  0.7500")));
}

TEST(CompareJson, HasTheStableFields) {
  const Json json = to_json(compared());
  EXPECT_EQ(json["schema"], "paritas.compare/1");
  EXPECT_EQ(json["verdict"], "deviates");
  EXPECT_EQ(json["reasons"][0], "scores: cosine 0.5 < 0.99");
  expect_keys(json,
              {"reference", "device", "samples", "tensors", "unmatched", "coverage", "gates", "gates_sha256", "notes"});
  const Json& scores = json["tensors"][0];
  expect_keys(scores, {"name", "role", "status", "reference", "device", "metrics", "rule", "verdict"});
  EXPECT_EQ(scores["role"], "output");
  EXPECT_EQ(scores["status"], "compared");
  EXPECT_EQ(scores["reference"]["dtype"], "float32");
  EXPECT_EQ(scores["device"]["shape"], Json({1, 1352}));
  EXPECT_EQ(scores["metrics"]["sqnr_db"], "inf");
  EXPECT_EQ(json["tensors"][1]["status"], "missing on device");
  EXPECT_FALSE(json["tensors"][1].contains("metrics"));
  EXPECT_FALSE(json["tensors"][1].contains("device"));
  EXPECT_EQ(json["unmatched"]["reference"], Json({"lost"}));
  EXPECT_EQ(json["unmatched"]["device"], Json::array());
}

TEST(CompareTerminal, LeadsWithTheVerdictAndItsReason) {
  const std::string text = terminal(compared(), Style());
  EXPECT_EQ(text.substr(0, text.find('\n')), "DEVIATES   scores: cosine 0.5 < 0.99");
  EXPECT_THAT(text, AllOf(HasSubstr("1,000 of 1,352"), HasSubstr("missing on device"),
                          HasSubstr("1 of 2 outputs compared, 2 gated"), HasSubstr("Only in reference   lost"),
                          HasSubstr("note: contents not re-hashed"), Not(HasSubstr("\x1b"))));
}

TEST(CompareTerminal, SaysWhatItLeavesOut) {
  CompareResult r = compared();
  r.tensors.assign(50, pair("t"));
  EXPECT_THAT(terminal(r, Style()), HasSubstr("... and 30 more (--verbose shows all)"));
  Style verbose;
  verbose.verbose = true;
  EXPECT_THAT(terminal(r, verbose), Not(HasSubstr("more (--verbose")));
}

TEST(CompareTerminal, ShowsRefusedTensorsFirst) {
  CompareResult r = compared();
  r.tensors.assign(30, pair("fine"));
  for (auto& t : r.tensors) t.verdict = Verdict::kPass;
  r.tensors[29] = pair("broken");
  r.tensors[29].role = Role::kIntermediate;
  const std::string text = terminal(r, Style());
  EXPECT_LT(text.find("broken"), text.find("fine"));
}

TEST(CompareTerminal, IntegersGetNoCosine) {
  CompareResult r = compared();
  r.tensors = {pair("labels")};
  r.tensors[0].reference->dtype = r.tensors[0].device->dtype = DType::kI64;
  r.tensors[0].metrics->cosine = 0.123456;
  EXPECT_THAT(terminal(r, Style()), Not(HasSubstr("0.123456")));
}

NodeRow node(const std::string& name) {
  NodeRow row;
  row.name = name;
  row.op = "Pow";
  row.tensor = name + "_output_0";
  row.shape = {1, 4};
  row.ran_on = "QNNExecutionProvider";
  row.probe_ran_on = "QNNExecutionProvider";
  row.accumulated = metrics(0.7);
  row.accumulated_forced = metrics(0.8);
  LocalError local;
  local.metrics = metrics(0.9);
  local.metrics.storage.emplace();
  local.metrics.storage->max_abs = 0.125;
  local.input_baseline = 0.25;
  local.x_baseline = 6;
  local.island = name;
  row.local = local;
  row.inherited_nmse = NAN;
  row.sensitivity = 0.5;
  return row;
}

LocateResult located() {
  LocateResult r;
  r.verdict = Verdict::kDeviates;
  r.reasons = {"scores: cosine 0.5 < 0.99"};
  r.model = "m.onnx";
  r.reference = "cpu";
  r.device = "qnn:htp";
  OutputRow output;
  output.pair = pair("scores");
  r.outputs = {output};
  r.nodes = {node("/n3/Pow"), node("/n3/Add")};
  r.nodes[0].range = RangeViolation::kOverflow;
  r.nodes[0].range_factor = 2.7;
  r.nodes[0].consequential = true;
  r.nodes[0].local->representable = false;
  r.ranked = {"/n3/Pow", "/n3/Add"};
  r.first_divergence = "/n3/Pow";
  DecisionReport decision;
  decision.node = "/TopK";
  decision.count = 300;
  decision.moved = 12;
  decision.picks = 3;
  r.decisions = {decision};
  r.placement.requested = "QNNExecutionProvider";
  r.placement.nodes = {{"QNNExecutionProvider", 841}, {"CPUExecutionProvider", 1}};
  r.placement.partitions = 2;
  r.placement.evidence = {"session assignment"};
  r.probe_effect = {{"scores", 0.3389, 0.325, true}};
  Finding finding;
  finding.id = "range-overflow";
  finding.severity = Severity::kFault;
  finding.text = "It overflows.";
  finding.shows = "a thing";
  finding.does_not_show = "another thing";
  finding.next = "do this";
  r.findings = {finding};
  return r;
}

TEST(LocateJson, HasTheStableFields) {
  const Json json = to_json(located());
  EXPECT_EQ(json["schema"], "paritas.locate/1");
  EXPECT_EQ(json["verdict"], "deviates");
  expect_keys(json,
              {"outputs", "nodes", "ranked", "first_divergence", "decisions", "placement", "probe_effect", "findings"});
  const Json& output = json["outputs"][0];
  expect_keys(output, {"name", "role", "status", "metrics", "rule"});
  EXPECT_EQ(output["reference"]["max"], 0.962);
  EXPECT_EQ(output["device"]["max"], 0.1);
  const Json& pow = json["nodes"][0];
  expect_keys(pow, {"name", "op", "tensor", "ran_on", "probe_ran_on", "accumulated", "accumulated_forced", "local",
                    "inherited", "sensitivity"});
  expect_keys(pow["local"], {"metrics", "storage_baseline", "input_baseline", "x_baseline", "representable"});
  EXPECT_EQ(pow["accumulated"]["cosine"], 0.7);
  EXPECT_EQ(pow["accumulated_forced"]["cosine"], 0.8);
  EXPECT_EQ(pow["inherited"]["nmse"], "nan");
  EXPECT_EQ(json["nodes"][1]["local"]["storage_baseline"], 0.125);
  // What the type cannot hold has no baseline: never a division.
  EXPECT_EQ(pow["local"]["storage_baseline"], nullptr);
  EXPECT_EQ(pow["local"]["representable"], false);
  EXPECT_EQ(json["ranked"], Json({"/n3/Pow", "/n3/Add"}));
  expect_keys(json["placement"], {"requested", "nodes", "device_share", "partitions"});
  EXPECT_EQ(json["placement"]["nodes"]["QNNExecutionProvider"], 841);
  expect_keys(json["probe_effect"][0], {"output", "unmarked", "marked", "changed"});
  expect_keys(json["findings"][0], {"id", "severity", "text", "shows", "does_not_show", "next"});
}

TEST(LocateJson, WhatIsNotKnownIsNull) {
  LocateResult r = located();
  r.first_divergence.clear();
  r.nodes[0].accumulated.reset();
  r.nodes[0].accumulated_forced.reset();
  r.nodes[0].local.reset();
  r.nodes[0].inherited_nmse.reset();
  r.nodes[0].sensitivity.reset();
  r.nodes[0].not_probed = "Erf alone ran on CPUExecutionProvider";
  const Json json = to_json(r);
  EXPECT_EQ(json["first_divergence"], nullptr);
  for (const char* key : {"accumulated", "accumulated_forced", "local", "inherited", "sensitivity"})
    EXPECT_EQ(json["nodes"][0][key], nullptr) << key;
  EXPECT_EQ(json["nodes"][0]["not_probed"], "Erf alone ran on CPUExecutionProvider");
}

TEST(LocateTerminal, TellsTheStory) {
  const std::string text = terminal(located(), Style());
  EXPECT_EQ(text.substr(0, text.find('\n')), "DEVIATES   scores: cosine 0.5 < 0.99");
  EXPECT_THAT(text,
              AllOf(HasSubstr("841 of 842 nodes on QNNExecutionProvider (2 partitions)"), HasSubstr("0.9620"),
                    HasSubstr("First divergence   /n3/Pow"), HasSubstr("/TopK: 12 of 300 moved, 3 picked otherwise"),
                    HasSubstr("Finding   It overflows."), HasSubstr("does not show   another thing"),
                    HasSubstr("next            do this"), Not(HasSubstr("\x1b"))));
  EXPECT_LT(text.find("/n3/Pow"), text.find("/n3/Add"));
}

TEST(LocateTerminal, AnUnknownPlacementIsSaid) {
  LocateResult r = located();
  r.placement.nodes.clear();
  EXPECT_THAT(terminal(r, Style()), HasSubstr("not known: the runtime does not tell"));
}

TEST(LocateTerminal, ASimulatorIsNotShownAsADevice) {
  LocateResult r = located();
  r.device_simulated = "float16";
  EXPECT_THAT(terminal(r, Style()), AllOf(HasSubstr("float16 (simulated"), HasSubstr("each result rounded")));
}

TEST(InspectReport, ModelsAndRecordings) {
  Inspection model;
  model.path = "m.onnx";
  model.kind = "ONNX model";
  model.nodes = 1234;
  model.opsets = {{"ai.onnx", 17}};
  model.ops = {{"Add", 3}, {"MatMul", 7}};
  model.inputs = {{"x", "float32", "[1,2]", "input", "", ""}};
  model.tensors = {{"t", "", "", "output", "n", "Add"}};
  const std::string text = terminal(model, Style());
  EXPECT_THAT(text, AllOf(HasSubstr("1,234 nodes"), HasSubstr("x float32 [1,2]"), HasSubstr("MatMul 7, Add 3"),
                          HasSubstr("an unnamed producer")));
  const Json json = to_json(model);
  EXPECT_EQ(json["schema"], "paritas.inspect/1");
  EXPECT_EQ(json["node_count"], 1234);
  EXPECT_EQ(json["inputs"][0]["dtype"], "float32");
  EXPECT_EQ(json["tensors"][0]["op"], "Add");

  Inspection recording;
  recording.path = "rec";
  recording.kind = "recording";
  recording.samples = 2;
  recording.run.emplace();
  recording.run->target = "cpu";
  recording.tensors = {{"y", "float32", "[1]", "output", "", ""}};
  EXPECT_THAT(terminal(recording, Style()), HasSubstr("2 samples, 1 tensor\non cpu\n"));
  recording.run->model_path = "m.onnx";
  recording.run->provider = "CPUExecutionProvider";
  recording.run->runtime.version = "1.30.0";
  EXPECT_THAT(terminal(recording, Style()), HasSubstr("\nm.onnx on cpu (CPUExecutionProvider 1.30.0)\n"));
  expect_keys(to_json(recording), {"samples", "tensors", "run"});
}

TEST(CheckReport, JunitHasTensorsTasksAndTheirGates) {
  CheckResult check;
  check.verdict = Verdict::kDeviates;
  check.project = "paritas.toml";
  check.reasons = {"scores: cosine 0.5 < 0.99", "map: value 0.4 < 0.5", "y: no gate covers it"};
  check.deciding = 2;
  check.comparison = compared();
  TaskResult task{"map",
                  CommandResult{},
                  {{"task=map: value >= 0.5", "value 0.4 < 0.5", Verdict::kDeviates}},
                  Verdict::kDeviates,
                  {"map: value 0.4 < 0.5"}};
  check.tasks.push_back(std::move(task));
  StepResult step;
  step.type = "size-probe";
  step.size_probe.emplace();
  step.size_probe->verdict = Verdict::kNotJudged;
  step.size_probe->text = "it cannot be told";
  check.steps.push_back(std::move(step));
  const std::string xml = junit(check);
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"paritas check paritas.toml\" tests=\"6\" failures=\"5\" errors=\"0\" "
                             "skipped=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"scores: cosine 0.5 &lt; 0.99; map: value 0.4 &lt; 0.5\" />"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"paritas.compare\" name=\"lost\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"paritas.task\" name=\"map\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"paritas.task.map\" name=\"task=map: value >= 0.5\">"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"it cannot be told\" />"));
}

TEST(InspectReport, OfAnImportWhatIsKnown) {
  Inspection recording;
  recording.path = "rec";
  recording.kind = "recording";
  recording.run.emplace();
  EXPECT_THAT(terminal(recording, Style()), HasSubstr("\nhow it was made is not recorded\n"));
  recording.run->notes = {"imported from out.npz (npz)", "inputs are not recorded"};
  EXPECT_THAT(terminal(recording, Style()), HasSubstr("\nimported from out.npz (npz)\n"));
  recording.run->model_path = "m.onnx";
  EXPECT_THAT(terminal(recording, Style()), HasSubstr("\nm.onnx, imported from out.npz (npz)\n"));
}

}  // namespace
}  // namespace paritas
