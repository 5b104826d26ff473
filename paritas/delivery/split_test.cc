#include "paritas/delivery/split.h"

#include <gmock/gmock.h>

#include "paritas/delivery/ledger_lines.h"
#include "paritas/delivery/testing.h"
#include "paritas/package/record_package.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SplitTest : public delivery_test::DeliveryTest {};

TEST_F(SplitTest, DeliversAPackageThatVerifies) {
  const SplitResult result = made(request());
  ASSERT_EQ(result.verdict, Verdict::kPass) << result.refused << result.reasons.front();
  EXPECT_EQ(result.manifest.premise, "on the reference, the parts equal the whole bit for bit on 2 samples");
  EXPECT_EQ(result.manifest.cuts.front().tensors.front().source, "/enc/h");
  EXPECT_EQ(result.manifest.cuts.front().tensors.front().elements, 8u);
  EXPECT_EQ(result.manifest.cuts.front().tensors.front().bytes, 32u);
  const auto again = verified(folder() / "package");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(again->verdict, Verdict::kPass) << again->reasons.front();
  const auto lines = ledger_entries(result, request());
  EXPECT_EQ(lines.front().delivered, "package");
  EXPECT_EQ(lines.front().change, "cut at /enc/h");
}

TEST_F(SplitTest, ThreePartsRunAsOne) {
  SplitRequest three = request();
  three.cuts = {cut("a=/enc/h"), cut("b=/mid/g,/enc/h")};
  three.parts = {{"first", target("sim:fp16")}, {"second", target("cpu")}, {"third", target("sim:fp16")}};
  three.contract.cpu_gates = gates({"feature_*: max_abs<=1e-5"});
  const SplitResult result = made(three);
  EXPECT_EQ(result.verdict, Verdict::kPass) << result.refused << result.reasons.front();
  ASSERT_EQ(result.manifest.parts.size(), 3u);
  EXPECT_EQ(result.manifest.parts[2].inputs.size(), 3u);
}

TEST_F(SplitTest, WithoutGatesNothingPasses) {
  SplitRequest plain = request();
  plain.contract.chain_gates = plain.contract.cpu_gates = {};
  const SplitResult result = made(plain);
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_TRUE(result.refused.empty());
}

TEST_F(SplitTest, WhatDeviatesIsNotDelivered) {
  SplitRequest strict = request();
  strict.contract.chain_gates = gates({"y: max_abs<=1e-9"});
  const SplitResult result = made(strict);
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_THAT(result.refused, HasSubstr("max_abs"));
  EXPECT_TRUE(result.package.empty());
  EXPECT_FALSE(fs::exists(folder() / "package"));
  EXPECT_TRUE(ledger_entries(result, strict).front().delivered.empty());
}

TEST_F(SplitTest, AWholeThatDoesNotRepeatProvesNothing) {
  delivery_test::NetOptions options;
  options.random = true;
  SplitRequest random = request();
  random.model = save(delivery_test::net(options), "random");
  const SplitResult result = made(random);
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_THAT(result.refused, HasSubstr("does not repeat itself"));
}

TEST_F(SplitTest, GatesAndRolesMustFitTheModel) {
  SplitRequest wrong = request();
  wrong.contract.chain_gates = gates({"scores: cosine>=0.9"});
  EXPECT_THAT(split(wrong).error().message(), HasSubstr("scores"));
  wrong = request();
  wrong.contract.roles["z"] = "scores";
  EXPECT_THAT(split(wrong).error().message(), HasSubstr("the model has no output \"z\""));
  wrong = request();
  wrong.contract.chain_gates = *load_gates(GateSources{{}, {"detection-device"}, {}});
  EXPECT_FALSE(split(wrong).has_value());  // it needs a detection task
}

TEST_F(SplitTest, NothingIsOverwrittenWithoutForce) {
  ASSERT_EQ(made(request()).verdict, Verdict::kPass);
  EXPECT_THAT(split(request()).error().message(), HasSubstr("exists"));
  SplitRequest forced = request();
  forced.overwrite = true;
  EXPECT_EQ(made(forced).verdict, Verdict::kPass);
}

TEST_F(SplitTest, ForceReplacesPackagesOnly) {
  fs::create_directory(folder() / "package");
  std::ofstream(folder() / "package" / "manifest.json") << "{}";
  std::ofstream(folder() / "package" / "thesis.txt") << "years";
  SplitRequest forced = request();
  forced.overwrite = true;
  EXPECT_THAT(split(forced).error().message(), HasSubstr("is no package"));
  EXPECT_TRUE(fs::exists(folder() / "package" / "thesis.txt"));
}

TEST_F(SplitTest, PartNamesAreNoPaths) {
  std::ofstream(folder() / "precious.onnx") << "years";
  for (const char* name : {"../precious", "a/b", "", ".", "..", "a b"}) {
    SplitRequest wrong = request();
    wrong.parts.front().name = name;
    EXPECT_THAT(split(wrong).error().message(), HasSubstr("cannot be a part's name")) << name;
  }
  EXPECT_EQ(fs::file_size(folder() / "precious.onnx"), 5u);
}

TEST_F(SplitTest, ThePackageIsATarget) {
  ASSERT_EQ(made(request()).verdict, Verdict::kPass);
  const auto package = open_package(folder() / "package");
  ASSERT_TRUE(package.has_value());
  RecordPackageRequest record;
  record.package = &*package;
  record.samples = {sample(2.2)};
  record.search = runtime_test::search();
  record.output = folder() / "run";
  record.worker = options();
  record.scratch_root = folder();
  const auto info = record_package(record);
  ASSERT_TRUE(info.has_value()) << info.error().message();
  EXPECT_EQ(info->find("feature_0")->role, Role::kIntermediate);
  EXPECT_EQ(info->find("feature_0")->storage_type, DType::kF16);
  EXPECT_EQ(info->find("y")->role, Role::kOutput);
  record.samples = {{{"x", delivery_test::numbers({1, 8}, 0, 1)}}};
  record.output = folder() / "run2";
  EXPECT_THAT(record_package(record).error().message(), HasSubstr("the input \"offset\" is missing"));
  EXPECT_FALSE(fs::exists(folder() / "run2"));
}

TEST_F(SplitTest, AutomaticCutsTakeTheCheapestThatHolds) {
  SplitRequest automatic = request();
  automatic.cuts.clear();
  automatic.automatic = 3;
  const SplitResult result = made(automatic);
  ASSERT_EQ(result.verdict, Verdict::kPass) << result.refused;
  ASSERT_FALSE(result.candidates.empty());
  const CutCost* chosen = nullptr;
  for (const CutCost& cost : result.candidates)
    if (cost.chosen) chosen = &cost;
  ASSERT_NE(chosen, nullptr);
  for (const CutCost& cost : result.candidates) EXPECT_TRUE(!cost.allowed || chosen->bytes <= cost.bytes);
}

}  // namespace
}  // namespace paritas
