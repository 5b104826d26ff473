// Walking over ONNX graphs with their bodies (the graph attributes of If, Loop and Scan), and the naming rules that
// edits need: which outer tensors a body reads, and renaming them without touching names that the body defines itself.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/base/error.h"

namespace paritas::onnx_model {

using Renames = std::unordered_map<std::string, std::string>;

// Every TensorProto of the model: initialisers, sparse initialisers, attributes, bodies, functions, training graphs.
// Stops at the first error.
Status for_each_tensor(::onnx::ModelProto& model, const std::function<Status(::onnx::TensorProto&)>& visit);

// Bodies of a node, in attribute order.
std::vector<const ::onnx::GraphProto*> bodies_of(const ::onnx::NodeProto& node);
std::vector<::onnx::GraphProto*> mutable_bodies_of(::onnx::NodeProto& node);

// Outer tensors that the node's bodies read, each once, in order of reading.
std::vector<std::string> captures_of(const ::onnx::NodeProto& node);

// Names that a graph defines itself: inputs, initialisers, node outputs.
std::unordered_set<std::string> defined_names(const ::onnx::GraphProto& graph);

// Renames what a node reads: its inputs, and the outer tensors that its bodies read.
void rename_reads(::onnx::NodeProto& node, const Renames& renames);

// Makes tensor and node names that occur nowhere in a graph or its bodies.
class UniqueNames {
 public:
  explicit UniqueNames(const ::onnx::GraphProto& graph);
  // `wanted`, or `wanted` with the first free number behind it. The name counts as taken afterwards.
  std::string make(const std::string& wanted);

 private:
  void add(const ::onnx::GraphProto& graph);
  std::unordered_set<std::string> taken_;
};

}  // namespace paritas::onnx_model
