// LiteRT sessions in a worker, on the real library. Skipped without it.
#include "paritas/runtime/litert/session.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>

#include "paritas/runtime/litert/compiled.h"
#include "paritas/runtime/record.h"
#include "paritas/runtime/test_support.h"
#include "paritas/tflite/promote.h"
#include "paritas/tflite/testing.h"

namespace paritas {
namespace {

using runtime_test::values_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using tflite::TinyTflite;

class Litert : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create(::testing::TempDir());
    ASSERT_TRUE(made.has_value());
    scratch_.emplace(std::move(*made));
    search_ = runtime_test::search();
    search_.tflite = PARITAS_TFLITE_FOLDER;
    const auto target = resolve("litert:cpu");
    if (!target) GTEST_SKIP() << "no LiteRT: " << target.error().message();
    library_ = target->runtime_library;
  }

  const Path& folder() const { return scratch_->path(); }
  const Path& library() const { return library_; }

  Result<Target> resolve(const std::string& text) const {
    const auto spec = TargetSpec::parse(text);
    if (!spec) return tl::make_unexpected(spec.error());
    return resolve_target(*spec, search_);
  }

  Result<Runner> start(const std::string& text) {
    PARITAS_ASSIGN(const Target target, resolve(text));
    WorkerOptions options;
    options.executable = PARITAS_TEST_WORKER;
    return Runner::start_in(folder(), std::to_string(started_++), target, options);
  }

  RecordRequest request(const Path& model, const Target& target) {
    RecordRequest made;
    made.model = model;
    made.samples = {inputs()};
    made.worker.executable = PARITAS_TEST_WORKER;
    made.scratch_root = folder();
    made.output = folder() / "recording";
    made.target = target;
    made.overwrite = true;
    return made;
  }

  // x, y -> ADD -> s -> LOGISTIC -> z
  static TinyTflite chain() {
    TinyTflite tiny;
    const int x = tiny.tensor("x", tflite::kTestFloat32, {1, 3});
    const int y = tiny.tensor("y", tflite::kTestFloat32, {1, 3});
    const int s = tiny.tensor("s", tflite::kTestFloat32, {1, 3});
    const int z = tiny.tensor("z", tflite::kTestFloat32, {1, 3});
    tiny.op(tflite::kTestAdd, {x, y}, {s}, 11);
    tiny.op(tflite::kTestLogistic, {s}, {z});
    tiny.ports({x, y}, {z});
    return tiny;
  }

  static NamedTensors inputs() {
    return {{"x", tensor_from_values<float>(DType::kF32, {1, 3}, {0.1f, -2, 3})},
            {"y", tensor_from_values<float>(DType::kF32, {1, 3}, {0.2f, 2, 1})}};
  }

  static Path example() {
    return Path(PARITAS_SOURCE_DIR) / "examples/w8a8-three-way/efficientnet_lite0_logits_w8a8.tflite";
  }

 private:
  std::optional<ScratchFolder> scratch_;
  RuntimeSearch search_;
  Path library_;
  int started_ = 0;
};

TEST_F(Litert, RunsWithEachChoiceOfKernelsAndHandsOutIntermediates) {
  const Path model = chain().save(folder());
  for (const char* target : {"litert:cpu", "litert:cpu,kernels=builtin"}) {
    SCOPED_TRACE(target);
    auto runner = start(target);
    ASSERT_TRUE(runner.has_value()) << runner.error().message();
    EXPECT_FALSE(runner->worker().identity().sha256.empty());
    auto session = runner->open_file(model, {"z", "s"});
    ASSERT_TRUE(session.has_value()) << session.error().message();
    const auto reply = session->run(inputs());
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    ASSERT_EQ(reply->outputs.size(), 2u);
    EXPECT_THAT(values_of<float>(reply->outputs[1].second), ElementsAre(FloatNear(0.3f, 1e-6f), 0, 4));
    const auto values = values_of<float>(reply->outputs[0].second);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(values[i], 1 / (1 + std::exp(-(std::vector<double>{0.3, 0, 4}[i]))), 1e-5);
  }
}

TEST_F(Litert, CountsWhatItsProfilerSaw) {
  const Path model = chain().save(folder());
  const auto builtin = record(request(model, *resolve("litert:cpu,kernels=builtin")));
  ASSERT_TRUE(builtin.has_value()) << builtin.error().message();
  ASSERT_TRUE(builtin->placement.has_value());
  EXPECT_THAT(builtin->placement->nodes, ElementsAre(std::pair(std::string(kLitertInterpreter), uint64_t{2})));
  EXPECT_THAT(builtin->placement->evidence, ElementsAre("profiler events"));
  EXPECT_TRUE(builtin->plan.empty());  // which operators these were is not known
  const auto delegate = record(request(model, *resolve("litert:cpu")));
  ASSERT_TRUE(delegate.has_value()) << delegate.error().message();
  ASSERT_EQ(delegate->placement->nodes.size(), 1u);
  EXPECT_EQ(delegate->placement->nodes[0].first, kLitertDelegate);
  EXPECT_GT(delegate->placement->nodes[0].second, 0u);
  EXPECT_TRUE(delegate->plan.empty());
  EXPECT_EQ(delegate->runtime.sha256_before, delegate->runtime.sha256_after);
}

