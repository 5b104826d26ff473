#include "paritas/locate/probe_checks.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/locate/graph_patterns.h"
#include "paritas/locate/islands.h"
#include "paritas/locate/testing.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using testing::model_of;
using testing::row;

Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

TEST(ProbeChecks, SoftmaxSumsAlongTheirOwnAxis) {
  const Tensor reference = floats({2, 3}, {0.5F, 0.25F, 0.25F, 0.125F, 0.125F, 0.75F});
  const Tensor device = floats({2, 3}, {0.5F, 0.25F, 0.375F, 0.125F, 0.125F, 0.5F});
  auto check = check_softmax_sums(reference, device, {1}, DType::kF16);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->rows, 2U);
  EXPECT_DOUBLE_EQ(check->device.max, 0.25);
  EXPECT_DOUBLE_EQ(check->device.mean, 0.1875);
  EXPECT_EQ(check->reference.max, 0);
  EXPECT_EQ(check->storage->max, 0);  // float16 holds these
  // Columns: 0.625, 0.375, 1 in the reference.
  check = check_softmax_sums(reference, device, {0}, {});
  EXPECT_EQ(check->rows, 3U);
  EXPECT_DOUBLE_EQ(check->reference.max, 0.625);
  EXPECT_FALSE(check->storage);
}

TEST(ProbeChecks, SoftmaxRowsWithNanAreCountedApart) {
  const Tensor reference = floats({2, 2}, {0.5F, 0.5F, 0.5F, 0.5F});
  auto check = check_softmax_sums(reference, floats({2, 2}, {NAN, 0.5F, 0.5F, 0.5F}), {1}, {});
  ASSERT_TRUE(check);
  EXPECT_EQ(check->broken_rows, 1U);
  EXPECT_EQ(check->device.max, 0);
}

TEST(ProbeChecks, AWrongStatisticIsToldFromOtherErrors) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> x(8 * 64), scaled(x.size()), noisy(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = normal(random);
    scaled[i] = x[i] * 1.25F;
    noisy[i] = x[i] + 0.25F * normal(random);
  }
  auto fit = fit_statistic(floats({8, 64}, x), floats({8, 64}, scaled), {1}, false, nullptr, nullptr);
  ASSERT_TRUE(fit);  // convicted: all of it is the statistic
  EXPECT_NEAR(fit->scale_rms, 0.25, 1e-6);
  EXPECT_NEAR(fit->scale_max, 0.25, 1e-6);
  EXPECT_NEAR(fit->result_rms, 0.25, 1e-6);
  EXPECT_LT(fit->rest_rms, 1e-6);
  fit = fit_statistic(floats({8, 64}, x), floats({8, 64}, noisy), {1}, false, nullptr, nullptr);
  EXPECT_LT(fit->scale_rms, 0.1);  // acquitted: about 0.25 / sqrt(64) by chance
  EXPECT_GT(fit->rest_rms, 0.2);
}

TEST(ProbeChecks, ShiftScaleAndBiasOfLayerNormalization) {
  // Values (y - bias) / scale of the device: reference * 1.5 + 0.5.
  const std::vector<float> x = {-1, 0, 1, -1, 0, 1}, scale = {2, 4, 8}, bias = {1, 2, 3};
  std::vector<float> reference(6), device(6);
  for (size_t i = 0; i < 6; ++i) {
    reference[i] = x[i] * scale[i % 3] + bias[i % 3];
    device[i] = (x[i] * 1.5F + 0.5F) * scale[i % 3] + bias[i % 3];
  }
  const Tensor s = floats({3}, scale), b = floats({3}, bias);
  auto fit = fit_statistic(floats({2, 3}, reference), floats({2, 3}, device), {1}, true, &s, &b);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->scale_max, 0.5, 1e-12);
  EXPECT_NEAR(fit->shift_max, 0.5, 1e-12);
  EXPECT_NEAR(fit->rest_rms, 0, 1e-12);
}

TEST(ProbeChecks, RelativeErrorSkipsZeroAndCountsNan) {
  auto e = relative_error(floats({4}, {0, 2, 4, 1}), floats({4}, {1, 3, 4, NAN}));
  ASSERT_TRUE(e);
  EXPECT_DOUBLE_EQ(e->max, 0.5);
  EXPECT_DOUBLE_EQ(e->rms, std::sqrt(2.0 / 20));
  EXPECT_EQ(e->device_only, 1U);
}

