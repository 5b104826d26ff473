#include "paritas/runtime/sim/simulate_integers.h"

#include <cmath>

#include <gmock/gmock.h>

#include "paritas/base/sha256.h"
#include "paritas/runtime/sim/operators.h"
#include "paritas/runtime/sim/simulate.h"
#include "paritas/runtime/test_support.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using runtime_test::values_of;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kFloat = 1;

class SimulateIntegers : public runtime_test::WorkerTest {
 protected:
  static void add_initializer(::onnx::GraphProto& graph, const std::string& name, const std::vector<int64_t>& dims,
                              const std::vector<float>& values) {
    auto* tensor = graph.add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(kFloat);
    for (const int64_t dim : dims) tensor->add_dims(dim);
    for (const float value : values) tensor->add_float_data(value);
  }

  onnx_model::Model load(const TinyModel& tiny) {
    auto model = onnx_model::Model::load(tiny.save(folder()));
    EXPECT_TRUE(model.has_value()) << model.error().message();
    integers_.model_sha256 = *sha256_of_file(model->path());
    return std::move(*model);
  }

  void range(const std::string& tensor, float min, float max, DType dtype = DType::kF32) {
    integers_.ranges[tensor] = {dtype, min, max, ""};
  }

  Result<onnx_model::Model> simulated(const TinyModel& tiny) { return sim::simulate_integers(load(tiny), integers_); }

  std::string failure(const TinyModel& tiny) {
    const auto made = simulated(tiny);
    EXPECT_FALSE(made.has_value());
    return made ? "" : made.error().message();
  }

  // Values of an initialiser that one operand of a node reads.
  static std::vector<float> operand(const onnx_model::Model& model, const std::string& op, int input) {
    for (const auto& node : model.graph().node())
      if (node.op_type() == op)
        for (const auto& tensor : model.graph().initializer())
          if (tensor.name() == node.input(input)) {
            auto value = model.tensor(tensor);
            EXPECT_TRUE(value.has_value());
            return values_of<float>(*value);
          }
    ADD_FAILURE() << op << " reads no initialiser";
    return {};
  }

  // Tensors that a FakeQuantise stands behind, "x" for the input x.
  static std::vector<std::string> rounded(const onnx_model::Model& model) {
    std::vector<std::string> names;
    for (const auto& node : model.graph().node()) {
      if (node.op_type() != sim::kFakeQuantise) continue;
      const std::string& from = node.input(0);
      names.push_back(from.find("__paritas_raw") == std::string::npos ? from : node.output(0));
    }
    return names;
  }

  // y = relu(x . w + b): channels of w are its columns.
  static TinyModel linear() {
    TinyModel tiny;
    tiny.input("x", kFloat, {1, 2}).output("y");
    add_initializer(tiny.graph(), "w", {2, 2}, {1.27f, 0.0127f, 0.504f, -0.006f});
    add_initializer(tiny.graph(), "b", {2}, {0.123456f, 0});
    tiny.node("Gemm", "", {"x", "w", "b"}, {"g"});
    tiny.node("Relu", "", {"g"}, {"y"});
    return tiny;
  }

  sim::Integers integers_;
};

TEST_F(SimulateIntegers, EachOutputChannelHasItsOwnScale) {
  range("x", -1, 1);
  range("y", 0, 2);
  const auto channels = simulated(linear());
  ASSERT_TRUE(channels.has_value()) << channels.error().message();
  // Columns: steps 0.01 and 0.0001.
  EXPECT_THAT(operand(*channels, "Gemm", 1),
              ::testing::Pointwise(::testing::FloatEq(), std::vector<float>{1.27f, 0.0127f, 0.5f, -0.006f}));
  integers_.per_channel = false;
  const auto whole = simulated(linear());
  ASSERT_TRUE(whole.has_value()) << whole.error().message();
  EXPECT_THAT(operand(*whole, "Gemm", 1),
              ::testing::Pointwise(::testing::FloatEq(), std::vector<float>{1.27f, 0.01f, 0.5f, -0.01f}));
  EXPECT_EQ(operand(*whole, "Gemm", 2)[0], 0.123456f);  // the bias stays
}

TEST_F(SimulateIntegers, TheAxisOfChannelsFollowsTheOperator) {
  // Two channels, one a hundred times the other, along each operator's own axis: values are codes of their channel, so
  // that the right axis leaves them as they are and any other does not.
  const std::vector<float> rows = {1.27f, 0.5f, 0.0127f, 0.0050f}, columns = {1.27f, 0.0127f, 0.5f, 0.0050f};
  struct Case {
    std::string op;
    std::vector<int64_t> input, weights;
    bool by_rows;
    bool transposed;
  };
  for (const Case& each :
       {Case{"Conv", {1, 2, 1, 1}, {2, 2, 1, 1}, true, false},
        Case{"ConvTranspose", {1, 2, 1, 1}, {2, 2, 1, 1}, false, false}, Case{"MatMul", {1, 2}, {2, 2}, false, false},
        Case{"Gemm", {1, 2}, {2, 2}, false, false}, Case{"Gemm", {1, 2}, {2, 2}, true, true}}) {
    TinyModel tiny;
    tiny.input("x", kFloat, each.input).output("y");
    const auto& weights = each.by_rows ? rows : columns;
    add_initializer(tiny.graph(), "w", each.weights, weights);
    auto& node = tiny.node(each.op, "", {"x", "w"}, {"y"});
    if (each.transposed) {
      auto* attribute = node.add_attribute();
      attribute->set_name("transB");
      attribute->set_type(::onnx::AttributeProto::INT);
      attribute->set_i(1);
    }
    range("x", -1, 1);
    range("y", -1, 1);
    const auto made = simulated(tiny);
    ASSERT_TRUE(made.has_value()) << made.error().message();
    EXPECT_THAT(operand(*made, each.op, 1), ::testing::Pointwise(::testing::FloatEq(), weights)) << each.op;
  }
}

