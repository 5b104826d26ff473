#include "paritas/runtime/sim/simulate.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "paritas/onnx/edit.h"
#include "paritas/runtime/test_support.h"
#include "paritas/tensor/float_formats.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using runtime_test::values_of;
using ::testing::HasSubstr;

constexpr int kFloat = 1;

class Simulate : public runtime_test::WorkerTest {
 protected:
  Result<RunReply> run(const onnx_model::Model& model, const std::vector<std::pair<std::string, Tensor>>& inputs,
                       const std::vector<std::pair<std::string, Tensor>>& perturb = {}) {
    PARITAS_ASSIGN(const auto saved, model.save(folder(), "edited"));
    PARITAS_ASSIGN(auto worker, Worker::start(options()));
    PARITAS_ASSIGN(const SessionInfo session, worker->open({saved.model, {}, target("cpu"), {}, false}));
    return worker->run({session.id, inputs, {}, 0, perturb});
  }

  static int count_of(const ::onnx::GraphProto& graph, const std::string& op) {
    return static_cast<int>(std::count_if(graph.node().begin(), graph.node().end(),
                                          [&](const auto& node) { return node.op_type() == op; }));
  }

  static void add_initializer(::onnx::GraphProto& graph, const std::string& name, const std::vector<float>& values) {
    auto* tensor = graph.add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(kFloat);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    for (float value : values) tensor->add_float_data(value);
  }

  // y = x * w + c, where w has 1,000 elements (a large weight) and c is a Constant.
  Path weighted() const {
    TinyModel model;
    model.input("x", kFloat, {1000}).output("y");
    add_initializer(model.graph(), "w", std::vector<float>(1000, 0.1f));
    auto& constant = model.node("Constant", "", {}, {"c"});
    auto* attribute = constant.add_attribute();
    attribute->set_name("value");
    attribute->set_type(::onnx::AttributeProto::TENSOR);
    attribute->mutable_t()->set_data_type(kFloat);
    attribute->mutable_t()->add_dims(1);
    attribute->mutable_t()->add_float_data(1e-9f);
    model.node("Mul", "", {"x", "w"}, {"p"});
    model.node("Add", "", {"p", "c"}, {"y"});
    return model.save(folder());
  }
};

TEST_F(Simulate, ConstantsAreRoundedAndStayConstants) {
  const Path path = weighted();
  auto model = onnx_model::Model::load(path);
  ASSERT_TRUE(model.has_value()) << model.error().message();
  for (const Path& scratch : {Path(), folder()}) {
    auto simulated = simulate(*model, {DType::kF16, Overflow::kInfinity}, scratch);
    ASSERT_TRUE(simulated.has_value()) << simulated.error().message();
    EXPECT_EQ(count_of(simulated->graph(), "Round"), 3);  // behind x, p and y
    EXPECT_EQ(count_of(simulated->graph(), "Constant"), 1);
    ASSERT_EQ(simulated->graph().initializer_size(), 1);
    EXPECT_EQ(simulated->graph().initializer(0).name(), "w");
    auto w = simulated->tensor(simulated->graph().initializer(0));
    ASSERT_TRUE(w.has_value());
    EXPECT_EQ(values_of<float>(*w), std::vector<float>(1000, round_to_format(0.1f, DType::kF16)));
    EXPECT_EQ(w->bytes.file() != nullptr, !scratch.empty());
    std::vector<float> x(1000, 0.3f);
    x[1] = 1e6f;
    auto reply = run(*simulated, {{"x", tensor_from_values(DType::kF32, {1000}, x)}});
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    const auto y = values_of<float>(reply->outputs[0].second);
    auto half = [](float value) { return round_to_format(value, DType::kF16); };
    EXPECT_EQ(y[0], half(half(half(0.3f) * half(0.1f)) + 0.0f));
    EXPECT_TRUE(std::isinf(y[1]));
  }
  auto original = model->tensor(model->graph().initializer(0));
  ASSERT_TRUE(original.has_value());
  EXPECT_EQ(values_of<float>(*original)[0], 0.1f) << "the given model must not change";
}

TEST_F(Simulate, PerturbableTensorsMustBeNodeOutputs) {
  auto model = onnx_model::Model::load(weighted());
  ASSERT_TRUE(model.has_value());
  auto wrong = make_perturbable(*model, {"p", "w"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message(), HasSubstr("1 of the 2 tensors to perturb are not outputs of nodes"));
  auto edited = make_perturbable(*model, {"p", "y"});
  ASSERT_TRUE(edited.has_value()) << edited.error().message();
  EXPECT_EQ(count_of(edited->graph(), "Perturb"), 2);
  const Tensor x = tensor_from_values(DType::kF32, {1000}, std::vector<float>(1000, 1.0f));
  const Tensor sevens = tensor_from_values(DType::kF32, {1000}, std::vector<float>(1000, 7.0f));
  auto plain = run(*edited, {{"x", x}});
  ASSERT_TRUE(plain.has_value()) << plain.error().message();
  EXPECT_EQ(values_of<float>(plain->outputs[0].second)[5], 0.1f);
  auto injected = run(*edited, {{"x", x}}, {{"p", sevens}});
  ASSERT_TRUE(injected.has_value()) << injected.error().message();
  EXPECT_EQ(values_of<float>(injected->outputs[0].second)[5], 7.0f);
}

// Known figures of the whole path on the detector of the examples: edit, worker, run.
TEST_F(Simulate, TheDetectorGivesTheKnownScores) {
  const Path models = runtime_test::models() / "detr-mini";
  if (!std::filesystem::exists(models)) GTEST_SKIP() << models << " is absent (PARITAS_TEST_MODELS)";
  std::vector<std::pair<std::string, Tensor>> inputs;
  for (const char* input : {"images", "orig_target_sizes"}) {
    auto tensor = read_npy(models / (std::string(input) + ".npy"));
    ASSERT_TRUE(tensor.has_value()) << tensor.error().message();
    inputs.emplace_back(input, *tensor);
  }
  struct Case {
    const char* model;
    const char* target;
    double score;
  };
  for (const Case& known : {Case{"detr_mini_fragile", "cpu", 0.9620},
                            {"detr_mini_fragile", "sim:fp16", 0.10016},
                            {"detr_mini_fragile", "sim:fp16,overflow=saturate", 0.1128},
                            {"detr_mini", "sim:fp16", 0.9624},
                            {"detr_mini", "sim:bf16", 0.957}}) {
    auto model = onnx_model::Model::load(models / (std::string(known.model) + ".onnx"));
    ASSERT_TRUE(model.has_value()) << model.error().message();
    const Target resolved = target(known.target);
    if (resolved.simulate) {
      auto simulated = simulate(*model, *resolved.simulate, folder());
      ASSERT_TRUE(simulated.has_value()) << simulated.error().message();
      model = std::move(simulated);
    }
    auto reply = run(*model, inputs);
    ASSERT_TRUE(reply.has_value()) << reply.error().message() << reply.error().details;
    bool found = false;
    for (const auto& [label, tensor] : reply->outputs) {
      if (label != "scores") continue;
      const auto scores = values_of<float>(tensor);
      EXPECT_NEAR(*std::max_element(scores.begin(), scores.end()), known.score, 0.0001) << known.model << known.target;
      found = true;
    }
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace paritas
