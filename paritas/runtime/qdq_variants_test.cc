#include "paritas/runtime/qdq_variants.h"

#include <gmock/gmock.h>

#include "paritas/runtime/test_support.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

class QdqVariants : public runtime_test::WorkerTest {};

TEST_F(QdqVariants, TheSettingFollowsTheLevelUnlessItIsGiven) {
  EXPECT_EQ(quant_qdq_setting(target("cpu")), "1");
  EXPECT_EQ(quant_qdq_setting(target("cpu,opt=all")), "0");
  EXPECT_EQ(quant_qdq_setting(target("cpu,opt=all,session.disable_quant_qdq=1")), "1");
  Target device = target("cpu");
  device.capabilities.device = true;
  EXPECT_EQ(quant_qdq_setting(device), std::nullopt);
  Target other_runtime = target("cpu");
  other_runtime.runtime = RuntimeKind::kTflite;
  EXPECT_EQ(quant_qdq_setting(other_runtime), std::nullopt);
}

TEST_F(QdqVariants, TheOtherVariantIsTheOtherAnswer) {
  for (const char* in_float : {"cpu", "cpu,opt=basic", "cpu,opt=all,session.disable_quant_qdq=1"}) {
    EXPECT_TRUE(computes_pairs_in_float(target(in_float))) << in_float;
    const Target other = other_qdq_variant(target(in_float));
    EXPECT_FALSE(computes_pairs_in_float(other)) << in_float;
    EXPECT_THAT(qdq_variant_text(other), HasSubstr("optimisation all, session.disable_quant_qdq 0: QDQ pairs fused"));
  }
  for (const char* fused : {"cpu,opt=all", "cpu,opt=extended"}) {
    EXPECT_FALSE(computes_pairs_in_float(target(fused))) << fused;
    EXPECT_THAT(qdq_variant_text(other_qdq_variant(target(fused))),
                HasSubstr("optimisation none, session.disable_quant_qdq 1: QDQ pairs computed in float"));
  }
}

TEST_F(QdqVariants, PairsAreFoundInBodies) {
  runtime_test::TinyModel plain;
  plain.input("x", 1, {1}).output("y");
  auto& condition = plain.node("If", "", {"c"}, {"y"});
  auto* body = condition.add_attribute();
  body->set_name("then_branch");
  body->set_type(::onnx::AttributeProto::GRAPH);
  body->mutable_g()->set_name("then");
  body->mutable_g()->add_output()->set_name("q");
  auto& inner = runtime_test::TinyModel::add_node(*body->mutable_g(), "Identity", "", {"x"}, {"q"});
  auto load = [&] { return onnx_model::Model::load(plain.save(folder())); };
  auto model = load();
  ASSERT_TRUE(model.has_value()) << model.error().message();
  EXPECT_FALSE(holds_qdq_pairs(*model));
  inner.set_op_type("DequantizeLinear");
  model = load();
  ASSERT_TRUE(model.has_value()) << model.error().message();
  EXPECT_TRUE(holds_qdq_pairs(*model));
}

}  // namespace
}  // namespace paritas