TEST_F(SimulateIntegers, WhatAClampReadsIsNotStoredAndWhatMovesIsNotRoundedAgain) {
  TinyModel tiny;
  tiny.input("x", kFloat, {1, 2}).output("y").output("z");
  add_initializer(tiny.graph(), "w", {2, 2}, {1, 0, 0, 1});
  tiny.node("Gemm", "", {"x", "w"}, {"g"});
  tiny.node("Relu", "", {"g"}, {"r"});
  tiny.node("Flatten", "", {"r"}, {"y"});
  tiny.node("Sigmoid", "", {"r"}, {"z"});
  for (const char* name : {"x", "r", "z"}) range(name, -1, 1);  // g and y need none
  const auto made = simulated(tiny);
  ASSERT_TRUE(made.has_value()) << made.error().message();
  EXPECT_THAT(rounded(*made), ::testing::UnorderedElementsAre("x", "r", "z"));
}

TEST_F(SimulateIntegers, AResultWithAnotherReaderIsStored) {
  TinyModel tiny;
  tiny.input("x", kFloat, {1, 2}).output("y").output("z");
  add_initializer(tiny.graph(), "w", {2, 2}, {1, 0, 0, 1});
  tiny.node("Gemm", "", {"x", "w"}, {"g"});
  tiny.node("Relu", "", {"g"}, {"y"});
  tiny.node("Neg", "", {"g"}, {"z"});
  for (const char* name : {"x", "y", "z", "g"}) range(name, -1, 1);
  const auto made = simulated(tiny);
  ASSERT_TRUE(made.has_value()) << made.error().message();
  EXPECT_THAT(rounded(*made), ::testing::UnorderedElementsAre("x", "g", "y", "z"));
}

TEST_F(SimulateIntegers, RunsOnTheGridOfTheRange) {
  range("x", -1.28f, 1.27f);
  range("y", 0, 2.55f);
  const auto made = simulated(linear());
  ASSERT_TRUE(made.has_value()) << made.error().message();
  auto saved = made->save(folder(), "edited");
  ASSERT_TRUE(saved.has_value());
  auto worker = start();
  auto session = worker->open({saved->model, {}, target("cpu"), {}, false});
  ASSERT_TRUE(session.has_value()) << session.error().message();
  // 0.503 becomes 0.5, 5 saturates at 1.27; 1.27 * 1.27 + 0.5 * 0.5 + 0.123456 = 1.986356, of which 1.99 is stored.
  auto reply = worker->run(
      {session->id, {{"x", tensor_from_values(DType::kF32, {1, 2}, std::vector<float>{5, 0.503f})}}, {}, 0, {}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_NEAR(values_of<float>(reply->outputs[0].second)[0], 1.99f, 1e-6);
}

TEST_F(SimulateIntegers, ATensorWithoutARangeIsNamed) {
  range("x", -1, 1);
  EXPECT_THAT(failure(linear()), HasSubstr("has no range for \"y\" (output of Relu \"y_node\")"));
  integers_.in_float = {"y"};
  const auto declared = simulated(linear());
  ASSERT_TRUE(declared.has_value()) << declared.error().message();
  EXPECT_THAT(rounded(*declared), ::testing::ElementsAre("x"));
}

TEST_F(SimulateIntegers, WhatHasNoScaleIsRefused) {
  range("x", -1, 1);
  integers_.ranges["y"] = {DType::kF32, 0, 1, "sample-000003"};
  EXPECT_THAT(failure(linear()), HasSubstr("NaN or an infinity in sample-000003"));
  range("y", 0, 1, DType::kF16);
  EXPECT_THAT(failure(linear()), HasSubstr("\"y\" (output of Relu \"y_node\") is float16"));
  TinyModel infinite;
  infinite.input("x", kFloat, {1, 1}).output("y");
  add_initializer(infinite.graph(), "w", {1, 1}, {INFINITY});
  infinite.node("MatMul", "", {"x", "w"}, {"y"});
  EXPECT_THAT(failure(infinite), HasSubstr("\"w\", weights of MatMul \"y_node\", hold a NaN"));
}

TEST_F(SimulateIntegers, OtherModelsAndOtherNetworksAreRefused) {
  const auto model = load(linear());
  integers_.model_sha256 = "0123";
  const auto other = sim::simulate_integers(model, integers_);
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message(), HasSubstr("another model"));

  TinyModel computed;
  computed.input("x", kFloat, {1, 1}).output("y");
  add_initializer(computed.graph(), "v", {1, 1}, {1});
  computed.node("Neg", "", {"v"}, {"w"});
  computed.node("MatMul", "", {"x", "w"}, {"y"});
  range("x", -1, 1);
  range("y", -1, 1);
  EXPECT_THAT(failure(computed), HasSubstr("are computed in the graph"));

  TinyModel quantised;
  quantised.input("x", kFloat, {1}).output("y");
  add_initializer(quantised.graph(), "s", {}, {1});
  quantised.node("QuantizeLinear", "", {"x", "s"}, {"q"});
  quantised.node("DequantizeLinear", "", {"q", "s"}, {"y"});
  EXPECT_THAT(failure(quantised), HasSubstr("is quantised already"));
}

TEST_F(SimulateIntegers, PartsCannotBeExact) {
  SimulatedFormat format;
  format.integers = std::make_shared<sim::Integers>(integers_);
  const auto made = simulate(load(linear()), format, {}, {"g"});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message(), HasSubstr("cannot be left exact"));
}

}  // namespace
}  // namespace paritas
