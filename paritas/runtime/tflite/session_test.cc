// TFLite sessions in a worker, on the real library. Skipped without it.
#include "paritas/runtime/tflite/session.h"

#include <cmath>

#include <gmock/gmock.h>

#include "paritas/runtime/record.h"
#include "paritas/runtime/test_support.h"
#include "paritas/tflite/testing.h"

namespace paritas {
namespace {

using runtime_test::values_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using tflite::TinyTflite;

class Tflite : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create(::testing::TempDir());
    ASSERT_TRUE(made.has_value());
    scratch_.emplace(std::move(*made));
    search_.tflite = PARITAS_TFLITE_FOLDER;
    const auto target = resolve("tflite:ref");
    if (!target) GTEST_SKIP() << "no TensorFlow Lite: " << target.error().message();
  }

  const Path& folder() const { return scratch_->path(); }

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

  static Path toy() { return PARITAS_TEST_DELEGATE; }

 private:
  std::optional<ScratchFolder> scratch_;
  RuntimeSearch search_;
  int started_ = 0;
};

TEST_F(Tflite, RunsWithEachChoiceOfKernels) {
  const Path model = chain().save(folder());
  for (const char* target : {"tflite:ref", "tflite:builtin", "tflite:xnnpack", "tflite:default"}) {
    SCOPED_TRACE(target);
    auto runner = start(target);
    ASSERT_TRUE(runner.has_value()) << runner.error().message();
    EXPECT_THAT(runner->worker().identity().version, ::testing::StartsWith("2."));
    auto session = runner->open_file(model);
    ASSERT_TRUE(session.has_value()) << session.error().message();
    const auto reply = session->run(inputs());
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    ASSERT_EQ(reply->outputs.size(), 1u);
    EXPECT_EQ(reply->outputs[0].first, "z");
    const auto values = values_of<float>(reply->outputs[0].second);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(values[i], 1 / (1 + std::exp(-(std::vector<double>{0.3, 0, 4}[i]))), 1e-5);
  }
}

TEST_F(Tflite, HandsOutIntermediatesBehindEveryChoiceOfKernels) {
  const Path model = chain().save(folder());
  for (const char* target : {"tflite:ref", "tflite:builtin", "tflite:xnnpack", "tflite:default"}) {
    SCOPED_TRACE(target);
    auto runner = start(target);
    ASSERT_TRUE(runner.has_value());
    auto session = runner->open_file(model, {"z", "s"});
    ASSERT_TRUE(session.has_value()) << session.error().message();
    const auto reply = session->run(inputs());
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    ASSERT_EQ(reply->outputs.size(), 2u);
    EXPECT_EQ(reply->outputs[1].first, "s");
    EXPECT_THAT(values_of<float>(reply->outputs[1].second), ElementsAre(FloatNear(0.3f, 1e-6f), 0, 4));
    // The same output as without the intermediate.
    auto plain = runner->open_file(model);
    ASSERT_TRUE(plain.has_value());
    const auto unmarked = plain->run(inputs());
    ASSERT_TRUE(unmarked.has_value());
    EXPECT_EQ(values_of<float>(unmarked->outputs[0].second), values_of<float>(reply->outputs[0].second));
  }
}

TEST_F(Tflite, SaysWhereEachOperatorRuns) {
  const Path model = chain().save(folder());
  auto reference = start("tflite:ref");
  ASSERT_TRUE(reference.has_value());
  {
    auto session = reference->open_file(model);
    ASSERT_TRUE(session.has_value());
    ASSERT_EQ(session->info().assignment.size(), 2u);
    EXPECT_EQ(session->info().assignment[0].name, "0:ADD");
    EXPECT_EQ(session->info().assignment[0].provider, "TfLiteReference");
    EXPECT_EQ(session->info().partitions, 0);
  }
  auto xnnpack = start("tflite:xnnpack");
  ASSERT_TRUE(xnnpack.has_value());
  auto session = xnnpack->open_file(model);
  ASSERT_TRUE(session.has_value());
  ASSERT_EQ(session->info().assignment.size(), 2u);
  EXPECT_EQ(session->info().assignment[1].provider, kXnnpackName);
  EXPECT_EQ(session->info().partitions, 1);
}

