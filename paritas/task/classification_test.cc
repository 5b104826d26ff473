#include "paritas/task/classification.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Sample sample(Tensor tensor, const std::string& name = "y", const std::string& id = "sample-000000") {
  Sample s;
  s.id = id;
  s.tensors.emplace_back(name, std::move(tensor));
  return s;
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

// Rows of `classes` values.
Tensor rows(int64_t classes, const std::vector<float>& values) {
  return floats({static_cast<int64_t>(values.size()) / classes, classes}, values);
}

ClassificationSpec logits(int64_t k = 2) {
  ClassificationSpec spec;
  spec.output = "y";
  spec.k = k;
  return spec;
}

ClassificationSpec probabilities(int64_t k = 1) {
  ClassificationSpec spec = logits(k);
  spec.values = ClassValues::kProbabilities;
  return spec;
}

ClassificationResult check(const ClassificationSpec& spec, const Tensor& x, const Tensor& y,
                           const std::vector<int64_t>& labels = {}) {
  std::vector<ClassificationSample> samples;
  samples.push_back(classify_sample(spec, sample(x), {}, sample(y), {}, labels).value());
  return conclude_classification(spec, std::move(samples));
}

std::string error(const ClassificationSpec& spec, const Tensor& x, const std::vector<int64_t>& labels = {}) {
  auto result = classify_sample(spec, sample(x), {}, sample(x), {}, labels);
  return result ? "no error" : result.error().message();
}

double figure(const ClassificationResult& result, const std::string& name) {
  const TaskFigure* f = result.outcome.find(name);
  return f == nullptr ? std::nan("") : f->value;
}

Verdict absent(const ClassificationResult& result, const std::string& name) {
  const AbsentFigure* f = result.outcome.find_absent(name);
  return f == nullptr ? Verdict::kPass : f->verdict;
}

Verdict worst_issue(const ClassificationResult& result) {
  Verdict worst = Verdict::kPass;
  for (const TaskIssue& issue : result.outcome.issues) worst = worse(worst, issue.verdict);
  return worst;
}

TEST(Classification, ClosedFormOfTwoLogits) {
  // softmax(ln 3, 0, -inf) = (3/4, 1/4, 0); the device turns it round.
  const float ln3 = std::log(3.0F);
  const auto result = check(logits(1), rows(3, {ln3, 0, -kInf}), rows(3, {0, ln3, -kInf}));
  EXPECT_NEAR(figure(result, "max_probability_difference"), 0.5, 1e-7);
  EXPECT_NEAR(figure(result, "mean_probability_difference"), 1.0 / 3, 1e-7);
  EXPECT_NEAR(figure(result, "max_kl_divergence"), 0.5 * std::log(3.0), 1e-7);
  EXPECT_EQ(figure(result, "top1_agreement"), 0);
  EXPECT_NEAR(result.rows[0].reference.top[0].probability, 0.75, 1e-7);
  EXPECT_EQ(worst_issue(result), Verdict::kPass);
}

TEST(Classification, HugeLogitsDoNotOverflow) {
  const auto result = check(logits(1), rows(3, {1e30F, 2e30F, 0}), rows(3, {1e30F, 2e30F, 0}));
  EXPECT_EQ(figure(result, "top1_agreement"), 1);
  EXPECT_EQ(figure(result, "max_probability_difference"), 0);
  EXPECT_EQ(figure(result, "max_kl_divergence"), 0);
}

TEST(Classification, TiesAreStated) {
  // Reference: classes 0 and 2 share the first place; the device prefers 2.
  const auto result = check(logits(1), rows(4, {5, 1, 5, 0}), rows(4, {4, 1, 5, 0}));
  EXPECT_THAT(result.rows[0].reference.first, ElementsAre(0, 2));
  EXPECT_EQ(result.rows[0].top1, Agreement::kUndecided);
  EXPECT_EQ(figure(result, "top1_agreement"), 0);
  EXPECT_EQ(figure(result, "top1_undecided"), 1);
}

TEST(Classification, TheSameTieAgrees) {
  const auto result = check(logits(1), rows(4, {5, 1, 5, 0}), rows(4, {6, 1, 6, 0}));
  EXPECT_EQ(figure(result, "top1_agreement"), 1);
  EXPECT_EQ(figure(result, "top1_undecided"), 0);
}

TEST(Classification, SetAndOrderOfTheFirstK) {
  const auto swapped = check(logits(2), rows(4, {5, 4, 1, 0}), rows(4, {4, 5, 1, 0}));
  EXPECT_EQ(figure(swapped, "topk_agreement"), 1);
  EXPECT_EQ(figure(swapped, "topk_order_agreement"), 0);
  const auto other = check(logits(2), rows(4, {5, 4, 1, 0}), rows(4, {5, 1, 4, 0}));
  EXPECT_EQ(figure(other, "topk_agreement"), 0);
  EXPECT_EQ(figure(other, "top1_agreement"), 1);
}

