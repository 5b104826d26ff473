// bench() with real sessions. Nothing here depends on how long anything takes.
#include "paritas/delivery/bench.h"

#include <gmock/gmock.h>

#include "paritas/base/sha256.h"
#include "paritas/delivery/bench_history.h"
#include "paritas/delivery/bench_subject.h"
#include "paritas/package/package.h"
#include "paritas/recording/recording.h"
#include "paritas/runtime/test_support.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kFloat = 1;

Tensor floats(const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, {static_cast<int64_t>(values.size())}, values);
}

class BenchRun : public runtime_test::WorkerTest {
 protected:
  // y = x + x
  Path twice() const {
    TinyModel model;
    model.input("x", kFloat, {3}).output("y");
    model.node("Add", "", {"x", "x"}, {"y"});
    return model.save(folder(), "twice");
  }
  // z = y * x
  Path product() const {
    TinyModel model;
    model.input("y", kFloat, {3}).input("x", kFloat, {3}).output("z");
    model.node("Mul", "", {"y", "x"}, {"z"});
    return model.save(folder(), "product");
  }
  Path random() const {
    TinyModel model;
    model.input("x", kFloat, {3}).output("y");
    model.node("RandomUniformLike", "", {"x"}, {"y"});
    return model.save(folder(), "random");
  }

  BenchSubject subject(const Path& path, const std::string& on = "cpu", float largest = 3) const {
    auto made = model_subject(path.string(), target(on), {{"x", floats({1, 2, largest})}}, {});
    EXPECT_TRUE(made.has_value()) << made.error().message();
    return made ? std::move(*made) : BenchSubject{};
  }

  BenchRequest request(std::vector<BenchSubject> subjects, const std::vector<std::string>& gates = {}) const {
    BenchRequest made;
    made.subjects = std::move(subjects);
    made.reference = target("cpu");
    for (const std::string& gate : gates) made.gates.gates.push_back(*parse_gate(gate));
    made.warm_up = 2;
    made.runs = 10;
    made.worker = options();
    made.scratch_root = folder();
    made.tool_version = "test";
    return made;
  }

  BenchResult run(const BenchRequest& wanted) const {
    auto result = bench(wanted);
    EXPECT_TRUE(result.has_value()) << result.error().message() << result.error().details;
    return result ? std::move(*result) : BenchResult{};
  }

  static std::vector<std::string> ids(const BenchResult& result) {
    std::vector<std::string> found;
    for (const Finding& finding : result.findings) found.push_back(finding.id);
    return found;
  }
};

TEST_F(BenchRun, AModelIsTimedAndHeldAgainstTheReference) {
  const BenchResult result = run(request({subject(twice(), "cpu,threads=2")}, {"y: max_abs<=0"}));
  EXPECT_EQ(result.verdict, Verdict::kPass);
  ASSERT_EQ(result.sides.size(), 1u);
  const BenchSide& side = result.sides[0];
  EXPECT_EQ(side.chain.runs, 10u);
  EXPECT_GT(side.chain.min, 0);
  EXPECT_LE(side.chain.min, *side.chain.median);
  EXPECT_LE(*side.chain.p95, side.chain.max);
  ASSERT_EQ(side.stages.size(), 1u);
  EXPECT_LE(*side.stages[0].run.median, *side.chain.median);
  EXPECT_GT(side.stages[0].session, 0);
  EXPECT_GE(side.ready, side.start + side.stages[0].session);
  EXPECT_GT(side.first_run, 0);
  EXPECT_GE(side.peak, side.peak_after_load);
  EXPECT_TRUE(side.repeats);
  EXPECT_EQ(side.conditions.threads, "2");
  EXPECT_EQ(side.conditions.optimisation, "all");  // as an application: the reference's default is "none"
  EXPECT_EQ(side.conditions.mode, "sequential");
  EXPECT_THAT(side.conditions.runtime, HasSubstr(" "));
  EXPECT_EQ(side.stages[0].edited, "");
  EXPECT_THAT(ids(result), Not(Contains("timing-of-wrong-results")));
}

TEST_F(BenchRun, WithoutGatesNothingPasses) {
  const BenchResult result = run(request({subject(twice())}));
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_THAT(ids(result), Contains("timing-not-judged"));
  BenchRequest bare = request({subject(twice())}, {"y: max_abs<=0"});
  bare.with_reference = false;
  EXPECT_EQ(run(bare).verdict, Verdict::kNotJudged);
}

TEST_F(BenchRun, ATimingOfWrongResultsIsMarked) {
  const BenchResult result = run(request({subject(twice(), "sim:fp16", 60000)}, {"y: max_rel<=0.01"}));
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_THAT(ids(result), Contains("timing-of-wrong-results"));
  EXPECT_THAT(ids(result), Contains("timing-emulated"));
  EXPECT_TRUE(result.sides[0].conditions.emulated);
  EXPECT_THAT(result.sides[0].stages[0].edited, HasSubstr("simulator"));
}