// Both estimates against sums that are really made in float16.
TEST(ProbeChecks, SumEstimatesMatchFloat16Arithmetic) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  auto f16 = [](double v) { return round_to_format(v, DType::kF16); };
  for (int terms : {16, 256, 2048}) {
    double operands = 0, accumulation = 0;
    const int trials = 400;
    for (int t = 0; t < trials; ++t) {
      double exact = 0, rounded_operands = 0, partial = 0;
      for (int k = 0; k < terms; ++k) {
        const double a = normal(random), b = 3 * normal(random);
        exact += a * b;
        rounded_operands += f16(a) * f16(b);
        partial = f16(partial + a * b);
      }
      operands += (rounded_operands - exact) * (rounded_operands - exact);
      accumulation += (partial - exact) * (partial - exact);
    }
    const SumEstimate estimate = estimate_sum(static_cast<uint64_t>(terms), 1, 3, DType::kF16);
    EXPECT_NEAR(std::sqrt(operands / trials) / estimate.operand_rms, 1, 0.25) << terms;
    EXPECT_NEAR(std::sqrt(accumulation / trials) / estimate.accumulation_rms, 1, 0.25) << terms;
  }
}

TEST(ProbeChecks, ModulePaths) {
  EXPECT_EQ(module_path("/dec/layers.0/n3/Pow"), "/dec/layers.0/n3");
  EXPECT_EQ(module_path("/Conv"), "");
  EXPECT_EQ(module_path("Conv_0"), "");
}

TEST(ProbeChecks, RollUpByModule) {
  const auto model = model_of(
      {"x"}, {{"Mul", {"x", "x"}, {"/a/b/m"}}, {"Exp", {"/a/b/m"}, {"/a/e"}}, {"Neg", {"/a/e"}, {"/c/n"}}}, {"/c/n"});
  const auto index = onnx_model::GraphIndex::build(model);
  ASSERT_TRUE(index);
  std::vector<NodeRow> rows = {row("/a/b/m", 0.5, 1e-3), row("/a/e", 0.6, 2e-3), row("/c/n", 0.7, 1e-6)};
  rows[1].accumulated->nmse = 0.25;
  rows[0].local->x_baseline = 7;
  const auto blocks = roll_up(rows, *index);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].path, "/a");
  EXPECT_EQ(blocks[0].probed, 2U);
  EXPECT_DOUBLE_EQ(blocks[0].nmse_sum, 3e-3);
  EXPECT_EQ(blocks[0].worst, "/a/e");
  EXPECT_DOUBLE_EQ(blocks[0].accumulated_out, 0.25);  // /a/b/m does not leave /a
  EXPECT_EQ(blocks[1].path, "/a/b");
  EXPECT_EQ(blocks[1].depth, 2);
  EXPECT_DOUBLE_EQ(blocks[1].accumulated_out, 0.5);
  EXPECT_DOUBLE_EQ(blocks[1].x_storage_max, 7);
  EXPECT_EQ(blocks[2].path, "/c");
}

TEST(ProbeChecks, ATensorThatIsBrokenOnTheDeviceIsTheWorst) {
  const auto model = model_of({"x"}, {{"Mul", {"x", "x"}, {"/a/m"}}, {"Neg", {"/a/m"}, {"/a/n"}}}, {"/a/n"});
  const auto index = onnx_model::GraphIndex::build(model);
  std::vector<NodeRow> rows = {row("/a/m", 1, 1e-9), row("/a/n", 1, 0.5)};
  rows[0].local->metrics.nonfinite.device_only = 2;
  const auto blocks = roll_up(rows, *index);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].device_only, 1U);
  EXPECT_EQ(blocks[0].worst, "/a/m");
}

TEST(GraphPatterns, DecomposedSoftmax) {
  const auto model = model_of({"x"},
                              {{"ReduceMax", {"x"}, {"m"}},
                               {"Sub", {"x", "m"}, {"d"}},
                               {"Exp", {"d"}, {"e"}},
                               {"ReduceSum", {"e"}, {"s"}},
                               {"Div", {"e", "s"}, {"y"}}},
                              {"y"});
  const auto index = onnx_model::GraphIndex::build(model);
  const auto sites = find_softmax(model, *index);
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_TRUE(sites[0].decomposed);
  EXPECT_EQ(sites[0].tensor, "y");
  EXPECT_EQ(sites[0].nodes.size(), 5U);
  EXPECT_THAT(resolved_axes(sites[0].axes, sites[0].to_the_end, 2), ElementsAre(0, 1));  // no axes: all
}

