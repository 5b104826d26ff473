#include "paritas/locate/cross_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "paritas/locate/cross_cell.h"
#include "paritas/onnx/testing.h"
#include "paritas/runtime/test_support.h"

namespace paritas {
namespace {

using catalogue::CellOutcome;
using onnx_model::Cut;
using onnx_model::Halves;
using onnx_model::Model;
using onnx_model::TensorType;
using onnx_model::testing::floats;
using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// y = (2 x)^2 / 1000: "mid" is 2 x, "square" its square, which float16 holds up to 65504, so up to x = 127.
GraphBuilder squares() {
  GraphBuilder g;
  g.input("x", {4}).initializer("two", floats({1}, {2})).initializer("thousand", floats({1}, {1000}));
  g.node("Mul", {"x", "two"}, {"mid"}).node("Mul", {"mid", "mid"}, {"square"});
  g.node("Div", {"square", "thousand"}, {"y"}).output("y");
  return g;
}

class CrossMatrixTest : public runtime_test::WorkerTest {
 protected:
  Result<CrossMatrices> run(const GraphBuilder& builder, const std::string& cut, NamedTensors inputs,
                            const std::string& reference = "cpu") {
    model_.emplace(builder.model());
    index_.emplace(must(onnx_model::GraphIndex::build(*model_)));
    const auto dependence = onnx_model::value_dependence(*model_, *index_);
    if (known_draws_) {
      random_ = onnx_model::random_dependence(*model_, *index_, /*seeds_repeat=*/true);
      request_.random = &random_;
    }
    request_.model = &*model_;
    request_.index = &*index_;
    auto spec = must(onnx_model::parse_cut(cut, "--cut"));
    if (spec.name.empty()) spec.name = "here";
    request_.cuts = {must(onnx_model::resolve_cut(*model_, *index_, dependence, spec, "--cut"))};
    request_.inputs = std::move(inputs);
    request_.reference = target(reference);
    request_.device = target("sim:fp16");
    if (!request_.start)
      request_.start = [this](const std::string& role, const Target& wanted) { return start_runner(role, wanted); };
    return cross_matrices(request_);
  }
  Result<Runner> start_runner(const std::string& role, const Target& wanted) {
    WorkerOptions made = options(role);
    std::error_code code;
    std::filesystem::create_directory(made.scratch, code);
    return Runner::start(wanted, made);
  }
  static NamedTensors x(float largest) { return {{"x", floats({4}, {1, -2, 0.5F, largest})}}; }
  static std::vector<CellOutcome> outcomes(const CrossMatrix& matrix) {
    std::vector<CellOutcome> found;
    for (const MatrixCell& cell : matrix.cells) found.push_back(cell.outcome);
    return found;
  }
  static double max_of(const MatrixCell& cell) { return cell.outputs.at(0).metrics->device_max; }

