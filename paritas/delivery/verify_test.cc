// One test for each check of verify: it fails when that check is taken out. Every package here was sealed again after
// it was tampered with, so that the sums hold.
#include "paritas/delivery/verify.h"

#include <gmock/gmock.h>

#include "paritas/base/sha256.h"
#include "paritas/delivery/testing.h"
#include "paritas/recording/recording.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class VerifyTest : public delivery_test::DeliveryTest {
 protected:
  void SetUp() override {
    DeliveryTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(made(request()).verdict, Verdict::kPass);
    package_ = folder() / "package";
  }

  // Puts another model's part in the place of one, with its hash in the manifest.
  void swap(const std::string& part, const delivery_test::NetOptions& options) {
    const std::string name = "other-" + part;
    SplitRequest other = request(name);
    other.model = save(delivery_test::net(options), name);
    other.contract.chain_gates = other.contract.cpu_gates = {};
    for (auto& each : other.samples)
      for (auto& [input, tensor] : each)
        if (input == "offset") input = options.rear_input;
    ASSERT_TRUE(made(other).refused.empty());
    fs::copy_file(folder() / name / (part + ".onnx"), package_ / (part + ".onnx"),
                  fs::copy_options::overwrite_existing);
    reseal(package_, [&](Manifest& manifest) {
      for (PackagePart& each : manifest.parts)
        if (each.name == part) each.sha256 = *sha256_of_file(package_ / each.file);
    });
  }

  // The one check that does not pass, and what it says.
  void expect_only(const std::string& id, Verdict verdict, const std::string& text) {
    const auto result = verified(package_);
    ASSERT_TRUE(result.has_value()) << result.error().message();
    EXPECT_EQ(result->verdict, verdict);
    for (const PackageCheck& check : result->checks) {
      if (check.id == id)
        EXPECT_THAT(check.text, HasSubstr(text));
      else
        EXPECT_EQ(check.verdict, Verdict::kPass) << check.id << ": " << check.text;
    }
    const PackageCheck* check = check_of(*result, id);
    ASSERT_NE(check, nullptr);
    EXPECT_EQ(check->verdict, verdict);
  }

  void add_trace(const std::string& content, uint64_t source_ops) {
    fs::create_directories(package_ / "evidence");
    std::ofstream(package_ / "evidence/encoder_op_trace.json") << content;
    reseal(package_, [&](Manifest& manifest) {
      manifest.parts.front().trace =
          CompileTrace{"evidence/encoder_op_trace.json", manifest.parts.front().sha256, source_ops};
    });
  }

  Path package_;
};

TEST_F(VerifyTest, FilesAChangedByteIsRefused) {
  std::fstream file(package_ / "decoder.onnx", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('\x5a');
  file.close();
  const auto result = verified(package_);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message(), HasSubstr("decoder.onnx: was changed"));
}

TEST_F(VerifyTest, ReloadAPartWithOtherInputsIsInvalid) {
  delivery_test::NetOptions options;
  options.rear_input = "shift";
  swap("decoder", options);
  const auto result = verified(package_);
  ASSERT_TRUE(result.has_value()) << result.error().message();
  EXPECT_EQ(result->verdict, Verdict::kInvalid);
  EXPECT_THAT(check_of(*result, "reload")->text, HasSubstr("\"offset\" is absent"));
}

TEST_F(VerifyTest, CpuPartsAnotherDecoderDeviates) {
  // So little that the gates of the chain let it pass.
  delivery_test::NetOptions options;
  options.decoder = 0.401;
  swap("decoder", options);
  expect_only("cpu parts", Verdict::kDeviates, "max_abs");
}

TEST_F(VerifyTest, ChainAnotherEncoderDeviates) {
  delivery_test::NetOptions options;
  options.encoder = 0.5;
  swap("encoder", options);
  expect_only("chain", Verdict::kDeviates, "y: ");
}

TEST_F(VerifyTest, ChainIsHeldAgainstTheStoredReference) {
  const auto reference = open_samples(package_ / "reference", {});
  ASSERT_TRUE(reference.has_value());
  const auto info = (*reference)->info();
  std::vector<NamedTensors> samples;
  for (uint64_t s = 0; s < 2; ++s) {
    samples.push_back((*reference)->sample(s)->tensors);
    for (auto& [name, tensor] : samples.back())
      if (name == "feature_0") tensor = delivery_test::numbers({1, 8}, 0.3, 0.2);  // nothing gates it
  }
  auto writer = RecordingWriter::create(folder() / "forged", false);
  ASSERT_TRUE(writer.has_value());
  for (const NamedTensors& sample : samples) ASSERT_TRUE(writer->add_sample(sample).has_value());
  ASSERT_TRUE(writer->finish(info).has_value());
  fs::remove_all(package_ / "reference");
  fs::rename(folder() / "forged", package_ / "reference");
  reseal(package_, [](Manifest&) {});
  // Other features give other outputs: the CPU part is fed with them.
  expect_only("cpu parts", Verdict::kDeviates, "y: ");
}

