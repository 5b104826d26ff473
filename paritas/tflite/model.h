// TFLite models (.tflite): graphs, tensors with their quantisation, operators, constants, signatures. Read only what
// was checked against the file; nothing is evaluated here. Layout: container.fbs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/tensor/tensor.h"

namespace paritas::tflite {

// real = (q - zero_point) * scale; one entry per tensor, or one per index of `axis`.
struct Quantisation {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  std::optional<int> axis;  // set where there are several scales
};

struct GraphTensor {
  int index = 0;
  // Unique within the graph: the name in the file; "NAME#INDEX" where the file uses it twice, "tensor#INDEX" where it
  // has none.
  std::string id;
  std::string name;            // as in the file
  std::optional<DType> dtype;  // nullopt: a type that we do not handle, see type_name
  std::string type_name;       // "int8", "string", "resource", ...
  Shape shape;
  std::vector<int64_t> shape_signature;  // -1: free; empty: the shape holds
  std::optional<Quantisation> quantisation;
  bool variable = false;    // keeps its value from call to call
  bool elsewhere = false;   // constant that we do not read: sparse, or in a file of its own
  bool constant = false;    // has data in the file
  uint64_t data_bytes = 0;  // of a constant
};

struct Op {
  int index = 0;            // position in its graph: what runtimes call the node index
  std::string name;         // "CONV_2D", or a custom operator's own name
  int code = 0;             // builtin operator; 32: custom
  int version = 1;          // cannot be trusted: converters leave 1 where kernels need more
  std::vector<int> inputs;  // tensor indices; -1: left out
  std::vector<int> outputs;
  std::string activation;   // fused: "", "RELU", "RELU6", "RELU_N1_TO_1", "TANH", "SIGN_BIT"
  std::optional<int> axis;  // of CONCATENATION, as in the file
  // "17:CONV_2D": how we name an operator, since the format gives it no name.
  std::string label() const;
};

struct Graph {
  std::string name;
  std::vector<GraphTensor> tensors;
  std::vector<int> inputs, outputs;
  std::vector<Op> ops;
  std::optional<int> find(const std::string& id) const;  // tensor
  int producer(int tensor) const;                        // op; -1: none
};

// Names by which applications address a graph; they may differ from the tensors' names.
struct Signature {
  std::string key;
  int graph = 0;
  std::vector<std::pair<std::string, int>> inputs, outputs;  // name, tensor
};

class Model {
 public:
  // Errors: not a TFLite file; an index or a size that the file does not hold; constants beyond the file's end.
  static Result<Model> load(const Path& path);

  const std::string& subject() const { return subject_; }
  const Path& path() const { return path_; }
  uint32_t version() const { return version_; }
  const std::string& description() const { return description_; }
  const std::vector<Graph>& graphs() const { return graphs_; }
  const Graph& main() const { return graphs_.front(); }
  const std::vector<Signature>& signatures() const { return signatures_; }
  // Names in the file's metadata table ("min_runtime_version", ...).
  const std::vector<std::string>& metadata() const { return metadata_; }
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t constant_bytes() const { return constant_bytes_; }
  // Buffers that lie behind the flatbuffer.
  uint64_t outside_buffers() const { return outside_buffers_; }
  // A call may depend on the calls before it: variables, or operators that keep a state.
  bool stateful() const { return stateful_; }
  // Operators that draw random numbers: two runs need not agree.
  bool random() const { return random_; }

  // Data of a constant; what it says of itself (`data_bytes`) was checked against its type and shape. Errors: no
  // constant, sparse, a type that we do not handle.
  Result<Tensor> constant(int graph, int tensor) const;

 private:
  friend class Reader;
  Model() = default;
  struct Range {
    uint64_t offset = 0;  // in the file
    uint64_t size = 0;
  };
  std::string subject_;
  Path path_;
  uint32_t version_ = 0;
  std::string description_;
  std::vector<Graph> graphs_;
  std::vector<Signature> signatures_;
  std::vector<std::string> metadata_;
  std::vector<std::vector<Range>> data_;  // graph, tensor
  std::shared_ptr<const File> file_;
  uint64_t file_bytes_ = 0;
  uint64_t constant_bytes_ = 0;
  uint64_t outside_buffers_ = 0;
  bool stateful_ = false;
  bool random_ = false;
};

// Does the file begin as a TFLite model does?
bool is_tflite(const Path& path);

// The name of a builtin operator's code ("CONV_2D"); "BUILTIN_n" beyond those that we know.
std::string operator_name(int code);
inline constexpr int kCustomOperator = 32;
inline constexpr int kDelegateOperator = 51;  // how runtimes show a partition in their plan

}  // namespace paritas::tflite