TEST_F(BenchRun, OneRunHasNoPercentiles) {
  BenchRequest single = request({subject(twice())});
  single.warm_up = 0;
  single.runs = 1;
  const BenchResult result = run(single);
  EXPECT_FALSE(result.sides[0].chain.median.has_value());
  EXPECT_EQ(result.sides[0].first_run, 0);
  EXPECT_THAT(ids(result), Contains("timing-single-run"));
}

TEST_F(BenchRun, ResultsThatMoveAreNoticed) {
  BenchRequest wanted = request({subject(random())});
  wanted.endure = 0.2;
  wanted.runs = 2;
  const BenchResult result = run(wanted);
  EXPECT_FALSE(result.sides[0].repeats);
  ASSERT_TRUE(result.sides[0].endurance.has_value());
  const Endurance& endurance = *result.sides[0].endurance;
  EXPECT_GT(endurance.runs, 0u);
  EXPECT_EQ(endurance.differing, endurance.runs);
  EXPECT_EQ(endurance.first_differing, 1u);
  EXPECT_THAT(ids(result), Contains("endurance-results-move"));
  wanted = request({subject(twice())});
  wanted.endure = 0.2;
  const BenchResult steady = run(wanted);
  EXPECT_EQ(steady.sides[0].endurance->differing, 0u);
  EXPECT_FALSE(steady.sides[0].endurance->resident.empty());
}

TEST_F(BenchRun, TwoSubjectsAlternate) {
  const BenchResult result = run(request({subject(twice()), subject(random())}));
  ASSERT_EQ(result.sides.size(), 2u);
  for (const BenchSide& side : result.sides) {
    EXPECT_EQ(side.rounds.size(), 5u);
    EXPECT_EQ(side.chain.runs, 10u);
  }
  ASSERT_TRUE(result.ratio.has_value());
  const BenchResult refused = run(request({subject(twice()), subject(twice(), "cpu,threads=2")}));
  ASSERT_TRUE(refused.ratio.has_value());
  EXPECT_FALSE(refused.ratio->value.has_value());
  EXPECT_THAT(refused.ratio->refused, Contains("threads: 1, then 2"));
}

TEST_F(BenchRun, HistoryIsAddedToAndReadBack) {
  BenchRequest wanted = request({subject(twice())});
  wanted.history = folder() / "times.csv";
  EXPECT_TRUE(run(wanted).earlier.empty());
  wanted.subjects = {subject(twice(), "cpu,threads=2")};
  const BenchResult second = run(wanted);
  ASSERT_EQ(second.earlier.size(), 1u);
  EXPECT_FALSE(second.earlier[0].value.has_value());
  EXPECT_THAT(second.earlier[0].refused, Contains("threads: 1, then 2"));
  EXPECT_EQ(load_history(wanted.history)->lines.size(), 2u);
  // A file that is something else is refused before anything runs.
  wanted.history = twice();
  EXPECT_FALSE(bench(wanted).has_value());
}

TEST_F(BenchRun, StagesAreTiedByTensors) {
  BenchSubject chain = subject(twice());
  chain.stages[0].name = "encoder";
  chain.stages[0].outputs = {{"y", "feature_0"}};
  BenchStage decoder = chain.stages[0];
  decoder.name = "decoder";
  decoder.file = product();
  decoder.inputs = {{"x", "x"}, {"y", "feature_0"}};
  decoder.outputs = {{"z", "result"}};
  chain.stages.push_back(decoder);
  chain.outputs = {"result"};
  chain.reference_model.clear();
  chain.reference_outputs = {{"result", floats({2, 8, 18})}};
  const BenchResult result = run(request({chain}, {"result: max_abs<=0"}));
  EXPECT_EQ(result.verdict, Verdict::kPass) << result.sides[0].reasons.front();
  ASSERT_EQ(result.sides[0].stages.size(), 2u);
  EXPECT_GE(*result.sides[0].chain.median, *result.sides[0].stages[0].run.median);
  chain.reference_outputs = {{"result", floats({2, 8, 19})}};
  EXPECT_EQ(run(request({chain}, {"result: max_abs<=0"})).verdict, Verdict::kDeviates);
}