// XNNPACK has no kernel for a QUANTIZE that goes from int8 to uint8.
TEST_F(Litert, ADelegateThatTakesNothingIsRefused) {
  TinyTflite tiny;
  const int x = tiny.quantised("x", tflite::kTestInt8, {1, 4}, {0.5f}, {-1});
  const int y = tiny.quantised("y", tflite::kTestUint8, {1, 4}, {0.5f}, {127});
  tiny.op(tflite::kTestQuantize, {x}, {y});
  tiny.ports({x}, {y});
  auto wanted = request(tiny.save(folder()), *resolve("litert:cpu"));
  wanted.samples = {{{"x", tensor_from_values<int8_t>(DType::kI8, {1, 4}, {-128, -1, 0, 127})}}};
  const auto info = record(wanted);
  ASSERT_FALSE(info.has_value());
  EXPECT_THAT(info.error().message(), HasSubstr("the delegate took nothing: 1 operator"));
  EXPECT_FALSE(std::filesystem::exists(wanted.output));
}

TEST_F(Litert, AnAcceleratorThatIsNotThereIsNoRun) {
  const Path model = chain().save(folder());
  for (const char* target : {"litert:npu", "litert:gpu"}) {
    SCOPED_TRACE(target);
    const auto info = record(request(model, *resolve(target)));
    EXPECT_FALSE(info.has_value());
  }
}