TEST_F(VerifyTest, RepeatNoiseIsJudgedAgain) {
  delivery_test::NetOptions options;
  options.random = true;
  // A package cannot be made of such a model; its decoder is put into a lawful one.
  const NamedCuts named = *name_cuts(delivery_test::net(options), {cut("encoder=/enc/h")}, {});
  std::map<std::string, Tensor> tensors = {{"x", delivery_test::numbers({1, 8}, 0, 1)},
                                           {"offset", delivery_test::numbers({1, 4}, 0, 1)},
                                           {"feature_0", delivery_test::numbers({1, 8}, 0, 1)},
                                           {"y", delivery_test::numbers({1, 4}, 0, 1)}};
  const auto parts = take_apart(named, tensors, {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message();
  ASSERT_TRUE(parts->back().model.save_whole(package_, "decoder").has_value());
  reseal(package_, [&](Manifest& manifest) {
    manifest.parts.back().sha256 = *sha256_of_file(package_ / "decoder.onnx");
    manifest.chain_gates = manifest.cpu_gates = {};  // nothing but the noise is left to notice
  });
  const auto result = verified(package_);
  ASSERT_TRUE(result.has_value()) << result.error().message();
  EXPECT_THAT(check_of(*result, "repeat")->text, HasSubstr("a second run gives other bits"));
  EXPECT_NE(check_of(*result, "repeat")->verdict, Verdict::kPass);
}

constexpr const char* kTrace =
    R"({"schema_version": 2, "backend_type": "htp", "model_name": "m", "subgraph_traces": [{"graph_name": "g", "op_mappings": [
  {"dst_name": "a", "dst_qnn_op_type": "MatMul", "node_group_type": "OrtNodeUnit",
   "sources": [{"name": "MatMul:/enc/m", "type": "OP"}]}]}]%s})";

std::string trace_with(const std::string& rest) {
  std::string text = kTrace;
  return text.replace(text.find("%s"), 2, rest);
}

TEST_F(VerifyTest, TraceOfAnotherSizeIsInvalid) {
  add_trace(trace_with(""), 1);
  expect_only("trace", Verdict::kPass, "1 operations of the compiled graph are named");
  add_trace(trace_with(""), 2);
  expect_only("trace", Verdict::kInvalid, "names 1 operations, the manifest says 2");
}

TEST_F(VerifyTest, TraceThatLeftNodesDeviates) {
  add_trace(
      trace_with(R"(, "unsupported_nodes": [{"node_name": "Erf_1", "op_type": "Erf", "reason": "not supported"}])"), 1);
  expect_only("trace", Verdict::kDeviates, "left 1 nodes to others, the first is Erf_1");
}

TEST_F(VerifyTest, ReferenceMustHoldAsManySamplesAsTheManifestSays) {
  reseal(package_, [](Manifest& manifest) { manifest.reference.samples = 3; });
  const auto result = verified(package_);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message(), HasSubstr("holds 2 samples, the manifest says 3"));
}

// What the manifest says beside a part's target is what applications load with.
TEST_F(VerifyTest, DeclarationsMustBeThoseOfTheTarget) {
  auto refusal = [&](const std::function<void(Manifest&)>& change) {
    Manifest before = open_unsealed(package_)->manifest;
    reseal(package_, change);
    const auto result = verified(package_);
    EXPECT_TRUE(seal(package_, before).has_value());
    return result ? std::string("accepted") : result.error().message();
  };
  EXPECT_THAT(refusal([](Manifest& m) { m.parts[1].threads = 8; }), HasSubstr("declares threads 8"));
  EXPECT_THAT(refusal([](Manifest& m) { m.parts[1].optimisation = "none"; }), HasSubstr("declares optimisation none"));
  EXPECT_THAT(refusal([](Manifest& m) { m.parts[1].options["a"] = "b"; }), HasSubstr("declares the option a b"));
  EXPECT_THAT(refusal([](Manifest& m) { m.parts[0].on_device = false; }), HasSubstr("declares on_device false"));
  EXPECT_THAT(refusal([](Manifest& m) { m.parts[1].target = "ort:X,library=evil.so"; }),
              HasSubstr("which a package must not have"));
}

TEST_F(VerifyTest, TheContractMustBeTheReferences) {
  reseal(package_, [](Manifest& manifest) {
    manifest.outputs.front().name = "feature_0";  // and what nobody declares is checked by nobody
    manifest.outputs.front().shape = {1, 8};
    manifest.parts.pop_back();
    manifest.inputs.pop_back();
  });
  const auto result = verified(package_);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message(), HasSubstr("the manifest declares"));
}

