#include "paritas/inspect/inspect.h"

#include "paritas/recording/recording.h"

namespace paritas {
namespace {

std::string joined(const std::vector<std::string>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + dims[i];
  return text + "]";
}

InspectedTensor port(const onnx_model::InputInfo& info, const char* role) {
  InspectedTensor tensor;
  tensor.name = info.name;
  tensor.dtype = info.dtype ? name(*info.dtype) : "?";
  tensor.shape = info.has_shape ? joined(info.dims) : "?";
  tensor.role = role;
  return tensor;
}

// Declared sizes; nothing is read.
uint64_t weight_bytes(const onnx_model::Model& model) {
  uint64_t sum = 0;
  for (const auto& initializer : model.graph().initializer()) {
    const auto dtype = dtype_from_onnx(initializer.data_type());
    auto count = element_count(Shape(initializer.dims().begin(), initializer.dims().end()));
    if (dtype && count) sum += byte_size(*dtype, *count);
  }
  return sum;
}

Result<Inspection> inspect_model(const Path& path) {
  PARITAS_ASSIGN(auto model, onnx_model::Model::load(path));
  PARITAS_ASSIGN(auto index, onnx_model::GraphIndex::build(model));
  Inspection result;
  result.path = path.string();
  result.kind = "ONNX model";
  result.ir_version = model.proto().ir_version();
  for (const auto& opset : model.proto().opset_import())
    result.opsets[opset.domain().empty() ? "ai.onnx" : opset.domain()] = opset.version();
  result.producer = model.proto().producer_name();
  if (!model.proto().producer_version().empty()) result.producer += " " + model.proto().producer_version();
  result.nodes = index.nodes().size();
  result.weight_bytes = weight_bytes(model);
  for (const auto& input : onnx_model::describe_inputs(model)) result.inputs.push_back(port(input, "input"));
  for (const auto& output : onnx_model::describe_outputs(model)) result.outputs.push_back(port(output, "output"));
  for (const auto& node : index.nodes()) {
    ++result.ops[node.op];
    for (const auto& output : node.outputs) {
      InspectedTensor tensor;
      tensor.name = output;
      tensor.role = index.is_output(output) ? "output" : "intermediate";
      tensor.node = node.name;
      tensor.op = node.op;
      result.tensors.push_back(std::move(tensor));
    }
  }
  return result;
}

}  // namespace

Result<Inspection> inspect(SampleStream& stream, const std::string& kind) {
  Inspection result;
  result.path = stream.subject();
  result.kind = kind;
  result.samples = stream.sample_count();
  const bool told = kind != "npy" && kind != "safetensors";  // one loose file tells nothing but its tensors
  if (told) result.run = stream.info();
  if (result.samples == 0) return result;
  PARITAS_ASSIGN(Sample sample, stream.sample(0));
  for (const auto& [tensor_name, value] : sample.tensors) {
    InspectedTensor tensor;
    tensor.name = tensor_name;
    tensor.dtype = name(value.dtype);
    tensor.shape = to_string(value.shape);
    if (const TensorInfo* info = told ? stream.info().find(tensor_name) : nullptr) {
      tensor.role = name(info->role);
      tensor.node = info->node;
      tensor.op = info->op;
    }
    result.tensors.push_back(std::move(tensor));
  }
  return result;
}

Result<Inspection> inspect(const Path& path) {
  if (path.extension() == ".onnx") return inspect_model(path);
  PARITAS_ASSIGN(auto stream, open_samples(path, {}));
  return inspect(*stream, is_recording(path) ? "recording" : path.extension() == ".npy" ? "npy" : "safetensors");
}

}  // namespace paritas
