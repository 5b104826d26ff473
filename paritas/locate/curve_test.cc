#include "paritas/locate/curve.h"

#include <gmock/gmock.h>

#include <cmath>

#include "paritas/locate/pieces.h"
#include "paritas/locate/testing.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exact_gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }
double tanh_gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

// -10 to 10 in steps of 1/64, which float16 holds exactly.
CurveValues of(double (*reference)(double), double (*device)(double)) {
  CurveValues v;
  for (int i = -640; i <= 640; ++i) {
    const double x = i / 64.0;
    v.x.push_back(x);
    v.reference.push_back(static_cast<float>(reference(x)));
    v.stored.push_back(round_to_format(reference(x), DType::kF16));
    v.device.push_back(round_to_format(device(x), DType::kF16));
  }
  return v;
}

TEST(Curve, AnHonestDeviceSaturatesWhereItsFormatDoes) {
  const CurveValues v = of(sigmoid, sigmoid);
  const auto sides = curve_sides(*curve_kind("Sigmoid"), v, DType::kF16);
  EXPECT_FALSE(sides[0].device.from);  // sigmoid(-10) = 4.5e-5 is a float16
  ASSERT_TRUE(sides[1].device.from);
  // 1 - 2^-12 is half-way between 1 and the value before it: ln(4095) = 8.3175
  EXPECT_EQ(*sides[1].device.from, 8.328125);
  EXPECT_EQ(sides[1].device.level, 1);
  EXPECT_EQ(sides[0].early + sides[1].early, 0U);
  EXPECT_NEAR(sides[1].share_beyond, (10 - 8.328125) * 64 / 1281 + 1.0 / 1281, 1e-12);
}

TEST(Curve, ATailThatGoesToZeroTooEarly) {
  const CurveValues v = of(sigmoid, [](double x) { return x <= -8 ? 0 : sigmoid(x); });
  const auto sides = curve_sides(*curve_kind("Sigmoid"), v, DType::kF16);
  ASSERT_TRUE(sides[0].device.from);
  EXPECT_EQ(*sides[0].device.from, -8);
  EXPECT_EQ(sides[0].device.level, 0);
  EXPECT_EQ(sides[0].early, 129U);  // -10 to -8
  EXPECT_NEAR(sides[0].early_max_abs, sigmoid(-8), 1e-9);
}

TEST(Curve, APlateauAwayFromTheLimit) {
  const CurveValues v = of(sigmoid, [](double x) { return sigmoid(std::max(x, -7.0)); });
  const auto sides = curve_sides(*curve_kind("Sigmoid"), v, DType::kF16);
  EXPECT_EQ(*sides[0].device.from, -7);
  EXPECT_GT(sides[0].device.level, 0);
  EXPECT_EQ(sides[0].early, 193U);
  // Two equal neighbours are resolution, no plateau.
  CurveValues two;
  two.x = {-3, -2.999};
  two.reference = {0.0474, 0.04745};
  two.device = two.stored = {0.0474, 0.0474};
  EXPECT_FALSE(curve_sides(*curve_kind("Sigmoid"), two, DType::kF16)[0].device.from);
}

TEST(Curve, IntervalsHoldAbsoluteBesideRelativeErrors) {
  CurveValues v;
  v.x = {-9, -0.25, 0, 0.25, INFINITY, 20};
  v.reference = {1e-4, 0.5, 0.5, 0.5, 1, 1};
  v.device = {0, 0.5, 0.75, 0.5, 1, NAN};
  v.stored = v.reference;
  const auto intervals = curve_intervals(v);
  ASSERT_EQ(intervals.size(), 4U);
  EXPECT_EQ(intervals[0].from, -16);
  EXPECT_EQ(intervals[0].lost, 1U);
  EXPECT_EQ(intervals[0].max_abs, 1e-4);
  EXPECT_EQ(intervals[0].max_rel, 1);
  EXPECT_EQ(intervals[2].count, 2U);  // 0 and 0.25: an edge belongs to the right
  EXPECT_EQ(intervals[2].max_abs, 0.25);
  EXPECT_EQ(intervals[2].mean_abs, 0.125);
  EXPECT_EQ(intervals[2].max_rel, 0.5);
  EXPECT_DOUBLE_EQ(intervals[2].share, 0.4);  // of five finite inputs
  EXPECT_EQ(intervals[3].nonfinite, 1U);
  EXPECT_EQ(intervals[3].compared, 0U);
  EXPECT_EQ(intervals[3].stored_max_abs.value_or(0), 0);
}

TEST(Curve, GeluFormsAreToldApartByTheirValues) {
  const CurveValues exact = of(exact_gelu, exact_gelu), tanh = of(tanh_gelu, tanh_gelu);
  for (const bool sums : {false, true}) {
    EXPECT_EQ(gelu_form(exact.x, exact.reference, DType::kF32, sums).form, "exact");
    EXPECT_EQ(gelu_form(tanh.x, tanh.reference, DType::kF32, sums).form, "tanh");
  }
  // Rounded to float16 they still differ, in the negative tail.
  EXPECT_EQ(gelu_form(exact.x, exact.device, DType::kF16, false).form, "exact");
  EXPECT_EQ(gelu_form(tanh.x, tanh.device, DType::kF16, false).form, "tanh");
  // With 1 + erf rounded to float16 they do not.
  EXPECT_EQ(gelu_form(tanh.x, tanh.device, DType::kF16, true).form, "cannot tell");
  std::vector<double> between;
  for (size_t i = 0; i < exact.x.size(); ++i) between.push_back((exact.reference[i] + tanh.reference[i]) / 2);
  const GeluForm neither = gelu_form(exact.x, between, DType::kF32, false);
  EXPECT_EQ(neither.form, "neither");
  EXPECT_NEAR(neither.position, 0.5, 0.01);
  EXPECT_EQ(gelu_form({0, 0.1, -0.1}, {0, 0.05, -0.05}, DType::kF32, false).form, "cannot tell");
}