TEST_F(BenchRun, APackageIsTimedFromItsFiles) {
  const Path package = folder() / "package";
  std::filesystem::create_directories(package);
  std::filesystem::copy_file(twice(), package / "encoder.onnx");
  std::filesystem::copy_file(product(), package / "decoder.onnx");
  Manifest manifest;
  manifest.tool_version = "test";
  manifest.created = "2026-11-30T00:00:00Z";
  manifest.command = {"paritas"};
  manifest.source_name = "whole.onnx";
  manifest.source_sha256 = std::string(64, 'a');
  manifest.opsets = {{"ai.onnx", 17}};
  manifest.inputs.push_back({"image", DType::kF32, {3}, "", "", {}});
  manifest.outputs.push_back({"result", DType::kF32, {3}, "scores", "", {}});
  BoundaryTensor boundary;
  boundary.name = "feature_0";
  boundary.source = "y";
  boundary.shape = {3};
  boundary.elements = 3;
  boundary.bytes = 12;
  boundary.op = "Add";
  manifest.cuts.push_back({"encoder", {boundary}});
  for (const char* name : {"encoder", "decoder"}) {
    PackagePart part;
    part.name = name;
    part.file = part.name + ".onnx";
    part.sha256 = *sha256_of_file(package / part.file);
    part.target = "cpu,opt=all";
    part.provider = "CPUExecutionProvider";
    part.optimisation = "all";
    part.placement.requested = part.provider;
    part.placement.nodes.emplace_back(part.provider, 1);
    part.placement.evidence = {"session assignment"};
    manifest.parts.push_back(part);
  }
  manifest.parts[0].inputs.push_back({"x", "image", DType::kF32, {3}});
  manifest.parts[0].outputs.push_back({"y", "feature_0", DType::kF32, {3}});
  manifest.parts[1].inputs.push_back({"y", "feature_0", DType::kF32, {3}});
  manifest.parts[1].inputs.push_back({"x", "image", DType::kF32, {3}});
  manifest.parts[1].outputs.push_back({"z", "result", DType::kF32, {3}});
  auto writer = RecordingWriter::create(package / "reference", false);
  ASSERT_TRUE(writer.has_value());
  const NamedTensors recorded = {{"image", floats({1, 2, 3})}, {"result", floats({2, 8, 18})}};
  ASSERT_TRUE(writer->add_sample(recorded).has_value());
  RunInfo info;
  info.tensors = {{"image", DType::kF32, {}, Role::kInput, {}, {}, {}},
                  {"result", DType::kF32, {}, Role::kOutput, {}, {}, {}}};
  ASSERT_TRUE(writer->finish(info).has_value());
  manifest.reference = {"reference", "cpu", 1};
  manifest.environment.host = "Linux";
  auto sealed = seal(package, manifest);
  ASSERT_TRUE(sealed.has_value()) << sealed.error().message();

  auto whole = package_subject(package.string(), runtime_test::search(), {});
  ASSERT_TRUE(whole.has_value()) << whole.error().message();
  EXPECT_EQ(whole->stages.size(), 2u);
  EXPECT_EQ(whole->inputs.size(), 1u);
  EXPECT_EQ(whole->roles.at("result"), "scores");
  const BenchResult result = run(request({*whole}, {"role=scores: max_abs<=0"}));
  EXPECT_EQ(result.verdict, Verdict::kPass) << result.sides[0].reasons.front();
  EXPECT_EQ(result.sides[0].kind, "package");
  EXPECT_EQ(result.sides[0].conditions.threads, "1; 1");
  // Inputs that the reference lacks are timed, and held against nothing.
  auto other = package_subject(package.string(), runtime_test::search(), {{"image", floats({1, 2, 4})}});
  ASSERT_TRUE(other.has_value()) << other.error().message();
  EXPECT_EQ(run(request({*other}, {"role=scores: max_abs<=0"})).verdict, Verdict::kNotJudged);
  EXPECT_FALSE(package_subject(package.string(), runtime_test::search(), {{"nope", floats({1})}}).has_value());
}

TEST_F(BenchRun, WhatCannotBeTimedIsRefused) {
  BenchRequest wanted = request({subject(twice())}, {"nope: max_abs<=0"});
  EXPECT_THAT(bench(wanted).error().message(), HasSubstr("nope"));
  wanted = request({subject(twice()), subject(twice())});
  wanted.endure = 1;
  EXPECT_THAT(bench(wanted).error().message(), HasSubstr("--endure"));
  wanted = request({subject(twice())});
  wanted.runs = 0;
  EXPECT_FALSE(bench(wanted).has_value());
  EXPECT_FALSE(bench(request({})).has_value());
  auto wrong = model_subject(twice().string(), target("cpu"), {{"x", floats({1})}}, {});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message(), HasSubstr("twice.onnx"));
}

TEST(BenchSubject, ApplicationsUseTheHighestClockAndFullOptimisation) {
  Target target;
  target.spec = *TargetSpec::parse("qnn:htp");
  target.capabilities.fastest = {{"htp_performance_mode", "burst"}};
  EXPECT_EQ(as_application(target).provider_options.at("htp_performance_mode"), "burst");
  EXPECT_EQ(as_application(target).optimisation, "all");
  target.provider_options["htp_performance_mode"] = "balanced";
  target.spec = *TargetSpec::parse("qnn:htp,opt=basic,htp_performance_mode=balanced");
  target.optimisation = "basic";
  EXPECT_EQ(as_application(target).provider_options.at("htp_performance_mode"), "balanced");
  EXPECT_EQ(as_application(target).optimisation, "basic");
}

}  // namespace
}  // namespace paritas
