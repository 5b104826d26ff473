#include "paritas/runtime/sim/operators.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "paritas/runtime/sim/simulate.h"
#include "paritas/runtime/test_support.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using runtime_test::values_of;
using ::testing::HasSubstr;

class Operators : public runtime_test::WorkerTest {
 protected:
  // Runs `model` on the CPU with the given inputs.
  Result<RunReply> run(const TinyModel& model, const std::vector<std::pair<std::string, Tensor>>& inputs,
                       const std::vector<std::pair<std::string, Tensor>>& perturb = {}) {
    if (worker_ == nullptr) worker_ = start();
    PARITAS_ASSIGN(session_, worker_->open({model.save(folder()), {}, target("cpu"), {}, false}));
    return worker_->run({session_.id, inputs, {}, 0, perturb});
  }
  void TearDown() override {
    worker_.reset();
    WorkerTest::TearDown();
  }
  std::unique_ptr<Worker> worker_;
  SessionInfo session_;
};

TEST_F(Operators, RoundsToTheFormatWithBothOverflows) {
  TinyModel model;
  model.input("x", onnx_code(DType::kF32), {-1}).output("half").output("full").output("brain");
  model.round(model.graph(), "x", "half", "float16");
  model.round(model.graph(), "x", "full", "float16", "saturate");
  model.round(model.graph(), "x", "brain", "bfloat16");
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.1f, -70000.0f, 65519.0f, 1e-9f, inf, 3e38f};
  auto reply = run(model, {{"x", tensor_from_values(DType::kF32, {6}, x)}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(values_of<float>(reply->outputs[0].second),
            (std::vector<float>{0.0999755859375f, -inf, 65504.0f, 0.0f, inf, inf}));
  EXPECT_EQ(values_of<float>(reply->outputs[1].second),
            (std::vector<float>{0.0999755859375f, -65504.0f, 65504.0f, 0.0f, 65504.0f, 65504.0f}));
  EXPECT_EQ(values_of<float>(reply->outputs[2].second)[0], round_to_format(0.1f, DType::kBF16));
  EXPECT_EQ(values_of<float>(reply->outputs[2].second)[5], round_to_format(3e38f, DType::kBF16));
}

TEST_F(Operators, EveryTypePassesAndKeepsItsTypeAndShape) {
  for (int code = 0; code < kDTypeCount; ++code) {
    const auto dtype = static_cast<DType>(code);
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}}) {
      TinyModel model;
      model.input("x", onnx_code(dtype), shape).output("y").output("p");
      model.round(model.graph(), "x", "y", "float16");
      TinyModel::set_text(model.node("Perturb", "paritas.ops", {"y"}, {"p"}), "key", "k");
      const uint64_t count = *element_count(shape);
      std::vector<std::byte> bytes(byte_size(dtype, count));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : 0);
      const Tensor x{dtype, shape, Bytes::in_memory(bytes)};
      auto reply = run(model, {{"x", x}});
      ASSERT_TRUE(reply.has_value()) << name(dtype) << to_string(shape) << ": " << reply.error().message();
      for (const auto& [label, tensor] : reply->outputs) {
        EXPECT_EQ(tensor.dtype, dtype) << label;
        EXPECT_EQ(tensor.shape, shape) << name(dtype);
        EXPECT_EQ(values_of<std::byte>(tensor), bytes) << name(dtype);
      }
      EXPECT_EQ(session_.outputs[0].dtype, dtype) << "inference must carry the type";
    }
  }
}

