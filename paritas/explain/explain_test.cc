// Closed forms of the figures, and each rule once convicting and once acquitting.
#include <cmath>

#include <gmock/gmock.h>

#include "paritas/explain/decide.h"
#include "paritas/explain/layout.h"
#include "paritas/explain/value_figures.h"
#include "paritas/explain/weight_figures.h"

namespace paritas {
namespace {

using catalogue::CauseClass;
using ::testing::HasSubstr;

Tensor floats(const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, {static_cast<int64_t>(values.size())}, values);
}

ValueFigures value_of(const std::vector<float>& reference, const std::vector<float>& device,
                      TensorQuantiser quantiser) {
  ValueCounter counter(quantiser);
  const RealTensor x{floats(reference), {}}, y{floats(device), {}};
  EXPECT_TRUE(counter.add(&x, &y, true));
  ValueFigures figures;
  figures.name = "t";
  counter.finish(figures);
  return figures;
}

// What the quantiser makes of the values.
std::vector<float> through(const TensorQuantiser& q, const std::vector<float>& values) {
  std::vector<float> result;
  for (const float x : values) result.push_back(static_cast<float>(q.real(q.code(x))));
  return result;
}

LayerExplanation explained(const std::vector<float>& reference, const TensorQuantiser& q) {
  LayerExplanation layer;
  layer.figures.name = "conv";
  layer.figures.op = "Conv";
  layer.figures.output = value_of(reference, through(q, reference), q);
  decide(layer, 1);
  return layer;
}

constexpr TensorQuantiser kUnit{DType::kU8, 1, 0};  // 0 to 255

TEST(ExplainValues, ClippedShareAndItsEnergy) {
  // 300 is cut to 255, 10.25 is rounded to 10.
  const ValueFigures f = value_of({300, 10.25F, 0, 255.25F}, {255, 10, 0, 255}, kUnit);
  const QuantiserFigures& q = *f.quantiser;
  const double energy = 300.0 * 300 + 10.25 * 10.25 + 255.25 * 255.25;
  EXPECT_EQ(q.clipped, 1U);  // 255.25 is within half a step
  EXPECT_DOUBLE_EQ(q.clip_nmse, 45.0 * 45 / energy);
  EXPECT_DOUBLE_EQ(q.own_nmse, (45.0 * 45 + 0.25 * 0.25 * 2) / energy);
  EXPECT_DOUBLE_EQ(*q.asked_scale, 300.0 / 255);
  EXPECT_DOUBLE_EQ(*q.ratio, 255.0 / 300);
  EXPECT_EQ(q.levels_used, 3U);
  EXPECT_EQ(q.at_high, 2U);
  EXPECT_EQ(q.top_cut_samples, 1U);
  EXPECT_EQ(q.largest_tie, 2U);
}

TEST(ExplainValues, AskedScaleOfSymmetricAndOfOneSidedRanges) {
  EXPECT_DOUBLE_EQ((TensorQuantiser{DType::kI8, 1, 0}.asked(-2, 254)), 2);   // 254 / 127
  EXPECT_DOUBLE_EQ((TensorQuantiser{DType::kI8, 1, -5}.asked(-1, 254)), 1);  // 255 / 255
  EXPECT_DOUBLE_EQ((TensorQuantiser{DType::kU8, 1, 0}.asked(2, 510)), 2);    // 0 lies within
}

TEST(ExplainDecide, NarrowRangeConvictsAndRangeOfTheDataAcquits) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i % 400));
  const LayerExplanation narrow = explained(values, kUnit);
  EXPECT_EQ(narrow.cause, CauseClass::kActivations);
  EXPECT_EQ(narrow.finding.id, "explain-range-narrow");
  EXPECT_THAT(narrow.finding.text, HasSubstr("saturate"));
  const LayerExplanation fits = explained(values, {DType::kU8, 399.0 / 255, 0});
  EXPECT_NE(fits.cause, CauseClass::kActivations) << fits.finding.text;
}

TEST(ExplainDecide, WideRangeConvictsOnlyWhereItCosts) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i % 97) / 97);
  EXPECT_EQ(explained(values, {DType::kU8, 0.1, 0}).finding.id, "explain-range-wide");
  // 16 bits: 100 times too wide, and still exact to 60 dB.
  EXPECT_NE(explained(values, {DType::kU16, 100.0 / 65535, 0}).cause, CauseClass::kActivations);
}

TEST(ExplainDecide, FewValuesThatSetTheScale) {
  std::vector<float> values(10000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100) / 100;
  values[17] = 40;
  const TensorQuantiser q{DType::kU8, 40.0 / 255, 0};
  const LayerExplanation layer = explained(values, q);
  EXPECT_EQ(layer.finding.id, "explain-outliers") << layer.finding.text;
  // Without the outlier, and with the range of the rest: nothing.
  values[17] = 0;
  EXPECT_NE(explained(values, {DType::kU8, 1.0 / 255, 0}).cause, CauseClass::kActivations);
}