  std::optional<Model> model_;
  std::optional<onnx_model::GraphIndex> index_;
  CrossMatrixRequest request_;
  bool known_draws_ = false;
  onnx_model::RandomDependence random_;
};

TEST_F(CrossMatrixTest, ConvictsTheRearHalf) {
  const auto result = must(run(squares(), "mid", x(300)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kExact);
  EXPECT_THAT(outcomes(matrix),
              ElementsAre(CellOutcome::kHolds, CellOutcome::kHolds, CellOutcome::kDeviates, CellOutcome::kDeviates));
  // 600^2 / 1000 on the reference; 600 is exact in float16, and 360000 is infinite there.
  EXPECT_EQ(max_of(matrix.cells[0]), 360);
  EXPECT_EQ(max_of(matrix.cells[1]), 360);
  EXPECT_EQ(matrix.cells[2].outputs[0].metrics->nonfinite.device_only, 1);
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].id, "cut-rear");
  EXPECT_EQ(result.findings[0].severity, Severity::kFault);
  EXPECT_EQ(matrix.verdict, Verdict::kDeviates);
}

// 300 fits and so does what is handed over, but not the square in between.
TEST_F(CrossMatrixTest, ConvictsTheFrontHalf) {
  const auto result = must(run(squares().node("Sqrt", {"y"}, {"root"}).output("root"), "y", x(300)));
  EXPECT_THAT(outcomes(result.cuts.at(0)),
              ElementsAre(CellOutcome::kHolds, CellOutcome::kDeviates, CellOutcome::kHolds, CellOutcome::kDeviates));
  EXPECT_EQ(result.findings.at(0).id, "cut-front");
}

TEST_F(CrossMatrixTest, ATensorThatTheDeviceCannotHoldBreaksBothHalves) {
  const auto result = must(run(squares(), "square", x(300)));
  EXPECT_THAT(outcomes(result.cuts.at(0)),
              ElementsAre(CellOutcome::kHolds, CellOutcome::kDeviates, CellOutcome::kDeviates, CellOutcome::kDeviates));
  // Handing 360000 to a float16 rear half overflows there, too: each half fails.
  EXPECT_EQ(result.findings.at(0).id, "cut-each");
  EXPECT_THAT(result.cuts.at(0).notes, ElementsAre(HasSubstr("\"square\" holds values up to 3.6e+05, beyond float16")));
}

TEST_F(CrossMatrixTest, AcquitsBothHalves) {
  const auto result = must(run(squares(), "mid", x(100)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_THAT(outcomes(matrix), Each(CellOutcome::kHolds));
  EXPECT_THAT(result.findings, ElementsAre(Field(&Finding::id, "cut-acquits")));
  // 200^2 = 40000 is exact in float16 (a multiple of 32), 40 as well.
  for (const MatrixCell& cell : matrix.cells) EXPECT_EQ(max_of(cell), 40);
  EXPECT_EQ(matrix.tensors.at(0).metrics->max_abs, 0);
  EXPECT_EQ(matrix.verdict, Verdict::kNotJudged);  // no gate
}

TEST_F(CrossMatrixTest, GatesJudgeEveryCell) {
  request_.gates = must(load_gates(std::nullopt, {"y: max_abs<=0.01"}));
  // 2.2 is no float16, so y is off by more than the gate allows; with a reference front half it is rounded there only.
  const auto result = must(run(squares(), "mid", x(101.3F)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.cells[1].verdict, Verdict::kDeviates);
  EXPECT_THAT(matrix.cells[1].deciding, HasSubstr("y: max_abs"));
  // (2 f16(101.3))^2 / 1000 against the exact square, by hand.
  const double rounded = 101.3125, exact = 101.3F;
  EXPECT_NEAR(matrix.cells[1].outputs[0].metrics->max_abs, 4 * (rounded * rounded - exact * exact) / 1000, 1e-4);
  EXPECT_EQ(matrix.verdict, Verdict::kDeviates);
}

TEST_F(CrossMatrixTest, TasksJudgeEveryCell) {
  request_.judge_tasks = [](const NamedTensors&, const NamedTensors& outputs) -> Result<std::vector<CellTask>> {
    const auto values = runtime_test::values_of<float>(outputs.at(0).second);
    const bool right = std::isfinite(values.at(3));
    return std::vector<CellTask>{{"finite", right ? Verdict::kPass : Verdict::kDeviates, right ? "yes" : "no"}};
  };
  const auto result = must(run(squares(), "mid", x(300)));
  EXPECT_THAT(result.cuts.at(0).cells[1].tasks, SizeIs(1));
  EXPECT_EQ(result.cuts.at(0).cells[1].outcome, CellOutcome::kHolds);
  EXPECT_EQ(result.cuts.at(0).cells[2].tasks.at(0).verdict, Verdict::kDeviates);
}

TEST_F(CrossMatrixTest, AWrongSplitReportsNothingElse) {
  request_.extract = [](const Model& model, const Cut& cut, const std::map<std::string, TensorType>& types,
                        const std::map<std::string, Tensor>& constants) -> Result<Halves> {
    PARITAS_ASSIGN(Halves halves, onnx_model::extract_halves(model, cut, types, constants));
    // The rear half's constant is another one.
    auto& graph = halves.rear.graph();
    *graph.mutable_initializer(0) = must(onnx_model::proto_from_tensor("thousand", floats({1}, {999})));
    return halves;
  };
  const auto result = must(run(squares(), "mid", x(100)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kWrong);
  EXPECT_EQ(matrix.first_difference, "y");
  EXPECT_THAT(matrix.cells, SizeIs(1));
  EXPECT_EQ(matrix.verdict, Verdict::kInvalid);
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].id, "cut-wrong");
  EXPECT_THAT(result.findings[0].text, HasSubstr("\"y\", in the rear half"));
  EXPECT_THAT(result.findings[0].text, HasSubstr("a missing constant"));
}

TEST_F(CrossMatrixTest, AReferenceThatDoesNotRepeatIsNoWrongSplit) {
  GraphBuilder g;
  g.input("x", {4}).node("Relu", {"x"}, {"mid"}).node("RandomNormalLike", {"mid"}, {"noise"});
  g.node("Add", {"mid", "noise"}, {"y"}).output("y");
  const auto result = must(run(g, "mid", x(3)));
  EXPECT_EQ(result.cuts.at(0).split, SplitStatus::kNotRepeatable);
  EXPECT_THAT(result.findings, ElementsAre(Field(&Finding::id, "cut-not-repeatable")));
  EXPECT_EQ(result.cuts.at(0).verdict, Verdict::kInvalid);
}

// y = x + noise, z = (2 x)^2: only y depends on the draw.
GraphBuilder noisy(bool seeded) {
  GraphBuilder g;
  g.input("x", {4}).initializer("two", floats({1}, {2})).node("Mul", {"x", "two"}, {"mid"});
  g.node("RandomUniformLike", {"mid"}, {"noise"});
  if (seeded) g.seed(7);
  g.node("Add", {"mid", "noise"}, {"y"}).output("y");
  return g;
}

TEST_F(CrossMatrixTest, RandomOperatorsConvictNobody) {
  known_draws_ = true;
  request_.gates = must(load_gates(std::nullopt, {"y: max_abs<=0.001"}));
  const auto result = must(run(noisy(false), "mid", x(3)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kRandom);
  EXPECT_THAT(outcomes(matrix), Each(CellOutcome::kDrawn));
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_EQ(matrix.verdict, Verdict::kInvalid);
  EXPECT_THAT(matrix.reasons,
              ElementsAre("y: cannot tell: depends on \"RandomUniformLike:noise\" (RandomUniformLike), drawn anew in "
                          "every session"));
}

// A seed makes whole and halves draw alike, on the simulator as well: what is left is the device's own.
TEST_F(CrossMatrixTest, SeededOperatorsAreJudged) {
  known_draws_ = true;
  request_.gates = must(load_gates(std::nullopt, {"y: max_abs<=0.01"}));
  const auto result = must(run(noisy(true), "mid", x(3)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kExact);
  EXPECT_THAT(outcomes(matrix), Each(CellOutcome::kHolds));
  EXPECT_THAT(result.findings, ElementsAre(Field(&Finding::id, "cut-acquits")));
  EXPECT_GT(matrix.cells[3].outputs.at(0).metrics->max_abs, 0);  // float16
}

TEST_F(CrossMatrixTest, OutputsThatDoNotDependOnADrawAreStillJudged) {
  known_draws_ = true;
  const auto result = must(run(noisy(false).node("Mul", {"mid", "mid"}, {"z"}).output("z"), "mid", x(300)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kExact);
  EXPECT_THAT(outcomes(matrix),
              ElementsAre(CellOutcome::kDrawn, CellOutcome::kDrawn, CellOutcome::kDeviates, CellOutcome::kDeviates));
  EXPECT_THAT(result.findings, IsEmpty());  // of two halves one cannot be told
}

// The optimiser multiplies a convolution's weights by the Mul behind it; in two halves it cannot.
TEST_F(CrossMatrixTest, WhatTheOptimiserMovesIsANoiseFloor) {
  GraphBuilder g;
  std::vector<float> image(3 * 64), weights(8 * 27), scales(8);
  for (size_t i = 0; i < image.size(); ++i) image[i] = std::sin(static_cast<float>(i) * 0.37F);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::cos(static_cast<float>(i) * 0.71F);
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = 0.1F + 0.3F * static_cast<float>(i);
  g.input("x", {1, 3, 8, 8}).initializer("w", floats({8, 3, 3, 3}, weights));
  g.initializer("s", floats({8, 1, 1}, scales));
  g.node("Conv", {"x", "w"}, {"mid"}).node("Mul", {"mid", "s"}, {"y"}).output("y");
  const auto result = must(run(g, "mid", {{"x", floats({1, 3, 8, 8}, image)}}, "cpu,opt=all"));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kOptimiser);
  EXPECT_THAT(matrix.cells, SizeIs(4));
  ASSERT_THAT(matrix.noise, SizeIs(1));
  EXPECT_GT(matrix.noise[0].second.max_abs, 0);
  EXPECT_LT(matrix.noise[0].second.nmse, 1e-12);
  EXPECT_EQ(result.findings.at(0).id, "cut-optimiser");
  // With optimisation off there is nothing to explain.
  EXPECT_EQ(must(run(g, "mid", {{"x", floats({1, 3, 8, 8}, image)}})).cuts.at(0).split, SplitStatus::kExact);
}

TEST_F(CrossMatrixTest, ADeviceThatFailsLeavesWhatWasMeasured) {
  request_.start = [this](const std::string& role, const Target& wanted) -> Result<Runner> {
    if (role.starts_with("cut-device")) return runtime_error("the device", "is switched off");
    return start_runner(role, wanted);
  };
  const auto result = must(run(squares(), "mid", x(100)));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.split, SplitStatus::kExact);
  EXPECT_THAT(outcomes(matrix),
              ElementsAre(CellOutcome::kHolds, CellOutcome::kFailed, CellOutcome::kFailed, CellOutcome::kFailed));
  EXPECT_THAT(matrix.cells[1].failure, HasSubstr("is switched off"));
  EXPECT_THAT(result.findings, ElementsAre(Field(&Finding::id, "cut-undecided")));
  EXPECT_THAT(matrix.reasons, Not(IsEmpty()));
}

TEST_F(CrossMatrixTest, ADeviceThatFailsOnceIsStartedAnew) {
  int starts = 0;
  request_.start = [&](const std::string& role, const Target& wanted) -> Result<Runner> {
    if (role.starts_with("cut-device") && starts++ == 1) return runtime_error("the device", "hiccup");
    if (role == "cut-device-0") return runtime_error("the device", "not yet");
    return start_runner(role, wanted);
  };
  const auto result = must(run(squares(), "mid", x(300)));
  EXPECT_THAT(result.whole.failure, HasSubstr("not yet"));
  const CrossMatrix& matrix = result.cuts.at(0);
  EXPECT_EQ(matrix.cells[1].outcome, CellOutcome::kFailed);    // front half: hiccup
  EXPECT_EQ(matrix.cells[2].outcome, CellOutcome::kDeviates);  // measured by the next worker
  EXPECT_EQ(matrix.cells[3].outcome, CellOutcome::kFailed);    // needs the front half
}

TEST(FindingOf, SaysWhichHalf) {
  const catalogue::CutFacts facts;
  const auto id = [&](CellOutcome front, CellOutcome rear, CellOutcome both) {
    return finding_of(facts, front, rear, both).id;
  };
  constexpr auto kHolds = CellOutcome::kHolds, kDeviates = CellOutcome::kDeviates, kUnknown = CellOutcome::kUnknown;
  EXPECT_EQ(id(kDeviates, kHolds, kDeviates), "cut-front");
  EXPECT_EQ(id(kHolds, kDeviates, kDeviates), "cut-rear");
  EXPECT_EQ(id(kDeviates, kDeviates, kDeviates), "cut-each");
  EXPECT_EQ(id(kHolds, kHolds, kDeviates), "cut-together");
  EXPECT_EQ(id(kHolds, kHolds, kHolds), "cut-acquits");
  EXPECT_EQ(id(kHolds, kUnknown, kDeviates), "cut-undecided");
  EXPECT_EQ(id(kHolds, kHolds, CellOutcome::kFailed), "cut-undecided");
}

}  // namespace
}  // namespace paritas
