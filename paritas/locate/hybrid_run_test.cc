// Hybrids on the real ONNX Runtime: the two ways of running them must agree to the bit.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "paritas/compare/compare.h"
#include "paritas/locate/hybrid.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/test_support.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

class HybridRunTest : public runtime_test::WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    if (IsSkipped()) return;
    const Path detector = Path(PARITAS_SOURCE_DIR) / "examples/detr-mini";
    for (const char* name : {"images", "orig_target_sizes"}) {
      auto tensor = read_npy(detector / (std::string(name) + ".npy"));
      ASSERT_TRUE(tensor) << tensor.error().message();
      inputs_.emplace_back(name, std::move(*tensor));
    }
    auto given = onnx_model::Model::load(detector / "detr_mini_fragile.onnx");
    ASSERT_TRUE(given) << given.error().message();
    auto model = pin_to_inputs(*given, inputs_, {}, nullptr);
    ASSERT_TRUE(model) << model.error().message();
    reference_.emplace(start_runner("reference", "cpu"));
    device_.emplace(start_runner("device", "sim:fp16"));
    auto prepared = prepare(*model, inputs_, *reference_);
    ASSERT_TRUE(prepared) << prepared.error().message();
    prepared_.emplace(std::move(*prepared));
  }

  void TearDown() override {
    prepared_.reset();
    device_.reset();
    reference_.reset();
    WorkerTest::TearDown();
  }

  Runner start_runner(const std::string& role, const std::string& text) {
    WorkerOptions made = options(role);
    std::error_code code;
    std::filesystem::create_directory(made.scratch, code);
    auto runner = Runner::start(target(text), made);
    if (!runner) std::abort();
    return std::move(*runner);
  }

  std::vector<bool> restored(const std::function<bool(const onnx_model::GraphIndex::Node&)>& wanted) const {
    std::vector<bool> flags;
    for (const auto& node : prepared_->index.nodes()) flags.push_back(wanted(node));
    return flags;
  }

  static NamedTensors outputs(Hybrids& hybrids, const std::vector<bool>& flags, const NamedTensors& inputs) {
    auto run = hybrids.run(flags, inputs);
    EXPECT_TRUE(run) << run.error().message();
    return run ? run->outputs : NamedTensors{};
  }

  static void expect_equal(const NamedTensors& a, const NamedTensors& b, const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].first, b[i].first);
      EXPECT_TRUE(equal_bytes(a[i].second, b[i].second).value_or(false)) << what << ": " << a[i].first;
    }
  }

  NamedTensors inputs_;
  std::optional<Runner> reference_, device_;
  std::optional<Prepared> prepared_;
};

TEST_F(HybridRunTest, EverythingRestoredIsTheReference) {
  Hybrids one(*prepared_, *reference_, *device_);
  const auto all = restored([](const auto&) { return true; });
  auto session = reference_->open(prepared_->folded);
  ASSERT_TRUE(session) << session.error().message();
  auto reference = session->run(inputs_);
  ASSERT_TRUE(reference) << reference.error().message();
  expect_equal(outputs(one, all, inputs_), reference->outputs, "all restored");
}

TEST_F(HybridRunTest, OneGraphAndPartsAgreeToTheBit) {
  Hybrids one(*prepared_, *reference_, *device_), parts(*prepared_, *reference_, *device_);
  parts.always_in_parts();
  const auto module = restored([](const auto& node) { return node.name.rfind("/dec/layers.0/n3/", 0) == 0; });
  expect_equal(outputs(one, module, inputs_), outputs(parts, module, inputs_), "one module");
  EXPECT_EQ(one.device_sessions(), 1);
  EXPECT_EQ(parts.device_sessions(), 2);
  std::mt19937 random(3);
  for (int round = 0; round < 2; ++round) {  // long runs, so that there are not hundreds of turns
    bool on = false;
    int left = 0;
    const auto scattered = restored([&](const auto&) {
      if (left-- == 0) {
        on = !on;
        left = static_cast<int>(random() % 120) + 20;
      }
      return on;
    });
    expect_equal(outputs(one, scattered, inputs_), outputs(parts, scattered, inputs_), "scattered");
  }
}

TEST_F(HybridRunTest, TheSameSetAgainOpensNothing) {
  Hybrids parts(*prepared_, *reference_, *device_);
  parts.always_in_parts();
  const auto module = restored([](const auto& node) { return node.name.rfind("/dec/layers.0/n3/", 0) == 0; });
  const auto first = outputs(parts, module, inputs_);
  const int opened = parts.device_sessions();
  expect_equal(first, outputs(parts, module, inputs_), "again");
  EXPECT_EQ(parts.device_sessions(), opened);
}

// However many parts a set has: its samples run in the sessions that the first of them opened.
TEST_F(HybridRunTest, ManyPartsStayOpenForTheNextSample) {
  Hybrids parts(*prepared_, *reference_, *device_);
  parts.always_in_parts();
  int node = 0;
  const auto striped = restored([&](const auto&) { return node++ / 60 % 2 == 1; });
  const auto turns = hybrid_parts(prepared_->index, prepared_->dependence, striped);
  ASSERT_GT(turns.size(), 6U);
  const auto first = outputs(parts, striped, inputs_);
  const int opened = parts.device_sessions();
  const int on_reference = reference_->sessions_opened();
  expect_equal(first, outputs(parts, striped, inputs_), "the next sample");
  EXPECT_EQ(parts.device_sessions(), opened);
  EXPECT_EQ(reference_->sessions_opened(), on_reference);
}

}  // namespace
}  // namespace paritas
