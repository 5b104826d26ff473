// Runs on the emulated Qualcomm HTP; skipped without the onnxruntime-qnn wheel. Label htp.
#include <algorithm>
#include <limits>

#include <gmock/gmock.h>

#include "paritas/runtime/test_support.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

class Htp : public runtime_test::WorkerTest {};

TEST_F(Htp, TheFragileDetectorLosesItsAnswerThere) {
  auto spec = TargetSpec::parse("qnn:htp");
  ASSERT_TRUE(spec.has_value());
  auto qnn = resolve_target(*spec, runtime_test::search());
  if (!qnn) GTEST_SKIP() << qnn.error().message();
  const Path models = runtime_test::models() / "detr-mini";
  if (!std::filesystem::exists(models)) GTEST_SKIP() << models << " is absent (PARITAS_TEST_MODELS)";
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto session = worker->open({models / "detr_mini_fragile.onnx", {}, *qnn, {}, /*op_trace=*/true});
  ASSERT_TRUE(session.has_value()) << session.error().message() << session.error().details;
  EXPECT_EQ(session->assignment.size(), 842u);
  for (const AssignedNode& node : session->assignment) EXPECT_EQ(node.provider, "QNNExecutionProvider") << node.name;
  EXPECT_EQ(session->partitions, 1);
  EXPECT_FALSE(session->op_traces.empty());
  RunRequest request{session->id, {}, {}, {}};
  for (const char* input : {"images", "orig_target_sizes"}) {
    auto tensor = read_npy(models / (std::string(input) + ".npy"));
    ASSERT_TRUE(tensor.has_value()) << tensor.error().message();
    request.inputs.emplace_back(input, *tensor);
  }
  auto reply = worker->run(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  for (const auto& [label, tensor] : reply->outputs) {
    if (label != "scores") continue;
    const auto scores = runtime_test::values_of<float>(tensor);
    EXPECT_NEAR(*std::max_element(scores.begin(), scores.end()), 0.3389, 0.002);
  }
  EXPECT_EQ(worker->identity().provider_library_sha256.size(), 64u);
  std::printf("htp: open %.2f s, run %.2f s, worker peak %.0f MB\n", session->seconds, reply->seconds,
              static_cast<double>(worker->peak_resident_bytes()) / 1e6);
}

}  // namespace
}  // namespace paritas