TEST_F(Tflite, AnExternalDelegateTakesItsOperators) {
  const Path model = chain().save(folder());
  for (const char* also : {"", ",xnnpack=yes"}) {
    SCOPED_TRACE(also);
    auto runner = start("tflite:delegate,path=" + toy().string() + also);
    ASSERT_TRUE(runner.has_value()) << runner.error().message();
    auto session = runner->open_file(model, {"z", "s"});
    ASSERT_TRUE(session.has_value()) << session.error().message() << session.error().details;
    ASSERT_EQ(session->info().assignment.size(), 2u);
    EXPECT_EQ(session->info().assignment[0].provider, kExternalDelegate);
    EXPECT_EQ(session->info().assignment[1].provider, *also ? kXnnpackName : "TfLiteBuiltin");
    EXPECT_EQ(session->info().partitions, 1);
    const auto reply = session->run(inputs());
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    EXPECT_THAT(values_of<float>(reply->outputs[1].second), ElementsAre(0.30078125f, 0, 4));  // 0.3 in bfloat16
  }
}

TEST_F(Tflite, ADelegateThatTakesNothingIsRefused) {
  const Path model = chain().save(folder());
  RecordRequest request;
  request.model = model;
  request.samples = {inputs()};
  request.worker.executable = PARITAS_TEST_WORKER;
  request.scratch_root = folder();
  request.output = folder() / "recording";
  const auto target = resolve("tflite:delegate,path=" + toy().string() + ",claim=none");
  ASSERT_TRUE(target.has_value());
  request.target = *target;
  const auto info = record(request);
  ASSERT_FALSE(info.has_value());
  EXPECT_THAT(info.error().message(), HasSubstr("0 of 2 nodes ran on TfLiteExternalDelegate"));
  EXPECT_FALSE(std::filesystem::exists(request.output));
}

TEST_F(Tflite, DelegatesThatFailAreNoRun) {
  const Path model = chain().save(folder());
  {
    auto runner = start("tflite:delegate,path=" + toy().string() + ",colour=blue");
    ASSERT_TRUE(runner.has_value());
    // A delegate that cannot be made: TensorFlow Lite 2.21 itself then ends with a segmentation fault.
    EXPECT_FALSE(runner->open_file(model).has_value());
  }
  {
    auto runner = start("tflite:delegate,path=" + toy().string() + ",fail=invoke");
    ASSERT_TRUE(runner.has_value());
    auto session = runner->open_file(model);
    ASSERT_TRUE(session.has_value()) << session.error().message();
    const auto reply = session->run(inputs());
    ASSERT_FALSE(reply.has_value());
    EXPECT_THAT(reply.error().message(), HasSubstr("lost its queue"));
  }
  {
    auto runner = start("tflite:delegate,path=" + toy().string() + ",fail=crash");
    ASSERT_TRUE(runner.has_value());
    auto session = runner->open_file(model);
    ASSERT_TRUE(session.has_value());
    const auto reply = session->run(inputs());
    ASSERT_FALSE(reply.has_value());
    EXPECT_THAT(reply.error().message(), HasSubstr("crashed"));
  }
}

// Whether the interpreter is then refused or left without the delegate is the library's affair; a run that would pass
// for the delegate's is never the result.
TEST_F(Tflite, ADelegateThatRefusesTheGraphIsNoRun) {
  RecordRequest request;
  request.model = chain().save(folder());
  request.samples = {inputs()};
  request.worker.executable = PARITAS_TEST_WORKER;
  request.scratch_root = folder();
  request.output = folder() / "recording";
  const auto target = resolve("tflite:delegate,path=" + toy().string() + ",fail=prepare");
  ASSERT_TRUE(target.has_value());
  request.target = *target;
  EXPECT_FALSE(record(request).has_value());
}