TEST(Classification, AllClassesAreNoTopK) {
  const auto result = check(logits(3), rows(3, {1, 2, 3}), rows(3, {3, 2, 1}));
  EXPECT_EQ(absent(result, "topk_agreement"), Verdict::kNotJudged);
}

TEST(Classification, QuantisedLogitsAreDequantisedFirst) {
  ClassificationSpec spec = logits(1);
  const Tensor q = tensor_from_values<uint8_t>(DType::kU8, {1, 3}, {75, 91, 75});
  EXPECT_THAT(error(spec, q), HasSubstr("uint8 without scale and zero point"));
  spec.quantisation = Quantisation{{0.0625}, {75}, std::nullopt};
  const auto result = check(spec, q, q);
  const double e = std::exp(1.0);
  EXPECT_NEAR(result.rows[0].reference.top[0].probability, e / (e + 2), 1e-15);
}

TEST(Classification, TheRecordingsQuantisationGoesFirst) {
  ClassificationSpec spec = logits(1);
  spec.quantisation = Quantisation{{1000.0}, {0}, std::nullopt};
  RunInfo info;
  TensorInfo tensor;
  tensor.name = "y";
  tensor.quantisation = Quantisation{{0.5, 1, 2}, {0, 0, 0}, 1};
  info.tensors.push_back(tensor);
  const Sample s = sample(tensor_from_values<int8_t>(DType::kI8, {1, 3}, {2, 1, 0}));
  std::vector<ClassificationSample> samples;
  samples.push_back(classify_sample(spec, s, info, s, info, {}).value());
  const auto result = conclude_classification(spec, std::move(samples));
  EXPECT_THAT(result.rows[0].reference.first, ElementsAre(0, 1));  // 2 * 0.5 = 1 * 1
}

TEST(Classification, QuantisedProbabilitiesMayMissOne) {
  ClassificationSpec spec = probabilities();
  spec.quantisation = Quantisation{{1.0 / 256}, {-128}, std::nullopt};
  // 255/256 is the most that int8 can hold here; the rest is lost.
  const Tensor q = tensor_from_values<int8_t>(DType::kI8, {1, 4}, {127, -128, -128, -128});
  EXPECT_EQ(figure(check(spec, q, q), "top1_agreement"), 1);
}

TEST(Classification, WrongDeclarationsAreErrors) {
  EXPECT_THAT(error(probabilities(), rows(3, {2, 1, -1})), HasSubstr("declare values = \"logits\""));
  EXPECT_THAT(error(probabilities(), rows(3, {0.5F, 0.4F, 0.4F})), HasSubstr("does not hold probabilities"));
  EXPECT_THAT(error(logits(), rows(3, {0.5F, 0.25F, 0.25F})), HasSubstr("declare values = \"probabilities\""));
  EXPECT_EQ(error(logits(), rows(3, {0, 1, 0})), "no error");
  EXPECT_THAT(error(logits(), floats({1, 3, 1, 1}, {1, 2, 3})), HasSubstr("[1,3,1,1] has 1 class"));
  EXPECT_THAT(error(logits(), floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})), HasSubstr("no error"));
  ClassificationSpec dense = logits();
  dense.axis = 1;
  EXPECT_THAT(error(dense, floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})), HasSubstr("only dimensions of 1"));
  ClassificationSpec names = logits();
  names.class_names = {"cat"};
  EXPECT_THAT(error(names, rows(3, {1, 2, 3})), HasSubstr("1 class names are declared"));
  EXPECT_THAT(error(logits(), rows(3, {1, 2, 3}), {3}), HasSubstr("label 3 is not one of 3 classes"));
  EXPECT_THAT(error(logits(), rows(3, {1, 2, 3}), {1, 1}), HasSubstr("2 labels for 1 rows"));
}

TEST(Classification, ClassesAlongAnotherAxis) {
  ClassificationSpec spec = logits(1);
  spec.axis = 1;
  const auto x = floats({2, 3, 1, 1}, {1, 2, 3, 3, 2, 1});
  EXPECT_EQ(check(spec, x, x).judged, 2U);
}

TEST(Classification, AMissingOrMisshapedDeviceOutputDeviates) {
  const Sample x = sample(rows(3, {1, 2, 3}));
  for (const Sample& y : {sample(rows(3, {1, 2, 3}), "z"), sample(floats({3}, {1, 2, 3}))}) {
    std::vector<ClassificationSample> samples;
    samples.push_back(classify_sample(logits(), x, {}, y, {}, {}).value());
    const auto result = conclude_classification(logits(), std::move(samples));
    EXPECT_EQ(worst_issue(result), Verdict::kInvalid);  // nothing was compared
    EXPECT_EQ(result.outcome.issues[0].verdict, Verdict::kDeviates);
    EXPECT_EQ(absent(result, "top1_agreement"), Verdict::kInvalid);
  }
}

