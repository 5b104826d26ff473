#include "paritas/recording/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

RunInfo whole() {
  RunInfo info;
  info.tool_version = "0.1.0";
  info.model_path = "m.onnx";
  info.model_sha256 = std::string(64, 'a');
  info.ir_version = 8;
  info.opsets = {{"ai.onnx", 17}, {"com.microsoft", 1}};
  info.producer = "pytorch 2.4";
  info.target = "qnn:htp,soc_model=77";
  info.provider = "QNNExecutionProvider";
  info.options = {{"soc_model", "77"}, {"session.x", "1"}};
  info.optimisation = "extended";
  info.threads = 2;
  info.runtime = {"1.32.0", "/lib/ort.so", "bb", "cc"};
  info.provider_library = {"2.7.0", "/lib/qnn.so", "dd", "ee"};
  info.marks = "all";
  info.pinned = {"batch=1"};
  info.notes = {"one", "two"};
  info.host = "Linux x86_64, 2 cores";
  info.start = "2026-01-02T03:04:05Z";
  info.seconds = 1.5;
  PlacementCounts placement;
  placement.requested = "QNNExecutionProvider";
  placement.nodes = {{"QNNExecutionProvider", 298}, {"CPUExecutionProvider", 2}};
  placement.partitions = 1;
  placement.evidence = {"session assignment"};
  info.placement = placement;
  TensorInfo tensor;
  tensor.name = "scores";
  tensor.dtype = DType::kU8;
  tensor.storage_type = DType::kU4;
  tensor.role = Role::kIntermediate;
  tensor.node = "/head/Mul";
  tensor.op = "Mul";
  tensor.quantisation = Quantisation{{0.5, 0.25}, {128, 3}, 1};
  info.tensors = {tensor};
  return info;
}

TEST(Provenance, RoundTripLosesNothing) {
  const Json json = to_json(whole());
  const auto back = run_info_from_json(json, "run.json");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(dump_json(to_json(*back)), dump_json(json));
  // And the parts that a lost member on both ways would hide:
  EXPECT_EQ(back->model_sha256, std::string(64, 'a'));
  EXPECT_EQ(back->opsets.at("com.microsoft"), 1);
  EXPECT_EQ(back->options.at("session.x"), "1");
  EXPECT_EQ(back->runtime.sha256_after, "cc");
  EXPECT_EQ(back->provider_library.version, "2.7.0");
  ASSERT_EQ(back->pinned.size(), 1u);
  EXPECT_EQ(back->pinned.front(), "batch=1");
  EXPECT_EQ(back->seconds, 1.5);
  EXPECT_EQ(back->placement->on("CPUExecutionProvider"), 2u);
  const TensorInfo& tensor = back->tensors.front();
  EXPECT_EQ(tensor.storage_type, DType::kU4);
  EXPECT_EQ(tensor.role, Role::kIntermediate);
  EXPECT_EQ(tensor.node, "/head/Mul");
  EXPECT_EQ(tensor.quantisation->zero_point, (std::vector<int64_t>{128, 3}));
  EXPECT_EQ(tensor.quantisation->axis, 1);
}

TEST(Provenance, SharesOfNodes) {
  const PlacementCounts placement = *whole().placement;
  EXPECT_EQ(placement.total(), 300u);
  EXPECT_EQ(placement.on("QNNExecutionProvider"), 298u);
  EXPECT_EQ(placement.on("Other"), 0u);
  EXPECT_DOUBLE_EQ(placement.device_share(), 298.0 / 300);
  EXPECT_EQ(PlacementCounts().device_share(), 0.0);
}

TEST(Provenance, FindsTensorsByName) {
  const RunInfo info = whole();
  EXPECT_EQ(info.find("scores"), &info.tensors.front());
  EXPECT_EQ(info.find("score"), nullptr);
}

TEST(Provenance, RoleNames) {
  for (const Role role : {Role::kInput, Role::kOutput, Role::kIntermediate})
    EXPECT_EQ(role_from_name(name(role)), role);
  EXPECT_EQ(role_from_name("Output"), std::nullopt);
}

// What the reader says after one member was changed.
template <class Edit>
std::string after(Edit edit) {
  Json json = to_json(whole());
  edit(json);
  const auto info = run_info_from_json(json, "run.json");
  return info ? "accepted" : info.error().message();
}

TEST(Provenance, LiesAreRefused) {
  EXPECT_THAT(after([](Json& j) { j["schema"] = 1; }), HasSubstr("\"schema\" is not a string"));
  EXPECT_THAT(after([](Json& j) { j["schema"] = "paritas.compare/1"; }), HasSubstr("is not paritas.run/1"));
  EXPECT_THAT(after([](Json& j) { j["model"] = "m.onnx"; }), HasSubstr("\"model\" is not an object"));
  EXPECT_THAT(after([](Json& j) { j["threads"] = 2.5; }), HasSubstr("\"threads\" is not a whole number"));
  EXPECT_THAT(after([](Json& j) { j["tensors"] = Json::object(); }), HasSubstr("\"tensors\" is not an array"));
  EXPECT_THAT(after([](Json& j) { j["tensors"][0] = "scores"; }), HasSubstr("expected an object"));
  EXPECT_THAT(after([](Json& j) { j["tensors"][0]["role"] = "weight"; }), HasSubstr("unknown role \"weight\""));
  EXPECT_THAT(after([](Json& j) { j["tensors"][0]["storage_type"] = "float15"; }), HasSubstr("unknown element type"));
  EXPECT_THAT(after([](Json& j) { j["placement"]["nodes"]["CPUExecutionProvider"] = -1; }), HasSubstr("a node count"));
  EXPECT_THAT(after([](Json& j) { j["placement"].erase("requested"); }), HasSubstr("\"requested\" is missing"));
  EXPECT_THAT(run_info_from_json(Json::array(), "run.json").error().message(), HasSubstr("expected an object"));
}

TEST(Provenance, QuantisationMustBeWhole) {
  const auto quantisation = [](const char* key, Json value) {
    return after([&](Json& j) { j["tensors"][0]["quantisation"][key] = value; });
  };
  EXPECT_THAT(quantisation("scale", {"a", 1}), HasSubstr("scale is not a number"));
  EXPECT_THAT(quantisation("zero_point", {1.5, 2}), HasSubstr("zero point is not a whole number"));
  EXPECT_THAT(quantisation("scale", {1.0}), HasSubstr("same length"));
  EXPECT_THAT(quantisation("axis", -1), HasSubstr("axis out of range"));
  EXPECT_THAT(quantisation("axis", int64_t{1} << 40), HasSubstr("axis out of range"));
}

}  // namespace
}  // namespace paritas
