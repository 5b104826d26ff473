// For tests: a network of a few nodes that can be cut once or twice, and packages of it made on the real ONNX Runtime.
#pragma once

#include "paritas/delivery/split.h"
#include "paritas/delivery/verify.h"
#include "paritas/onnx/testing.h"
#include "paritas/package/package.h"
#include "paritas/runtime/test_support.h"

namespace paritas::delivery_test {

inline Tensor numbers(Shape shape, double first, double step) {
  std::vector<float> values;
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(std::sin(first + step * static_cast<double>(i))));
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

struct NetOptions {
  double decoder = 0.4;  // where the decoder's weights begin
  double encoder = 0.1;
  bool random = false;  // the decoder adds noise
  const char* rear_input = "offset";
};

// x -> /enc/h -> /mid/g -> y, where y reads /enc/h too (a path past /mid/g) and the input `offset`.
inline onnx_model::Model net(const NetOptions& options = {}) {
  onnx_model::testing::GraphBuilder graph;
  graph.input("x", {1, 8}).input(options.rear_input, {1, 4});
  graph.initializer("w1", numbers({8, 8}, options.encoder, 0.7));
  graph.initializer("w2", numbers({8, 8}, 0.2, 0.3));
  graph.initializer("w3", numbers({8, 4}, options.decoder, 0.9));
  graph.node("MatMul", {"x", "w1"}, {"/enc/m"});
  graph.node("Relu", {"/enc/m"}, {"/enc/h"});
  graph.node("MatMul", {"/enc/h", "w2"}, {"/mid/m"});
  graph.node("Sigmoid", {"/mid/m"}, {"/mid/g"});
  graph.node("Mul", {"/mid/g", "/enc/h"}, {"/dec/p"});
  graph.node("MatMul", {"/dec/p", "w3"}, {"/dec/m"});
  if (options.random) {
    graph.node("RandomNormalLike", {"/dec/m"}, {"/dec/noise"});
    graph.node("Add", {"/dec/m", "/dec/noise"}, {"/dec/n"});
    graph.node("Add", {"/dec/n", options.rear_input}, {"y"});
  } else {
    graph.node("Add", {"/dec/m", options.rear_input}, {"y"});
  }
  graph.output("y");
  const std::string bytes = graph.proto().SerializeAsString();
  auto model = onnx_model::Model::parse(std::as_bytes(std::span(bytes)), {}, "net.onnx");
  EXPECT_TRUE(model.has_value()) << (model ? "" : model.error().message());
  return std::move(*model);
}

class DeliveryTest : public runtime_test::WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    if (IsSkipped()) return;
    model_ = save(net(), "net");
  }

  Path save(const onnx_model::Model& model, const std::string& stem) {
    auto saved = model.save_whole(folder(), stem);
    EXPECT_TRUE(saved.has_value());
    return saved->model;
  }

  static NamedTensors sample(double first) {
    return {{"x", numbers({1, 8}, first, 0.5)}, {"offset", numbers({1, 4}, first, 1.1)}};
  }

  static onnx_model::CutSpec cut(const std::string& text) { return *onnx_model::parse_cut(text, "--cut"); }
  static GateSet gates(const std::vector<std::string>& texts) { return *load_gates(std::nullopt, texts); }

  // Encoder in float16, decoder on the CPU.
  SplitRequest request(const std::string& name = "package") {
    SplitRequest request;
    request.model = model_;
    request.samples = {sample(0.3), sample(1.7)};
    request.cuts = {cut("encoder=/enc/h")};
    request.parts = {{"encoder", target("sim:fp16")}, {"decoder", target("cpu,opt=all")}};
    request.contract.chain_gates = gates({"y: cosine>=0.999", "y: max_abs<=0.01"});
    request.contract.cpu_gates = gates({"y: max_abs<=1e-5"});
    request.reference = target("cpu");
    request.search = runtime_test::search();
    request.worker = options();
    request.scratch_root = folder();
    request.output = folder() / name;
    request.command = {"paritas", "split"};
    return request;
  }

  SplitResult made(const SplitRequest& request) {
    auto result = split(request);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message() + result.error().details);
    return result ? std::move(*result) : SplitResult{};
  }

  Result<VerifyResult> verified(const Path& package) {
    VerifyRequest request;
    request.package = package;
    request.search = runtime_test::search();
    request.worker = options();
    request.scratch_root = folder();
    return verify(request);
  }

  // Changes a manifest and seals the package again: what somebody with the tools could do.
  static void reseal(const Path& folder, const std::function<void(Manifest&)>& change) {
    auto package = open_unsealed(folder);
    Manifest manifest;
    if (package) {
      manifest = package->manifest;
    } else {
      auto json = parse_json(*read_text(folder / kManifestName), "manifest");
      auto read = manifest_from_json(*json, "manifest");
      ASSERT_TRUE(read.has_value()) << read.error().message();
      manifest = *read;
    }
    change(manifest);
    ASSERT_TRUE(seal(folder, manifest).has_value());
  }

  static const PackageCheck* check_of(const VerifyResult& result, const std::string& id) {
    for (const PackageCheck& check : result.checks)
      if (check.id == id) return &check;
    return nullptr;
  }

  Path model_;
};

}  // namespace paritas::delivery_test
