#include "paritas/tflite/model.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/tflite/reader.h"

namespace paritas::tflite {
namespace {

struct TypeRow {
  std::string_view name;
  std::optional<DType> dtype;
};

// By the format's code of the element type, from 0.
constexpr auto kTypes = std::to_array<TypeRow>({
    {"float32", DType::kF32},       {"float16", DType::kF16},
    {"int32", DType::kI32},         {"uint8", DType::kU8},
    {"int64", DType::kI64},         {"string", std::nullopt},
    {"bool", DType::kBool},         {"int16", DType::kI16},
    {"complex64", std::nullopt},    {"int8", DType::kI8},
    {"float64", DType::kF64},       {"complex128", std::nullopt},
    {"uint64", DType::kU64},        {"resource", std::nullopt},
    {"variant", std::nullopt},      {"uint32", DType::kU32},
    {"uint16", DType::kU16},        {"int4", DType::kI4},
    {"bfloat16", DType::kBF16},     {"int2", std::nullopt},
    {"uint4", DType::kU4},          {"float8e4m3fn", DType::kF8E4M3FN},
    {"float8e5m2", DType::kF8E5M2},
});

constexpr auto kActivations =
    std::to_array<std::string_view>({"", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"});

// Where the options of an operator hold its fused activation: slot of the field in the options' table.
struct ActivationRow {
  int code;
  uint8_t options_type;
  uint16_t slot;
};
constexpr auto kActivationSlots = std::to_array<ActivationRow>({
    {0, 11, 0},   // ADD
    {1, 5, 5},    // AVERAGE_POOL_2D
    {2, 10, 1},   // CONCATENATION
    {3, 1, 3},    // CONV_2D
    {4, 2, 4},    // DEPTHWISE_CONV_2D
    {9, 8, 0},    // FULLY_CONNECTED
    {11, 12, 0},  // L2_NORMALIZATION
    {12, 5, 5},   // L2_POOL_2D
    {17, 5, 5},   // MAX_POOL_2D
    {18, 21, 0},  // MUL
    {41, 28, 0},  // SUB
    {42, 29, 0},  // DIV
    {67, 49, 3},  // TRANSPOSE_CONV
});
constexpr int kConcatenation = 2;
constexpr uint8_t kConcatenationOptions = 10;

constexpr auto kStatefulOperators = std::to_array<std::string_view>(
    {"CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "SVDF", "RNN", "LSTM",
     "UNIDIRECTIONAL_SEQUENCE_RNN", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM",
     "BIDIRECTIONAL_SEQUENCE_RNN", "HASHTABLE", "HASHTABLE_IMPORT"});
constexpr auto kRandomOperators = std::to_array<std::string_view>(
    {"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL", "STABLEHLO_RNG_BIT_GENERATOR"});

template <class List>
bool holds(const List& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

template <class T>
std::vector<T> list_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? std::vector<T>{} : std::vector<T>(vector->begin(), vector->end());
}

std::string text_of(const flatbuffers::String* string) { return string == nullptr ? std::string{} : string->str(); }

// A scalar of a table of which only start and vtable were verified; `otherwise` where it is left out or lies outside.
template <class T>
T scalar(const container::Opaque* options, uint16_t slot, std::span<const uint8_t> all, T otherwise) {
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(options);
  const auto field = static_cast<flatbuffers::voffset_t>(4 + 2 * slot);
  const uint8_t* at = table->GetAddressOf(field);
  if (at == nullptr || at < all.data() || static_cast<size_t>(at - all.data()) + sizeof(T) > all.size())
    return otherwise;
  return flatbuffers::ReadScalar<T>(at);
}

}  // namespace

std::string Op::label() const { return fmt::format("{}:{}", index, name); }

std::optional<int> Graph::find(const std::string& id) const {
  for (const GraphTensor& tensor : tensors)
    if (tensor.id == id) return tensor.index;
  return std::nullopt;
}

int Graph::producer(int tensor) const {
  for (const Op& op : ops)
    if (std::find(op.outputs.begin(), op.outputs.end(), tensor) != op.outputs.end()) return op.index;
  return -1;
}

// Turns checked tables into a Model: what remains to check are indices and sizes.
class Reader {
 public:
  explicit Reader(Verified verified) : verified_(std::move(verified)) {
    model_.subject_ = verified_.file->path().string();
  }

  Result<Model> read() {
    const container::Model& from = *verified_.model;
    model_.path_ = verified_.file->path();
    model_.file_ = verified_.file;
    model_.file_bytes_ = verified_.file->size();
    model_.version_ = from.version();
    model_.description_ = text_of(from.description());
    if (from.subgraphs() == nullptr || from.subgraphs()->size() == 0) return damaged("it has no graph");
    for (const auto* graph : *from.subgraphs()) PARITAS_TRY(read_graph(*graph));
    if (from.signature_defs() != nullptr)
      for (const auto* signature : *from.signature_defs()) PARITAS_TRY(read_signature(*signature));
    if (from.metadata() != nullptr)
      for (const auto* entry : *from.metadata()) model_.metadata_.push_back(text_of(entry->name()));
    return std::move(model_);
  }

 private:
  Unexpected damaged(const std::string& cause) const {
    return input_error(model_.subject_, "is damaged: " + cause, "convert or copy the model again");
  }

  Status read_graph(const container::SubGraph& from) {
    Graph graph;
    graph.name = text_of(from.name());
    model_.data_.emplace_back();
    if (from.tensors() != nullptr)
      for (const auto* tensor : *from.tensors()) PARITAS_TRY(read_tensor(*tensor, graph));
    name_uniquely(graph);
    const auto check = [&](const std::vector<int32_t>& list, bool may_be_absent) {
      return std::all_of(list.begin(), list.end(), [&](int32_t index) {
        return (index >= 0 && static_cast<size_t>(index) < graph.tensors.size()) || (may_be_absent && index == -1);
      });
    };
    graph.inputs = list_of(from.inputs());
    graph.outputs = list_of(from.outputs());
    if (!check(graph.inputs, false) || !check(graph.outputs, false))
      return damaged("an input or output of a graph is no tensor of it");
    if (from.operators() != nullptr)
      for (const auto* op : *from.operators()) {
        PARITAS_ASSIGN(Op read, read_op(*op, static_cast<int>(graph.ops.size())));
        if (!check(read.inputs, true) || !check(read.outputs, false))
          return damaged(fmt::format("operator {} reads or writes a tensor that does not exist", read.label()));
        model_.stateful_ = model_.stateful_ || holds(kStatefulOperators, read.name);
        model_.random_ = model_.random_ || holds(kRandomOperators, read.name);
        graph.ops.push_back(std::move(read));
      }
    model_.graphs_.push_back(std::move(graph));
    return {};
  }

  Status read_tensor(const container::Tensor& from, Graph& graph) {
    GraphTensor tensor;
    tensor.index = static_cast<int>(graph.tensors.size());
    tensor.name = text_of(from.name());
    const int code = from.type();
    if (code >= 0 && static_cast<size_t>(code) < kTypes.size()) {
      tensor.type_name = kTypes[static_cast<size_t>(code)].name;
      tensor.dtype = kTypes[static_cast<size_t>(code)].dtype;
    } else {
      tensor.type_name = fmt::format("type {}", code);
    }
    for (const int32_t dim : list_of(from.shape())) tensor.shape.push_back(dim);
    for (const int32_t dim : list_of(from.shape_signature())) tensor.shape_signature.push_back(dim);
    if (!element_count(tensor.shape))
      return damaged(fmt::format("tensor \"{}\" has the shape {}", tensor.name, to_string(tensor.shape)));
    tensor.variable = from.is_variable();
    model_.stateful_ = model_.stateful_ || tensor.variable;
    PARITAS_TRY(read_quantisation(from.quantization(), tensor));
    PARITAS_ASSIGN(const Model::Range range, range_of(from.buffer(), tensor.name));
    tensor.constant = range.size > 0;
    tensor.data_bytes = range.size;
    tensor.elsewhere = (tensor.constant && from.sparsity() != nullptr) || from.external_buffer() != 0;
    model_.data_.back().push_back(range);
    graph.tensors.push_back(std::move(tensor));
    return {};
  }

  Status read_quantisation(const container::Quantization* from, GraphTensor& tensor) const {
    if (from == nullptr) return {};
    Quantisation q;
    q.scale = list_of(from->scale());
    q.zero_point = list_of(from->zero_point());
    // Converters write an empty or zero scale where there is none.
    if (q.scale.empty() || (q.scale.size() == 1 && q.scale[0] == 0)) return {};
    if (q.zero_point.size() <= 1) q.zero_point.resize(q.scale.size(), q.zero_point.empty() ? 0 : q.zero_point[0]);
    const auto broken = [&](const std::string& why) {
      return damaged(fmt::format("the quantisation of \"{}\": {}", tensor.name, why));
    };
    if (q.scale.size() != q.zero_point.size())
      return broken(fmt::format("{} scales and {} zero points", q.scale.size(), q.zero_point.size()));
    if (q.scale.size() > 1) {
      const int axis = from->quantized_dimension();
      if (axis < 0 || static_cast<size_t>(axis) >= tensor.shape.size() ||
          tensor.shape[static_cast<size_t>(axis)] != static_cast<int64_t>(q.scale.size()))
        return broken(fmt::format("{} scales along axis {} of {}", q.scale.size(), axis, to_string(tensor.shape)));
      q.axis = axis;
    }
    tensor.quantisation = std::move(q);
    return {};
  }

  // Where a buffer's data lies in the file; size 0: it has none.
  Result<Model::Range> range_of(uint32_t index, const std::string& tensor) {
    const auto* buffers = verified_.model->buffers();
    if (buffers == nullptr || index >= buffers->size())
      return damaged(fmt::format("tensor \"{}\" names a buffer that does not exist", tensor));
    const container::Buffer& buffer = *buffers->Get(index);
    Model::Range range;
    if (buffer.data() != nullptr && buffer.data()->size() > 0) {
      range.offset = static_cast<uint64_t>(buffer.data()->data() - verified_.flatbuffer.data());
      range.size = buffer.data()->size();
    } else if (buffer.offset() > 1) {  // 0 and 1 mean none
      range.offset = buffer.offset();
      range.size = buffer.size();
      if (range.offset > verified_.file->size() || range.size > verified_.file->size() - range.offset)
        return damaged(fmt::format("the data of \"{}\" would lie beyond the end of the file", tensor));
    }
    if (range.size > 0 && counted_.insert(index).second) {
      model_.constant_bytes_ += range.size;
      model_.outside_buffers_ += buffer.offset() > 1 ? 1 : 0;
    }
    return range;
  }

  Result<Op> read_op(const container::Operator& from, int index) const {
    Op op;
    op.index = index;
    const auto* codes = verified_.model->operator_codes();
    if (codes == nullptr || from.opcode_index() >= codes->size())
      return damaged(fmt::format("operator {} names no operator code", index));
    const container::OperatorCode& code = *codes->Get(from.opcode_index());
    // Codes from 127 on do not fit the older field, which then holds 127, or 0 from careless writers.
    op.code = std::max<int>(code.deprecated_builtin_code(), code.builtin_code());
    op.version = code.version();
    op.name = operator_name(op.code);
    if (op.code == kCustomOperator)
      op.name = code.custom_code() == nullptr || code.custom_code()->size() == 0 ? "CUSTOM" : code.custom_code()->str();
    op.inputs = list_of(from.inputs());
    op.outputs = list_of(from.outputs());
    if (from.builtin_options() != nullptr) read_options(from, op);
    return op;
  }

  void read_options(const container::Operator& from, Op& op) const {
    const auto* options = from.builtin_options();
    const uint8_t type = from.builtin_options_type();
    for (const ActivationRow& row : kActivationSlots)
      if (row.code == op.code && row.options_type == type) {
        const auto activation = scalar<int8_t>(options, row.slot, verified_.flatbuffer, 0);
        if (activation >= 0 && static_cast<size_t>(activation) < kActivations.size())
          op.activation = kActivations[static_cast<size_t>(activation)];
      }
    if (op.code == kConcatenation && type == kConcatenationOptions)
      op.axis = scalar<int32_t>(options, 0, verified_.flatbuffer, 0);
  }

  Status read_signature(const container::SignatureDef& from) {
    Signature signature;
    signature.key = text_of(from.signature_key());
    signature.graph = static_cast<int>(from.subgraph_index());
    if (from.subgraph_index() >= model_.graphs_.size()) return damaged("a signature names a graph that does not exist");
    const auto take = [&](const auto* maps, std::vector<std::pair<std::string, int>>& to) {
      if (maps == nullptr) return true;
      for (const auto* map : *maps) {
        if (map->tensor_index() >= model_.graphs_[from.subgraph_index()].tensors.size()) return false;
        to.emplace_back(text_of(map->name()), static_cast<int>(map->tensor_index()));
      }
      return true;
    };
    if (!take(from.inputs(), signature.inputs) || !take(from.outputs(), signature.outputs))
      return damaged(fmt::format("the signature \"{}\" names a tensor that does not exist", signature.key));
    model_.signatures_.push_back(std::move(signature));
    return {};
  }

  static void name_uniquely(Graph& graph) {
    std::unordered_map<std::string, int> uses;
    for (const GraphTensor& tensor : graph.tensors) ++uses[tensor.name];
    for (GraphTensor& tensor : graph.tensors) {
      if (tensor.name.empty())
        tensor.id = fmt::format("tensor#{}", tensor.index);
      else if (uses[tensor.name] > 1)
        tensor.id = fmt::format("{}#{}", tensor.name, tensor.index);
      else
        tensor.id = tensor.name;
    }
    // A name that looks like one of ours: the index makes it unique.
    std::unordered_set<std::string> taken;
    for (GraphTensor& tensor : graph.tensors)
      while (!taken.insert(tensor.id).second) tensor.id += fmt::format("#{}", tensor.index);
  }

  Verified verified_;
  Model model_;
  std::unordered_set<uint32_t> counted_;
};

Result<Model> Model::load(const Path& path) {
  PARITAS_ASSIGN(Verified verified, verify_file(path));
  return Reader(std::move(verified)).read();
}

Result<Tensor> Model::constant(int graph, int tensor) const {
  const GraphTensor& wanted = graphs_[static_cast<size_t>(graph)].tensors[static_cast<size_t>(tensor)];
  const auto refuse = [&](const std::string& cause) {
    return input_error(subject_, fmt::format("tensor \"{}\" {}", wanted.id, cause));
  };
  if (wanted.elsewhere) return refuse("is stored in a form that is not read (sparse, or in another file)");
  if (!wanted.constant) return refuse("is no constant");
  if (!wanted.dtype) return refuse(fmt::format("is of type {}, which is not handled", wanted.type_name));
  const Range& range = data_[static_cast<size_t>(graph)][static_cast<size_t>(tensor)];
  return make_tensor(*wanted.dtype, wanted.shape, Bytes::in_file(file_, range.offset, range.size),
                     fmt::format("{}: tensor \"{}\"", subject_, wanted.id));
}

}  // namespace paritas::tflite