TEST_F(Tflite, RefusesInputsThatDoNotFit) {
  const Path model = chain().save(folder());
  auto runner = start("tflite:ref");
  ASSERT_TRUE(runner.has_value());
  auto session = runner->open_file(model);
  ASSERT_TRUE(session.has_value());
  NamedTensors wrong = inputs();
  wrong[1].first = "w";
  EXPECT_THAT(session->run(wrong).error().message(), HasSubstr("has no input \"w\""));
  wrong = inputs();
  wrong[0].second = tensor_from_values<float>(DType::kF32, {1, 4}, {1, 2, 3, 4});
  EXPECT_THAT(session->run(wrong).error().message(), HasSubstr("cannot take a tensor of shape"));
  wrong = inputs();
  wrong[0].second = tensor_from_values<int32_t>(DType::kI32, {1, 3}, {1, 2, 3});
  EXPECT_THAT(session->run(wrong).error().message(), HasSubstr("must be float32"));
  EXPECT_THAT(runner->open_file(model, {"nobody"}).error().message(), HasSubstr("has no tensor \"nobody\""));
}

TEST_F(Tflite, FreeDimensionsTakeTheShapeOfTheInput) {
  TinyTflite tiny = chain();
  for (int i = 0; i < 4; ++i) tiny.at(i).shape_signature = {-1, 3};
  const Path model = tiny.save(folder());
  auto runner = start("tflite:builtin");
  ASSERT_TRUE(runner.has_value());
  auto session = runner->open_file(model, {"z", "s"});
  ASSERT_TRUE(session.has_value());
  const NamedTensors two = {{"x", tensor_from_values<float>(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6})},
                            {"y", tensor_from_values<float>(DType::kF32, {2, 3}, {1, 1, 1, 1, 1, 1})}};
  const auto reply = session->run(two);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(reply->outputs[1].second.shape, (Shape{2, 3}));
  EXPECT_THAT(values_of<float>(reply->outputs[1].second), ElementsAre(2, 3, 4, 5, 6, 7));
}

// The delegate that reads the plan must not have such a model refused.
TEST_F(Tflite, ShapesThatAreComputedAreNoObstacle) {
  TinyTflite tiny;
  const int x = tiny.tensor("x", tflite::kTestFloat32, {1, 4});
  const int shape = tiny.tensor("shape", tflite::kTestInt32, {2});
  const int y = tiny.tensor("y", tflite::kTestFloat32, {2, 2});
  tiny.op(tflite::kTestReshape, {x, shape}, {y});
  tiny.ports({x, shape}, {y});
  const Path model = tiny.save(folder());
  for (const char* target : {"tflite:ref", "tflite:builtin"}) {
    SCOPED_TRACE(target);
    auto runner = start(target);
    ASSERT_TRUE(runner.has_value());
    auto session = runner->open_file(model);
    ASSERT_TRUE(session.has_value()) << session.error().message();
    EXPECT_EQ(session->info().assignment.size(), 1u);
    const auto reply = session->run({{"x", tensor_from_values<float>(DType::kF32, {1, 4}, {1, 2, 3, 4})},
                                     {"shape", tensor_from_values<int32_t>(DType::kI32, {2}, {4, 1})}});
    ASSERT_TRUE(reply.has_value()) << reply.error().message();
    EXPECT_EQ(reply->outputs[0].second.shape, (Shape{4, 1}));
  }
}

TEST_F(Tflite, StepsAreCallsInOrder) {
  const Path model = chain().save(folder());
  auto runner = start("tflite:ref");
  ASSERT_TRUE(runner.has_value());
  auto session = runner->open_file(model, {"z", "s"});
  ASSERT_TRUE(session.has_value());
  const NamedTensors two = {{"x", tensor_from_values<float>(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6})},
                            {"y", tensor_from_values<float>(DType::kF32, {2, 3}, {1, 1, 1, 1, 1, 1})}};
  const auto reply = session->run_steps(two, 2);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(reply->outputs[1].second.shape, (Shape{2, 3}));
  EXPECT_THAT(values_of<float>(reply->outputs[1].second), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(session->run_steps(two, 3).has_value());
}