TEST(ExplainDecide, ActivationBoundIsNoSaturation) {
  // A third of the reference's values are 6: its Clip. The range ends there.
  std::vector<float> values;
  for (int i = 0; i < 900; ++i) values.push_back(i % 3 == 0 ? 6 : static_cast<float>(i % 7));
  const LayerExplanation layer = explained(values, {DType::kU8, 6.0 / 255, 0});
  EXPECT_NE(layer.cause, CauseClass::kActivations) << layer.finding.text;
  EXPECT_EQ(layer.figures.output.quantiser->clipped, 0U);
  EXPECT_GT(layer.figures.output.quantiser->at_high, 300U);
}

Weight weight(std::vector<int8_t> codes, Shape shape, std::vector<double> scale, std::optional<int> axis) {
  Weight w;
  w.name = "w";
  w.tensor = tensor_from_values(DType::kI8, std::move(shape), codes);
  w.quantisation = Quantisation{std::move(scale), {}, axis};
  return w;
}

TEST(ExplainWeights, ClosedForm) {
  const Weight stored = weight({100, 0, 0, 0}, {2, 2}, {1}, std::nullopt);
  Weight floating;
  floating.name = "w";
  floating.tensor = tensor_from_values(DType::kF32, {2, 2}, std::vector<float>{100, 0, 0.25F, 0.25F});
  const auto f = weight_figures(stored, &floating, 0);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->zero, 3U);
  EXPECT_EQ(f->error->lost, 2U);
  EXPECT_EQ(f->error->dead_channels, 1U);
  EXPECT_EQ(f->channels->dead, 1U);
  EXPECT_DOUBLE_EQ(f->error->sqnr_db, 10 * std::log10((10000 + 0.125) / 0.125));
  EXPECT_DOUBLE_EQ(*f->error->worst_channel_db, 0);
  EXPECT_EQ(f->error->worst_channel, 1);
  EXPECT_DOUBLE_EQ(f->channels->spread, 1);  // the median of two is the larger
}

LayerExplanation with_weights(double sqnr_db) {
  LayerExplanation layer;
  layer.figures.name = "conv";
  WeightFigures w;
  w.name = "w";
  w.type = "int8 per tensor";
  w.quantised = true;
  w.elements = 10;
  w.error.emplace();
  w.error->sqnr_db = sqnr_db;
  layer.figures.weights.push_back(w);
  decide(layer, 0);
  return layer;
}

TEST(ExplainDecide, WeightsBelowTheirThreshold) {
  EXPECT_EQ(with_weights(24.2).cause, CauseClass::kWeights);
  EXPECT_EQ(with_weights(40).cause, CauseClass::kCannotTell);  // the output was not compared
}

TEST(ExplainDecide, OneWideChannelDoesNotHideTheOthers) {
  LayerExplanation layer;
  layer.figures = with_weights(40).figures;
  layer.figures.weights[0].error->median_channel_db = 14;
  decide(layer, 0);
  EXPECT_EQ(layer.cause, CauseClass::kWeights);
  EXPECT_THAT(layer.finding.text, HasSubstr("the median channel at 14 dB"));
}

TEST(ExplainDecide, SaturatedBiasOnlyWhereTheOutputMoves) {
  LayerExplanation layer;
  WeightFigures b;
  b.bias = b.quantised = true;
  b.elements = 4;
  b.saturated = 1;
  b.error.emplace();
  b.error->sqnr_db = 10;
  b.bias_output_steps = 0.4;
  layer.figures.weights = {b};
  LayerExplanation moved = layer;
  decide(layer, 0);
  EXPECT_EQ(layer.cause, CauseClass::kCannotTell);
  moved.figures.weights[0].bias_output_steps = 3;
  decide(moved, 0);
  EXPECT_EQ(moved.finding.id, "explain-bias-saturated");
}

TEST(ExplainDecide, ActivationsGoBeforeWeights) {
  LayerExplanation layer = with_weights(20);
  LayerExplanation both;
  both.figures = layer.figures;
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i % 400));
  both.figures.output = value_of(values, through(kUnit, values), kUnit);
  decide(both, 1);
  EXPECT_EQ(both.cause, CauseClass::kActivations);
  ASSERT_EQ(both.also.size(), 1U);
  EXPECT_EQ(both.also[0].id, "explain-weights");
}

LayerExplanation kernels(double nmse, std::optional<double> steps, uint64_t input_differing) {
  LayerExplanation layer;
  LayerFigures& f = layer.figures;
  f.same_model = true;
  ValueFigures input;
  input.error = ErrorFigures{4, input_differing, 0, input_differing > 0 ? 1e-4 : 0, 0, {}};
  f.inputs.push_back(input);
  f.output.error = ErrorFigures{4, 2, 0, nmse, 1, steps};
  decide(layer, 1);
  return layer;
}