// The premise of refusing kernels=reference: what LiteRT then computes are the bytes of its optimised kernels, which
// are not those of the reference kernels.
TEST_F(Litert, ItsOwnReferenceModeRunsTheOptimisedKernels) {
  EXPECT_THAT(resolve("litert:cpu,kernels=reference").error().message(),
              HasSubstr("runs its optimised kernels all the same"));
  const auto model = tflite::Model::load(example());
  ASSERT_TRUE(model.has_value());
  const Path plain = folder() / "plain.tflite";
  ASSERT_TRUE(tflite::promote(*model, {}, plain).has_value());
  std::vector<std::byte> picture(224 * 224 * 3);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = std::byte((i * i / 7 + i / 640) % 256);
  const auto api = litert::Api::load(library());
  ASSERT_TRUE(api.has_value()) << api.error().message();
  std::vector<std::vector<std::byte>> outputs;
  for (const char* kernels : {"reference", "builtin"}) {
    Target target;
    target.runtime = RuntimeKind::kLitert;
    target.accelerator = "cpu";
    target.kernels = kernels;
    auto compiled = litert::Compiled::make(*api, plain, target, "plain");
    ASSERT_TRUE(compiled.has_value()) << compiled.error().message();
    ASSERT_TRUE((*compiled)->make_buffers().has_value());
    ASSERT_TRUE((*compiled)->write(0, picture.size(), [&](std::span<std::byte> to) -> Status {
      std::memcpy(to.data(), picture.data(), to.size());
      return {};
    }));
    ASSERT_TRUE((*compiled)->run().has_value());
    ASSERT_TRUE((*compiled)->read(0, [&](const Shape&, std::span<const std::byte> bytes) -> Status {
      outputs.emplace_back(bytes.begin(), bytes.end());
      return {};
    }));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  auto runner = start("tflite:ref");
  if (!runner) GTEST_SKIP() << "no TensorFlow Lite: " << runner.error().message();
  auto session = runner->open_file(example());
  ASSERT_TRUE(session.has_value());
  const std::vector<uint8_t> codes(reinterpret_cast<const uint8_t*>(picture.data()),
                                   reinterpret_cast<const uint8_t*>(picture.data()) + picture.size());
  const auto reply = session->run({{"images", tensor_from_values<uint8_t>(DType::kU8, {1, 224, 224, 3}, codes)}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  const auto reference = values_of<uint8_t>(reply->outputs[0].second);
  EXPECT_NE(std::memcmp(reference.data(), outputs[0].data(), reference.size()), 0);
}

// Signatures may list a graph's ports in another order.
TEST_F(Litert, InputsKeepTheOrderOfTheGraphDespiteSignatures) {
  TinyTflite tiny;
  const int x = tiny.tensor("x", tflite::kTestFloat32, {1, 2});
  const int y = tiny.tensor("y", tflite::kTestFloat32, {1, 2});
  const int s = tiny.tensor("s", tflite::kTestFloat32, {1, 2});
  tiny.op(tflite::kTestSub, {x, y}, {s}, tflite::kTestSubOptions);
  tiny.ports({x, y}, {s});
  auto signature = std::make_unique<tflite::container::SignatureDefT>();
  signature->signature_key = "serve";
  for (const auto& [name, index] : {std::pair("a", y), std::pair("b", x)}) {
    auto port = std::make_unique<tflite::container::TensorMapT>();
    port->name = name;
    port->tensor_index = static_cast<uint32_t>(index);
    signature->inputs.push_back(std::move(port));
  }
  auto port = std::make_unique<tflite::container::TensorMapT>();
  port->name = "out";
  port->tensor_index = static_cast<uint32_t>(s);
  signature->outputs.push_back(std::move(port));
  tiny.model().signature_defs.push_back(std::move(signature));
  auto runner = start("litert:cpu,kernels=builtin");
  ASSERT_TRUE(runner.has_value());
  auto session = runner->open_file(tiny.save(folder()));
  ASSERT_TRUE(session.has_value()) << session.error().message();
  const auto reply = session->run({{"x", tensor_from_values<float>(DType::kF32, {1, 2}, {5, 7})},
                                   {"y", tensor_from_values<float>(DType::kF32, {1, 2}, {1, 2})}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_THAT(values_of<float>(reply->outputs[0].second), ElementsAre(4, 5));
}

TEST_F(Litert, TensorsThatShareANameAreRefused) {
  TinyTflite tiny = chain();
  tiny.at(2).name = "z";
  auto runner = start("litert:cpu,kernels=builtin");
  ASSERT_TRUE(runner.has_value());
  const Path model = tiny.save(folder());
  EXPECT_TRUE(runner->open_file(model).has_value());
  EXPECT_THAT(runner->open_file(model, {"z#2", "z#3"}).error().message(), HasSubstr("finds tensors by name"));
}

TEST_F(Litert, FreeDimensionsAndSteps) {
  TinyTflite tiny = chain();
  for (int i = 0; i < 4; ++i) tiny.at(i).shape_signature = {-1, 3};
  const Path model = tiny.save(folder());
  auto runner = start("litert:cpu,kernels=builtin");
  ASSERT_TRUE(runner.has_value());
  auto session = runner->open_file(model, {"s"});
  ASSERT_TRUE(session.has_value()) << session.error().message();
  const NamedTensors two = {{"x", tensor_from_values<float>(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6})},
                            {"y", tensor_from_values<float>(DType::kF32, {2, 3}, {1, 1, 1, 1, 1, 1})}};
  for (const uint64_t steps : {1, 2}) {
    const auto reply = steps == 1 ? session->run(two) : session->run_steps(two, steps);
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    EXPECT_EQ(reply->outputs[0].second.shape, (Shape{2, 3}));
    EXPECT_THAT(values_of<float>(reply->outputs[0].second), ElementsAre(2, 3, 4, 5, 6, 7));
  }
  EXPECT_FALSE(session->run_steps(two, 3).has_value());
}

TEST_F(Litert, RefusesWhatDoesNotFit) {
  const Path model = chain().save(folder());
  auto runner = start("litert:cpu");
  ASSERT_TRUE(runner.has_value());
  auto session = runner->open_file(model);
  ASSERT_TRUE(session.has_value());
  NamedTensors wrong = inputs();
  wrong[0].second = tensor_from_values<float>(DType::kF32, {1, 4}, {1, 2, 3, 4});
  EXPECT_THAT(session->run(wrong).error().message(), HasSubstr("cannot take a tensor of shape"));
  wrong = inputs();
  wrong[1].first = "w";
  EXPECT_THAT(session->run(wrong).error().message(), HasSubstr("has no input \"w\""));
  const Path other = folder() / "libother.so";
  std::ofstream(other) << "no library";
  EXPECT_THAT(start("litert:cpu,library=" + other.string()).error().message(), HasSubstr("cannot be loaded as LiteRT"));
  EXPECT_THAT(start("litert:tpu").error().message(), HasSubstr("choose litert:cpu"));
  EXPECT_THAT(start("litert:cpu,kernels=fast").error().message(), HasSubstr("choose delegate or builtin"));
  EXPECT_THAT(start("litert:npu,plugin=/absent").error().message(), HasSubstr("is no folder"));
  EXPECT_THAT(start("litert:npu,kernels=builtin").error().message(), HasSubstr("unknown option"));
}

TEST_F(Litert, OpaqueOptionsAreShownAsPassedOn) {
  const auto target = resolve("litert:npu,opaque.vendor=\"a.b = 0\"");
  ASSERT_TRUE(target.has_value()) << target.error().message();
  EXPECT_EQ(target->provider_options.at("opaque.vendor"), "a.b = 0");
  EXPECT_THAT(target->notes, ::testing::Contains(HasSubstr("does not tell whether it was taken")));
}

}  // namespace
}  // namespace paritas
