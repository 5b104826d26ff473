// An ONNX model that was loaded without its weights: every initialiser or Constant of kInlineLimit bytes or more stays
// in the file where it lies (the model file itself or its external data) and is only referred to. Edited copies are
// therefore small and quick to write, whatever the size of the weights.
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
  // Parses and checks: it is a ModelProto with a graph, IR version and opset are present, every external path stays
  // inside the model's folder and its range inside the file, and has the size that type and shape ask for.
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

  const Path& path() const { return path_; }               // empty when parsed from memory
  const std::string& subject() const { return subject_; }  // for messages: the path, or the name given to parse()

  // Values of an initialiser or of a Constant's `value`, wherever they lie.
  Result<Tensor> tensor(const ::onnx::TensorProto& proto) const;
  // Adds an initialiser. Small ones are kept in the graph, others are referred to (their Bytes stay alive with the
  // model). Raises the IR version to 4, from which on initialisers need not be graph inputs.
  void add_initializer(const std::string& name, const Tensor& value);

  // Writes `folder`/model.onnx and, where there are large weights, `folder`/model.weights (64-byte aligned, only those
  // that the graph still uses). The folder must exist. Overwrites.
  struct Saved {
    Path model;
    uint64_t weight_bytes = 0;
  };
  Result<Saved> save(const Path& folder, const std::string& stem = "model") const;
  // The same as one file without external data, where the weights take at most `limit` bytes (they are in memory while
  // it is written); else as save().
  Result<Saved> save_whole(const Path& folder, const std::string& stem, uint64_t limit = uint64_t{512} << 20) const;

 private:
  Model() = default;
  static Result<Model> finish(std::string thin, std::vector<Bytes> left_out, const Path& folder, Path path,
                              const std::string& subject);
  Status resolve_tensors(size_t left_out, const Path& folder);

  std::shared_ptr<::onnx::ModelProto> proto_;
  Path path_;
  std::string subject_;
  std::map<std::string, Bytes> weights_;  // key: the `location` that stands in the thin TensorProto, "paritas:N"
};

// TensorProto -> Tensor for tensors that hold their data inline (raw_data or the typed fields). Strings, and types that
// DType does not know, are refused. Memory is taken only after the number of values has been found to match the shape.
Result<Tensor> tensor_from_proto(const ::onnx::TensorProto& proto, const std::string& subject);
// Data inline, as raw_data. Fails only when the tensor's bytes lie in a file that cannot be read.
Result<::onnx::TensorProto> proto_from_tensor(const std::string& name, const Tensor& tensor);

// The element type of a TensorProto; an error names the tensor and the ONNX type that is not supported.
Result<DType> dtype_of(const ::onnx::TensorProto& proto, const std::string& subject);

}  // namespace paritas::onnx_model