TEST_F(Operators, RoundsNarrowAndWideFloats) {
  TinyModel model;
  model.input("d", onnx_code(DType::kF64), {2})
      .input("h", onnx_code(DType::kF16), {2})
      .input("b", onnx_code(DType::kBF16), {2});
  model.output("d2").output("h2").output("b2");
  model.round(model.graph(), "d", "d2", "float16");
  model.round(model.graph(), "h", "h2", "bfloat16");
  model.round(model.graph(), "b", "b2", "float16");
  // 1 + 2^-11 + 2^-40 lies just above the tie between 1 and 1 + 2^-10: rounding by way of float would lose that.
  const double tie = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  auto reply = run(model, {{"d", tensor_from_values<double>(DType::kF64, {2}, {tie, -1e6})},
                           {"h", tensor_from_values<uint16_t>(DType::kF16, {2}, {f16_from_float(1.001f), 0x7bff})},
                           {"b", tensor_from_values<uint16_t>(DType::kBF16, {2}, {bf16_from_float(1e6f), 0x3f80})}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(values_of<double>(reply->outputs[0].second)[0], 1.0 + std::ldexp(1.0, -10));
  EXPECT_EQ(values_of<double>(reply->outputs[0].second)[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(values_of<uint16_t>(reply->outputs[1].second)[0], f16_from_float(1.0f));
  EXPECT_EQ(values_of<uint16_t>(reply->outputs[2].second), (std::vector<uint16_t>{0x7f80, 0x3f80}));
}

TEST_F(Operators, WorksInsideBodiesWhoseTypesNobodyDeclares) {
  TinyModel model;
  model.input("c", onnx_code(DType::kBool), {}).input("x", onnx_code(DType::kF32), {2}).output("y");
  auto& choice = model.node("If", "", {"c"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto* attribute = choice.add_attribute();
    attribute->set_name(branch);
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    auto& body = *attribute->mutable_g();
    body.set_name(branch);
    const std::string prefix = branch;
    TinyModel::add_node(body, prefix == "then_branch" ? "Add" : "Mul", "", {"x", "x"}, {prefix + "_raw"});
    model.round(body, prefix + "_raw", prefix + "_out", "float16");
    TinyModel::add_node(body, "Shape", "", {prefix + "_out"}, {prefix + "_shape_raw"});
    model.round(body, prefix + "_shape_raw", prefix + "_shape", "float16");  // an integer in between
    TinyModel::add_node(body, "Reshape", "", {prefix + "_out", prefix + "_shape"}, {prefix + "_result"});
    body.add_output()->set_name(prefix + "_result");
  }
  for (const bool condition : {true, false}) {
    auto reply = run(model, {{"c", tensor_from_values<uint8_t>(DType::kBool, {}, {condition})},
                             {"x", tensor_from_values<float>(DType::kF32, {2}, {0.1f, 300.0f})}});
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    const auto y = values_of<float>(reply->outputs[0].second);
    EXPECT_EQ(y[0], round_to_format(condition ? 0.1f + 0.1f : 0.1f * 0.1f, DType::kF16));
    EXPECT_EQ(y[1], condition ? 600.0f : std::numeric_limits<float>::infinity());
  }
}

TEST_F(Operators, UnknownFormatsFailWhenTheSessionOpens) {
  for (const auto& [format, overflow] : {std::pair{"float12", "inf"}, {"int8", "inf"}, {"float16", "wrap"}}) {
    TinyModel model;
    model.input("x", onnx_code(DType::kF32), {1}).output("y");
    model.round(model.graph(), "x", "y", format, overflow);
    auto reply = run(model, {{"x", tensor_from_values<float>(DType::kF32, {1}, {1})}});
    ASSERT_FALSE(reply.has_value()) << format;
    EXPECT_THAT(reply.error().message() + reply.error().details, HasSubstr("unknown"));
  }
}

TEST_F(Operators, PerturbReplacesOnlyWhatTheRunNames) {
  TinyModel model;
  model.input("x", onnx_code(DType::kF32), {2}).output("y");
  TinyModel::set_text(model.node("Perturb", "paritas.ops", {"x"}, {"p"}), "key", "first");
  model.node("Add", "", {"p", "p"}, {"s"});
  TinyModel::set_text(model.node("Perturb", "paritas.ops", {"s"}, {"y"}), "key", "second");
  const Tensor x = tensor_from_values<float>(DType::kF32, {2}, {1, 2});
  const Tensor other = tensor_from_values<float>(DType::kF32, {2}, {10, 20});
  using Perturb = std::vector<std::pair<std::string, Tensor>>;
  auto result = [&](const Perturb& perturb) {
    auto reply = run(model, {{"x", x}}, perturb);
    EXPECT_TRUE(reply.has_value()) << reply.error().message();
    return reply ? values_of<float>(reply->outputs[0].second) : std::vector<float>{};
  };
  EXPECT_EQ(result({}), (std::vector<float>{2, 4}));
  EXPECT_EQ(result({{"first", other}}), (std::vector<float>{20, 40}));
  EXPECT_EQ(result({{"second", other}}), (std::vector<float>{10, 20}));
  EXPECT_EQ(result({{"first", x}, {"second", other}}), (std::vector<float>{10, 20}));
  EXPECT_EQ(result({}), (std::vector<float>{2, 4}));
  for (const Tensor& wrong : {tensor_from_values<float>(DType::kF32, {1, 2}, {1, 2}),
                              tensor_from_values<int32_t>(DType::kI32, {2}, {1, 2})}) {
    auto reply = run(model, {{"x", x}}, {{"first", wrong}});
    ASSERT_FALSE(reply.has_value());
    EXPECT_THAT(reply.error().message() + reply.error().details, HasSubstr("the replacement"));
  }
  EXPECT_EQ(result({}), (std::vector<float>{2, 4}));
}

TEST_F(Operators, FakeQuantiseRefusesWhatItCannotDo) {
  const auto failure = [&](int type, float scale, int64_t zero) {
    TinyModel model;
    model.input("x", type, {1}).output("y");
    auto& node = model.node("FakeQuantise", "paritas.ops", {"x"}, {"y"});
    auto* attribute = node.add_attribute();
    attribute->set_name("scale");
    attribute->set_type(::onnx::AttributeProto::FLOAT);
    attribute->set_f(scale);
    for (const auto& [key, value] :
         std::map<std::string, int64_t>{{"zero_point", zero}, {"lowest", -128}, {"highest", 127}}) {
      auto* integer = node.add_attribute();
      integer->set_name(key);
      integer->set_type(::onnx::AttributeProto::INT);
      integer->set_i(value);
    }
    auto reply = run(
        model, {{"x", type == onnx_code(DType::kF32) ? tensor_from_values(DType::kF32, {1}, std::vector<float>{1})
                                                     : tensor_from_values(DType::kI32, {1}, std::vector<int32_t>{1})}});
    return reply ? "" : reply.error().message();
  };
  EXPECT_EQ(failure(onnx_code(DType::kF32), 0.5f, 0), "");
  EXPECT_THAT(failure(onnx_code(DType::kF32), 0, 0), HasSubstr("scale 0 is not above 0"));
  EXPECT_THAT(failure(onnx_code(DType::kF32), 1, 128), HasSubstr("zero point 128 is not from -128 to 127"));
  EXPECT_THAT(failure(onnx_code(DType::kI32), 1, 0), HasSubstr("not float32"));
}

}  // namespace
}  // namespace paritas