TEST_F(Tflite, RecordsQuantisationAndPlan) {
  TinyTflite tiny;
  const int x = tiny.quantised("x", tflite::kTestInt8, {1, 4}, {0.5f}, {-1});
  const int y = tiny.quantised("y", tflite::kTestUint8, {1, 4}, {0.5f}, {127});
  tiny.op(tflite::kTestQuantize, {x}, {y});
  tiny.ports({x}, {y});
  RecordRequest request;
  request.model = tiny.save(folder());
  request.samples = {{{"x", tensor_from_values<int8_t>(DType::kI8, {1, 4}, {-128, -1, 0, 127})}}};
  request.worker.executable = PARITAS_TEST_WORKER;
  request.scratch_root = folder();
  request.output = folder() / "recording";
  request.target = *resolve("tflite:ref");
  const auto info = record(request);
  ASSERT_TRUE(info.has_value()) << info.error().message();
  ASSERT_EQ(info->tensors.size(), 2u);
  EXPECT_EQ(info->tensors[1].node, "0:QUANTIZE");
  EXPECT_EQ(info->tensors[1].op, "QUANTIZE");
  EXPECT_THAT(info->tensors[1].quantisation->scale, ElementsAre(0.5));
  EXPECT_THAT(info->tensors[1].quantisation->zero_point, ElementsAre(127));
  ASSERT_EQ(info->plan.size(), 1u);
  EXPECT_THAT(info->plan[0].nodes, ElementsAre("0:QUANTIZE"));
  EXPECT_FALSE(info->runtime.sha256_before.empty());
  EXPECT_EQ(info->runtime.sha256_before, info->runtime.sha256_after);
  EXPECT_EQ(info->model_sha256, info->model_sha256_after);
  const auto stream = open_samples(request.output, {});
  ASSERT_TRUE(stream.has_value());
  const auto sample = (*stream)->sample(0);
  ASSERT_TRUE(sample.has_value());
  EXPECT_THAT(values_of<uint8_t>(sample->tensors[1].second), ElementsAre(0, 127, 128, 255));
}

TEST_F(Tflite, ModelsGoToTheRuntimeThatRunsThem) {
  RecordRequest request;
  request.model = chain().save(folder());
  request.samples = {inputs()};
  request.worker.executable = PARITAS_TEST_WORKER;
  request.scratch_root = folder();
  request.output = folder() / "recording";
  request.target.provider = "CPUExecutionProvider";
  request.target.spec.text = "cpu";
  EXPECT_THAT(record(request).error().message(), HasSubstr("a TFLite model"));
  request.target = *resolve("tflite:ref");
  request.model = folder() / "other.onnx";
  std::ofstream(request.model) << "something else";
  EXPECT_THAT(record(request).error().message(), HasSubstr("runs TFLite models"));
}

TEST_F(Tflite, WhatIsNoTensorFlowLiteIsSaid) {
  const Path library = folder() / "libother.so";
  std::ofstream(library) << "no library";
  auto runner = start("tflite:ref,library=" + library.string());
  ASSERT_FALSE(runner.has_value());
  EXPECT_THAT(runner.error().message(), HasSubstr("cannot be loaded as TensorFlow Lite"));
  auto absent = start("tflite:ref,library=" + (folder() / "absent").string());
  EXPECT_THAT(absent.error().message(), HasSubstr("is no library"));
  EXPECT_THAT(start("tflite:reference").error().message(), HasSubstr("choose tflite:ref"));
  EXPECT_THAT(start("tflite:delegate").error().message(), HasSubstr("path=LIBRARY"));
  EXPECT_THAT(start("tflite:ref,colour=blue").error().message(), HasSubstr("unknown option \"colour\""));
}

}  // namespace
}  // namespace paritas