TEST(GraphPatterns, OtherDivisionsAreNoSoftmax) {
  const auto model = model_of(
      {"x"}, {{"Exp", {"x"}, {"e"}}, {"Exp", {"e"}, {"f"}}, {"ReduceSum", {"f"}, {"s"}}, {"Div", {"e", "s"}, {"y"}}},
      {"y"});
  EXPECT_TRUE(find_softmax(model, *onnx_model::GraphIndex::build(model)).empty());
}

TEST(GraphPatterns, SoftmaxBefore13TakesAllAxesBehind) {
  auto model = model_of({"x"}, {{"Softmax", {"x"}, {"y"}}}, {"y"});
  model.proto().mutable_opset_import(0)->set_version(11);
  auto sites = find_softmax(model, *onnx_model::GraphIndex::build(model));
  EXPECT_THAT(resolved_axes(sites.at(0).axes, sites[0].to_the_end, 3), ElementsAre(1, 2));
  model.proto().mutable_opset_import(0)->set_version(13);
  sites = find_softmax(model, *onnx_model::GraphIndex::build(model));
  EXPECT_THAT(resolved_axes(sites.at(0).axes, sites[0].to_the_end, 3), ElementsAre(2));
}

TEST(GraphPatterns, DecomposedNormalisations) {
  const auto model = model_of({"x", "eps"},
                              {{"ReduceMean", {"x"}, {"mean"}},
                               {"Sub", {"x", "mean"}, {"c"}},
                               {"Mul", {"c", "c"}, {"q"}},
                               {"ReduceMean", {"q"}, {"v"}},
                               {"Add", {"v", "eps"}, {"b"}},
                               {"Sqrt", {"b"}, {"r"}},
                               {"Div", {"c", "r"}, {"y"}}},
                              {"y"});
  const auto sites = find_norms(model, *onnx_model::GraphIndex::build(model));
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_TRUE(sites[0].centred);
  EXPECT_EQ(sites[0].nodes.size(), 7U);
  ASSERT_EQ(sites[0].steps.size(), 5U);
  EXPECT_EQ(sites[0].steps[1], std::pair(std::string("mean"), std::string("v")));
}

TEST(GraphPatterns, RmsByReciprocal) {
  const auto model = model_of({"x"},
                              {{"Mul", {"x", "x"}, {"q"}},
                               {"ReduceMean", {"q"}, {"v"}},
                               {"Sqrt", {"v"}, {"r"}},
                               {"Reciprocal", {"r"}, {"i"}},
                               {"Mul", {"x", "i"}, {"y"}}},
                              {"y"});
  const auto sites = find_norms(model, *onnx_model::GraphIndex::build(model));
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_FALSE(sites[0].centred);
  EXPECT_EQ(sites[0].nodes.size(), 5U);
}

onnx_model::Model modules() {
  return model_of({"x"},
                  {{"Neg", {"x"}, {"/a/b/m"}},
                   {"Exp", {"/a/b/m"}, {"/a/b/e"}},
                   {"Neg", {"/a/b/e"}, {"/a/c/n"}},
                   {"Neg", {"/a/c/n"}, {"/d"}}},
                  {"/d"});
}

TEST(Islands, ByModuleAndByPattern) {
  const auto model = modules();
  const auto index = onnx_model::GraphIndex::build(model);
  const auto dependence = onnx_model::value_dependence(model, *index);
  auto groups = island_groups(parse_islands("blocks"), {}, model, *index, dependence);
  ASSERT_EQ(groups.size(), 1U);  // /a/c and / have one node
  EXPECT_EQ(groups[0].name, "/a/b");
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1));
  groups = island_groups(parse_islands("/a"), {}, model, *index, dependence);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  groups = island_groups(parse_islands("/a/?/[en]"), {}, model, *index, dependence);
  EXPECT_TRUE(groups.empty());
  groups = island_groups(parse_islands("/a/*/?"), {}, model, *index, dependence);  // no path, so nodes
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].nodes.size(), 3U);
  EXPECT_TRUE(island_groups(parse_islands("nodes"), {}, model, *index, dependence).empty());
}

TEST(Islands, APatternThatMatchesNothingIsRefused) {
  const auto model = modules();
  const auto index = onnx_model::GraphIndex::build(model);
  EXPECT_TRUE(check_islands(parse_islands("/a/?"), *index));
  const auto status = check_islands(parse_islands("/x"), *index);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().cause,
            "\"/x\" matches no module path and no node of the model; there are \"/a/b\", \"/a/c\"");
}

}  // namespace
}  // namespace paritas
