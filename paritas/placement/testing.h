// A small graph and evidence about it, for tests of the audit: no runtime needed.
#pragma once

#include <string>
#include <vector>

#include "paritas/onnx/testing.h"
#include "paritas/placement/audit.h"

namespace paritas::testing {

constexpr const char* kDevice = "DeviceExecutionProvider";
constexpr const char* kCpu = "CPUExecutionProvider";

// x [1,4] -> MatMul:m (constant w) -> Add:a (x) -> Softmax:s -> Identity:i -> Mul:y (a); Neg:c is made of constants
// alone.
struct SmallGraph {
  onnx_model::Model model;
  onnx_model::GraphIndex index;
};

inline SmallGraph small_graph() {
  using namespace onnx_model::testing;
  GraphBuilder builder;
  builder.input("x", {1, 4})
      .initializer("w", floats({4, 4}, std::vector<float>(16, 0.5F)))
      .node("MatMul", {"x", "w"}, {"m"})
      .node("Neg", {"w"}, {"c"})
      .node("Add", {"m", "x"}, {"a"})
      .node("Softmax", {"a"}, {"s"})
      .node("Identity", {"s"}, {"i"})
      .node("Mul", {"i", "a"}, {"y"})
      .output("y")
      .output("c");
  for (const char* tensor : {"m", "a", "s", "i"}) {
    auto* info = builder.graph().add_value_info();
    info->set_name(tensor);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(1);
    type->mutable_shape()->add_dim()->set_dim_value(1);
    type->mutable_shape()->add_dim()->set_dim_value(4);
  }
  onnx_model::Model model = builder.model();
  auto index = must(onnx_model::GraphIndex::build(model));
  return {std::move(model), std::move(index)};
}

inline AssignedNode assigned(const std::string& name, const std::string& op, const std::string& provider,
                             int partition) {
  return {name, op, provider, partition};
}

// Softmax alone is on the CPU; Identity is gone.
inline std::vector<AssignedNode> split_assignment() {
  return {assigned("MatMul:m/MatMulAddFusion", "Gemm", kDevice, 0), assigned("Softmax:s", "Softmax", kCpu, 0),
          assigned("Mul:y", "Mul", kDevice, 1)};
}

inline ProfiledNode ran(const std::string& name, const std::string& op, const std::string& provider, uint64_t us) {
  return {name, op, provider, 1, us, 16, 16};
}

// What the runtime's profile says of split_assignment().
inline OrtProfile split_profile() {
  OrtProfile profile;
  profile.nodes = {
      ran("DeviceExecutionProvider_DeviceExecutionProvider_9_0_0", "DeviceExecutionProvider_9_0", kDevice, 60),
      ran("Softmax:s", "Softmax", kCpu, 10),
      ran("DeviceExecutionProvider_DeviceExecutionProvider_9_1_1", "DeviceExecutionProvider_9_1", kDevice, 30)};
  profile.runs = 1;
  return profile;
}

inline OpTrace split_trace() {
  OpTrace trace{"htp", "m.onnx", {}};
  trace.graphs = {"DeviceExecutionProvider_DeviceExecutionProvider_9_0_0",
                  "DeviceExecutionProvider_DeviceExecutionProvider_9_1_1"};
  trace.ops = {{"mm", "FullyConnected", "Gemm", {"MatMul:m/MatMulAddFusion"}, 0},
               {"y", "Multiply", "Unit", {"Mul:y"}, 1}};
  trace.left = {{"Softmax:s", "Softmax", "not supported"}};
  trace.taken_nodes = 2;
  return trace;
}

}  // namespace paritas::testing
