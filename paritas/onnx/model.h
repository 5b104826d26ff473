// An ONNX model that was loaded without its weights: every initialiser or Constant of kInlineLimit bytes or more stays in
// the file where it lies (the model file itself or its external data) and is only referred to. Edited copies are therefore
// small and quick to write, whatever the size of the weights.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/base/files.h"
#include "paritas/tensor/tensor.h"

namespace paritas::onnx_model {

inline constexpr uint64_t kInlineLimit = 1024;  // bytes; smaller tensors are kept in the graph

class Model {
 public:
  // Parses and checks: it is an ModelProto with a graph, IR version and opset are present, every external path stays
  // inside the model's folder and its range inside the file.
  static Result<Model> load(const Path& path);
  // From bytes in memory (tests, fuzzing). External data is looked up in `folder`.
  static Result<Model> parse(std::span<const std::byte> bytes, const Path& folder, const std::string& subject);

  Model(Model&&) noexcept = default;
  Model& operator=(Model&&) noexcept = default;
  Model clone() const;  // copies the graph, shares the weights

  const ::onnx::ModelProto& proto() const { return *proto_; }
  ::onnx::ModelProto& proto() { return *proto_; }
  const ::onnx::GraphProto& graph() const { return proto_->graph(); }
  ::onnx::GraphProto& graph() { return *proto_->mutable_graph(); }

  const Path& path() const { return path_; }        // empty when parsed from memory
  const std::string& subject() const { return subject_; }  // for messages: the path, or the name given to parse()

  // Values of an initialiser or of a Constant's `value`, wherever they lie.
  Result<Tensor> tensor(const ::onnx::TensorProto& proto) const;
  // Adds an initialiser. Small ones are kept in the graph, large ones are referred to (their Bytes stay alive with the model).
  void add_initializer(const std::string& name, const Tensor& value);

  // Writes `folder`/model.onnx and, where there are large weights, `folder`/model.weights (64-byte aligned, only those that
  // the graph still uses). The folder must exist. Overwrites.
  struct Saved {
    Path model;
    uint64_t weight_bytes = 0;
  };
  Result<Saved> save(const Path& folder, const std::string& stem = "model") const;

 private:
  Model() = default;
  std::shared_ptr<::onnx::ModelProto> proto_;
  Path path_;
  std::string subject_;
  std::map<std::string, Bytes> weights_;  // key: the `location` that stands in the thin TensorProto, "paritas:N"
};

// TensorProto -> Tensor for tensors that hold their data inline (raw_data or the typed fields). Strings are refused.
Result<Tensor> tensor_from_proto(const ::onnx::TensorProto& proto, const std::string& subject);
::onnx::TensorProto proto_from_tensor(const std::string& name, const Tensor& tensor);  // data inline, raw_data

}  // namespace paritas::onnx_model