TEST(Classification, NanIsNeverAPass) {
  const auto x = rows(3, {1, 2, 3, 3, 2, 1});
  const auto device = check(logits(1), x, rows(3, {1, 2, 3, 3, kNan, 1}));
  EXPECT_EQ(worst_issue(device), Verdict::kDeviates);
  EXPECT_EQ(absent(device, "max_probability_difference"), Verdict::kDeviates);
  EXPECT_EQ(figure(device, "top1_agreement"), 0.5);
  const auto both = check(logits(1), rows(3, {1, kNan, 3}), rows(3, {1, kNan, 3}));
  EXPECT_EQ(worst_issue(both), Verdict::kInvalid);
  EXPECT_EQ(absent(both, "top1_agreement"), Verdict::kInvalid);
  const auto infinite = check(logits(1), x, rows(3, {1, 2, kInf, 3, 2, 1}));
  EXPECT_EQ(worst_issue(infinite), Verdict::kDeviates);
  const auto masked = check(logits(1), x, rows(3, {-kInf, 2, 3, 3, 2, 1}));
  EXPECT_EQ(worst_issue(masked), Verdict::kDeviates);
}

TEST(Classification, DeadOutputsProveNothing) {
  const auto zero = rows(3, {0, 0, 0});
  const auto both = check(logits(1), zero, zero);
  EXPECT_EQ(worst_issue(both), Verdict::kNotJudged);
  EXPECT_EQ(absent(both, "top1_agreement"), Verdict::kNotJudged);
  EXPECT_EQ(absent(both, "max_probability_difference"), Verdict::kNotJudged);
  const auto device = check(logits(1), rows(3, {1, 2, 3}), zero, {2});
  EXPECT_EQ(worst_issue(device), Verdict::kDeviates);
  EXPECT_EQ(figure(device, "top1_agreement"), 0);
  EXPECT_EQ(figure(device, "device_accuracy"), 0);
  // Even where the class that argmax picks from nothing is the label.
  EXPECT_EQ(figure(check(logits(1), rows(3, {3, 2, 1}), zero, {0}), "device_accuracy"), 0);
}

TEST(Classification, AStaleBufferDeviates) {
  const auto result = check(logits(1), rows(3, {1, 2, 9, 1, 2, 6}), rows(3, {1, 2, 9, 1, 2, 9}));
  EXPECT_EQ(figure(result, "top1_agreement"), 1);  // the agreement alone would not tell
  EXPECT_EQ(worst_issue(result), Verdict::kPass);  // first probability moved by 0.023 only
  const auto moving = check(logits(1), rows(3, {1, 2, 9, 1, 2, 3}), rows(3, {1, 2, 9, 1, 2, 9}));
  EXPECT_EQ(worst_issue(moving), Verdict::kDeviates);
  EXPECT_THAT(moving.outcome.issues[0].text, HasSubstr("stale buffer"));
}

TEST(Classification, AccuracyAndItsDrop) {
  std::vector<float> x, y;
  std::vector<int64_t> labels;
  for (int i = 0; i < 100; ++i) {
    const int label = i % 4;
    labels.push_back(label);
    for (int c = 0; c < 4; ++c) {
      x.push_back(c == label ? 5 : 0);
      y.push_back(c == (i < 10 ? (label + 1) % 4 : label) ? 5 : 0);
    }
  }
  const auto result = check(logits(1), rows(4, x), rows(4, y), labels);
  EXPECT_EQ(figure(result, "reference_accuracy"), 1);
  EXPECT_EQ(figure(result, "device_accuracy"), 0.9);
  EXPECT_DOUBLE_EQ(figure(result, "accuracy_drop"), 0.1);
  EXPECT_EQ(result.lost, 10U);
  EXPECT_NEAR(result.device_accuracy->interval.low, 0.8256, 1e-4);  // Wilson, 90 of 100
  EXPECT_NEAR(result.device_accuracy->interval.high, 0.9448, 1e-4);
  EXPECT_GT(figure(result, "accuracy_drop_high"), 0.1);
}

TEST(Classification, LabelsThatFitNothingGiveNoDrop) {
  std::vector<float> x;
  std::vector<int64_t> labels;
  for (int i = 0; i < 40; ++i) {
    labels.push_back((i + 1) % 4);  // off by one everywhere
    for (int c = 0; c < 4; ++c) x.push_back(c == i % 4 ? 5 : 0);
  }
  const auto result = check(logits(1), rows(4, x), rows(4, x), labels);
  EXPECT_EQ(figure(result, "reference_accuracy"), 0);
  EXPECT_EQ(absent(result, "accuracy_drop"), Verdict::kNotJudged);
}