TEST(Curve, FormsDifferByLessThanTheWordingSays) {
  double largest = 0;
  for (double x = -8; x <= 8; x += 0.001) largest = std::max(largest, std::abs(tanh_gelu(x) - exact_gelu(x)));
  EXPECT_LE(largest, 4.8e-4);
  EXPECT_GE(largest, 4.7e-4);
}

PieceRow row_of(const CurveValues& v) {
  PieceRow row;
  row.node = "/s";
  row.op = "Sigmoid";
  row.count = v.x.size();
  row.sides = curve_sides(*curve_kind("Sigmoid"), v, DType::kF16);
  return row;
}

TEST(Pieces, Explained) {
  const auto ids = [](const PieceRow& row) {
    std::vector<std::string> found;
    for (const Finding& f : explain_piece(row, "dev", DType::kF16)) found.push_back(f.id);
    return found;
  };
  EXPECT_THAT(ids(row_of(of(sigmoid, sigmoid))), ElementsAre());
  EXPECT_THAT(ids(row_of(of(sigmoid, [](double x) { return x <= -8 ? 0 : sigmoid(x); }))),
              ElementsAre("piece-tail-lost"));
  EXPECT_THAT(ids(row_of(of(sigmoid, [](double x) { return sigmoid(std::clamp(x, -7.0, 7.0)); }))),
              ElementsAre("piece-saturates-early", "piece-saturates-early"));
  PieceRow gelu;
  gelu.op = "Gelu";
  gelu.reference_form = GeluForm{"exact", 0, 100, 0};
  gelu.device_form = GeluForm{"tanh", 1, 100, 0};
  EXPECT_THAT(ids(gelu), ElementsAre("piece-gelu-form"));
  gelu.device_form->form = "cannot tell";
  EXPECT_THAT(ids(gelu), ElementsAre());
}

// --- GELUs in parts -----------------------------------------------------------------------------------------------

Prepared prepared(const std::vector<testing::NodeSpec>& nodes, const std::vector<std::string>& outputs,
                  float half = 0.5F) {
  auto model = testing::model_of({"x"}, nodes, outputs);
  for (const auto& [name, value] :
       {std::pair{"root2", 1.4142135F}, {"inverse", 0.70710678F}, {"one", 1.0F}, {"half", half}})
    model.add_initializer(name, tensor_from_values(DType::kF32, {}, std::vector<float>{value}));
  auto index = *onnx_model::GraphIndex::build(model);
  auto dependence = onnx_model::value_dependence(model, index);
  return {std::move(model), std::move(index), std::move(dependence), {}, {}};
}

std::vector<std::string> parts(const Prepared& p) {
  std::vector<std::string> names;
  const auto found = find_decomposed_gelus(p);
  for (const auto& gelu : *found)
    for (const int i : gelu.nodes) names.push_back(p.index.nodes()[static_cast<size_t>(i)].name);
  return names;
}

TEST(Pieces, FindsGelusInParts) {
  EXPECT_THAT(parts(prepared({{"Div", {"x", "root2"}, {"s"}},
                              {"Erf", {"s"}, {"e"}},
                              {"Add", {"e", "one"}, {"a"}},
                              {"Mul", {"x", "a"}, {"m"}},
                              {"Mul", {"m", "half"}, {"y"}}},
                             {"y"})),
              ElementsAre("s", "e", "a", "m", "y"));
  EXPECT_THAT(parts(prepared({{"Mul", {"inverse", "x"}, {"s"}},
                              {"Erf", {"s"}, {"e"}},
                              {"Add", {"one", "e"}, {"a"}},
                              {"Mul", {"a", "half"}, {"m"}},
                              {"Mul", {"m", "x"}, {"y"}}},
                             {"y"})),
              ElementsAre("s", "e", "a", "m", "y"));
  EXPECT_EQ(parts(prepared({{"Mul", {"x", "half"}, {"h"}},
                            {"Div", {"x", "root2"}, {"s"}},
                            {"Erf", {"s"}, {"e"}},
                            {"Add", {"e", "one"}, {"a"}},
                            {"Mul", {"h", "a"}, {"y"}}},
                           {"y"}))
                .size(),
            5U);
}

TEST(Pieces, LeavesWhatIsNoGelu) {
  const std::vector<testing::NodeSpec> nodes = {{"Div", {"x", "root2"}, {"s"}},
                                                {"Erf", {"s"}, {"e"}},
                                                {"Add", {"e", "one"}, {"a"}},
                                                {"Mul", {"x", "a"}, {"m"}},
                                                {"Mul", {"m", "half"}, {"y"}}};
  EXPECT_THAT(parts(prepared(nodes, {"y"}, 0.4F)), ElementsAre());  // another factor
  EXPECT_THAT(parts(prepared(nodes, {"y", "a"})), ElementsAre());   // a part is read elsewhere
  EXPECT_THAT(parts(prepared({{"Erf", {"x"}, {"y"}}}, {"y"})), ElementsAre());
}

}  // namespace
}  // namespace paritas