TEST(ExplainDecide, KernelsOfOneModel) {
  EXPECT_EQ(kernels(1e-3, 1.0, 0).cause, CauseClass::kOrder);
  EXPECT_EQ(kernels(1e-3, 2.0, 0).cause, CauseClass::kOperator);
  EXPECT_EQ(kernels(1e-12, {}, 0).cause, CauseClass::kOrder);
  EXPECT_EQ(kernels(1e-5, {}, 0).cause, CauseClass::kOperator);
  EXPECT_EQ(kernels(1e-3, 2.0, 1).cause, CauseClass::kCannotTell);  // inputs differ
  EXPECT_EQ(kernels(1.5e-4, 2.0, 1).finding.id, "explain-inherited");
}

TEST(ExplainDecide, ErrorOfTheInputsIsNotTheLayers) {
  LayerExplanation layer;
  ValueFigures input;
  input.error = ErrorFigures{4, 4, 0, 0.02, 1, {}};
  layer.figures.inputs.push_back(input);
  layer.figures.output.error = ErrorFigures{4, 4, 0, 0.03, 1, {}};
  LayerExplanation own = layer;
  decide(layer, 1);
  EXPECT_EQ(layer.cause, CauseClass::kNone);
  EXPECT_EQ(layer.finding.id, "explain-inherited");
  own.figures.inputs[0].error->nmse = 1e-5;
  decide(own, 1);
  EXPECT_EQ(own.cause, CauseClass::kCannotTell);
}

TEST(ExplainDecide, SharedScaleOfAConcat) {
  const TensorQuantiser q{DType::kU8, 640.0 / 255, 0};
  SharedCounter counter(q);
  std::vector<float> scores;
  for (int i = 0; i < 100; ++i) scores.push_back(static_cast<float>(i) / 100);
  ASSERT_TRUE(counter.add({floats(scores), {}}));
  LayerExplanation layer;
  layer.figures.output = value_of({0, 640}, {0, 640}, q);
  SharedScale s = counter.figures();
  EXPECT_EQ(s.levels_used, 1U);
  EXPECT_DOUBLE_EQ(s.nmse, 1);
  s.tensor = "scores";
  layer.figures.shared.push_back(s);
  decide(layer, 1);
  EXPECT_EQ(layer.finding.id, "explain-shared-scale");
  EXPECT_THAT(layer.finding.text, HasSubstr("scores uses 1 of 256 levels"));
  // An input of whole steps loses nothing by it.
  SharedCounter whole(q);
  ASSERT_TRUE(whole.add({floats({0, static_cast<float>(q.scale)}), {}}));
  LayerExplanation harmless;
  harmless.figures.output = layer.figures.output;
  harmless.figures.shared.push_back(whole.figures());
  decide(harmless, 1);
  EXPECT_NE(harmless.cause, CauseClass::kActivations);
}

TEST(ExplainLayout, TransposedDataUnderTheSameShape) {
  std::vector<double> reference, device(24);
  for (int i = 0; i < 24; ++i) reference.push_back(i * i % 37);
  // [2, 3, 4] stored in the order [2, 4, 3].
  for (size_t a = 0; a < 2; ++a)
    for (size_t b = 0; b < 3; ++b)
      for (size_t c = 0; c < 4; ++c) device[a * 12 + c * 3 + b] = reference[a * 12 + b * 4 + c];
  const LayoutFigures f = layout_of(reference, {2, 3, 4}, device, {2, 3, 4});
  EXPECT_EQ(f.state, LayoutState::kConvicted);
  EXPECT_EQ(f.permutation, (std::vector<int>{0, 2, 1}));
  EXPECT_TRUE(f.reread);
  EXPECT_EQ(f.best, 0);
}

TEST(ExplainLayout, RuledOutInPlaceAndByNoise) {
  std::vector<double> reference, noise;
  for (int i = 0; i < 24; ++i) {
    reference.push_back(i * i % 37);
    noise.push_back(i * 17 % 23);
  }
  EXPECT_EQ(layout_of(reference, {2, 3, 4}, reference, {2, 3, 4}).state, LayoutState::kRuledOut);
  EXPECT_EQ(layout_of(reference, {2, 3, 4}, noise, {2, 3, 4}).state, LayoutState::kRuledOut);
}

TEST(ExplainLayout, DeclaredOtherOrderIsNoFault) {
  std::vector<double> reference = {1, 2, 3, 4, 5, 6}, device = {1, 4, 2, 5, 3, 6};
  const LayoutFigures f = layout_of(reference, {2, 3}, device, {3, 2});
  EXPECT_EQ(f.state, LayoutState::kRuledOut);
  EXPECT_EQ(f.best, 0);
}

}  // namespace
}  // namespace paritas