TEST(Classification, TiesCountAgainstTheDevice) {
  const auto x = rows(4, {5, 5, 0, 0});
  const auto lost = check(logits(1), x, rows(4, {4, 5, 0, 0}), {0});
  EXPECT_EQ(lost.lost, 1U);
  const auto same = check(logits(1), x, x, {0});
  EXPECT_EQ(same.lost, 0U);
  EXPECT_EQ(same.reference_accuracy->tied, 1U);
}

TEST(Classification, ShardsMergeToTheSameBits) {
  const auto x = rows(3, {1, 2, 3, 3, 2, 1.1F, 0, 1, 0.3F}), y = rows(3, {1, 2, 3.3F, 3, 2, 1, 0.7F, 1, 0});
  const auto whole = check(logits(1), x, y);
  std::vector<ClassificationSample> parts;
  for (size_t i = 0; i < whole.rows.size(); ++i) parts.push_back({{whole.rows[i]}, {}});
  const auto merged = conclude_classification(logits(1), std::move(parts));
  EXPECT_EQ(dump_json(to_json(merged.outcome)), dump_json(to_json(whole.outcome)));
}

TEST(Classification, JsonHoldsRowsAndNames) {
  ClassificationSpec spec = logits(1);
  spec.class_names = {"a", "b", "c"};
  const Json json = to_json(check(spec, rows(3, {1, 2, 3}), rows(3, {1, 2, kNan})));
  EXPECT_EQ(json["rows"][0]["reference"]["top"][0]["name"], "c");
  EXPECT_EQ(json["rows"][0]["device"]["fault"], "nonfinite");
  EXPECT_EQ(json["outcome"]["issues"][0]["verdict"], "deviates");
}

TEST(ClassificationSpec, IsReadFromJson) {
  const Json json = Json::parse(R"({"type": "classification", "name": "top", "output": "logits", "values": "logits",
      "k": 3, "class_names": ["a", "b"], "quantisation": {"scale": 0.5, "zero_point": 3}})");
  const auto spec = classification_from_json(json, "p.toml, task 1").value();
  EXPECT_EQ(spec.k, 3);
  EXPECT_THAT(spec.quantisation->zero_point, ElementsAre(3));
}

TEST(ClassificationSpec, RefusesWhatItDoesNotKnow) {
  auto message = [](const char* text) {
    auto spec = classification_from_json(Json::parse(text), "p.toml, task 1");
    return spec ? "accepted" : spec.error().message();
  };
  EXPECT_THAT(message(R"({"output": "y", "values": "logits", "topk": 3})"), HasSubstr("unknown key \"topk\""));
  EXPECT_THAT(message(R"({"output": "y"})"), HasSubstr("\"values\" is missing"));
  EXPECT_THAT(message(R"({"values": "logits"})"), HasSubstr("\"output\" is missing"));
  EXPECT_THAT(message(R"({"output": "y", "values": "scores"})"), HasSubstr("use one of: logits, probabilities"));
  EXPECT_THAT(message(R"({"output": "y", "values": "logits", "k": 0})"), HasSubstr("at least 1"));
  EXPECT_THAT(message(R"({"output": "y", "values": "logits", "k": 1.5})"), HasSubstr("whole number"));
  EXPECT_THAT(message(R"({"type": "detection", "output": "y", "values": "logits"})"), HasSubstr("not the type"));
  EXPECT_THAT(message(R"([1])"), HasSubstr("table of keys"));
}

TEST(Labels, AreReadFromTextAndNpy) {
  const TestFolder folder;
  EXPECT_THAT(read_labels(folder.write("l.txt", "# ids\n3\r\n\n 7 \n")).value(), ElementsAre(3, 7));
  EXPECT_THAT(read_labels(folder.write("bad.txt", "3\ncat\n")).error().message(), HasSubstr("line 2"));
  EXPECT_THAT(read_labels(folder.write("empty.txt", "\n")).error().message(), HasSubstr("no label"));
  ASSERT_TRUE(write_npy(folder.path() / "l.npy", tensor_from_values<int64_t>(DType::kI64, {2}, {1, 2}), false));
  EXPECT_THAT(read_labels(folder.path() / "l.npy").value(), ElementsAre(1, 2));
  ASSERT_TRUE(write_npy(folder.path() / "f.npy", floats({1}, {1}), false));
  EXPECT_THAT(read_labels(folder.path() / "f.npy").error().message(), HasSubstr("integers"));
}

}  // namespace
}  // namespace paritas