TEST_F(VerifyTest, GatesThatAreTakenOutLeaveItUnjudged) {
  reseal(package_, [](Manifest& manifest) { manifest.chain_gates = {}; });
  const auto result = verified(package_);
  ASSERT_TRUE(result.has_value()) << result.error().message();
  EXPECT_EQ(result->verdict, Verdict::kNotJudged);
}

TEST_F(VerifyTest, AnotherMachineIsToldAndJudgedAllTheSame) {
  reseal(package_, [](Manifest& manifest) {
    manifest.environment.host = "another host";
    manifest.environment.libraries.front().version = "1.0.0";
    manifest.environment.libraries.front().sha256 = std::string(64, '0');
  });
  const auto result = verified(package_);
  ASSERT_TRUE(result.has_value()) << result.error().message();
  EXPECT_EQ(result->verdict, Verdict::kPass);
  ASSERT_EQ(result->environment.size(), 2u);
  EXPECT_THAT(result->environment[0], HasSubstr("made on \"another host\""));
  EXPECT_THAT(result->environment[1], HasSubstr("1.0.0 then"));
}

// On the emulated HTP; skipped without the wheel. Label htp.
using HtpVerify = delivery_test::DeliveryTest;

TEST_F(HtpVerify, PlacementOfADevicePartMustBeWhole) {
  auto spec = TargetSpec::parse("qnn:htp");
  auto qnn = resolve_target(*spec, runtime_test::search());
  if (!qnn) GTEST_SKIP() << qnn.error().message();
  SplitRequest htp = request();
  htp.parts.front().target = *qnn;
  const SplitResult result = made(htp);
  ASSERT_EQ(result.verdict, Verdict::kPass) << result.refused << result.reasons.front();
  EXPECT_TRUE(result.manifest.parts.front().compiled);
  EXPECT_TRUE(result.manifest.parts.front().trace.has_value());
  EXPECT_EQ(result.manifest.parts.front().context->provider, "QNNExecutionProvider");
  const Path package = folder() / "package";
  // As if a node had gone to the CPU when it was compiled.
  reseal(package,
         [](Manifest& manifest) { manifest.parts.front().placement.nodes.emplace_back("CPUExecutionProvider", 1); });
  const auto moved = verified(package);
  ASSERT_TRUE(moved.has_value()) << moved.error().message();
  EXPECT_EQ(moved->verdict, Verdict::kDeviates);
  EXPECT_THAT(check_of(*moved, "placement")->text, HasSubstr("1 on CPUExecutionProvider"));
}

// A device half with a node that the device does not take is no device half.
TEST_F(HtpVerify, APartThatFallsBackIsRefused) {
  auto spec = TargetSpec::parse("qnn:htp");
  auto qnn = resolve_target(*spec, runtime_test::search());
  if (!qnn) GTEST_SKIP() << qnn.error().message();
  SplitRequest htp = request();
  onnx_model::Model model = delivery_test::net();
  for (auto& node : *model.graph().mutable_node())
    if (node.op_type() == "Relu") node.set_op_type("Erf");  // which the HTP does not take
  htp.model = save(model, "erf");
  htp.parts.front().target = *qnn;
  const SplitResult result = made(htp);
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_THAT(result.refused, HasSubstr("(Erf) on CPUExecutionProvider"));
  EXPECT_FALSE(fs::exists(folder() / "package"));
}

// A context of another model has the same names and other numbers.
TEST_F(HtpVerify, AContextOfAnotherModelIsRefused) {
  auto spec = TargetSpec::parse("qnn:htp");
  auto qnn = resolve_target(*spec, runtime_test::search());
  if (!qnn) GTEST_SKIP() << qnn.error().message();
  delivery_test::NetOptions options;
  options.encoder = 0.9;
  SplitRequest other = request("other");
  other.model = save(delivery_test::net(options), "other-net");
  other.parts.front().target = *qnn;
  ASSERT_EQ(made(other).verdict, Verdict::kPass);
  SplitRequest htp = request();
  htp.parts.front().target = *qnn;
  htp.contexts["encoder"] = folder() / "other" / "encoder_ctx.onnx";
  const SplitResult result = made(htp);
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_THAT(result.refused, HasSubstr("chain: "));
  // Its own, compiled elsewhere, is accepted.
  SplitRequest own = request("own");
  own.parts.front().target = *qnn;
  ASSERT_EQ(made(own).verdict, Verdict::kPass);
  htp.contexts["encoder"] = folder() / "own" / "encoder_ctx.onnx";
  EXPECT_EQ(made(htp).verdict, Verdict::kPass);
}

}  // namespace
}  // namespace paritas
