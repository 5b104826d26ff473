// Small TFLite models for tests, written with the tables of container.fbs.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <paritas_tflite_container/container_generated.h>

#include "paritas/base/files.h"

namespace paritas::tflite {

// Codes of the format.
inline constexpr int kTestFloat32 = 0, kTestInt32 = 2, kTestUint8 = 3, kTestInt8 = 9;
inline constexpr int kTestAdd = 0, kTestConv = 3, kTestLogistic = 14, kTestMul = 18, kTestQuantize = 114,
                     kTestDequantize = 6, kTestReshape = 22, kTestSub = 41, kTestSubOptions = 28;

class TinyTflite {
 public:
  TinyTflite() {
    model_.version = 3;
    model_.buffers.push_back(std::make_unique<container::BufferT>());  // 0: none
    model_.subgraphs.push_back(std::make_unique<container::SubGraphT>());
    model_.subgraphs[0]->name = "main";
  }

  container::ModelT& model() { return model_; }
  container::SubGraphT& graph() { return *model_.subgraphs[0]; }

  int tensor(const std::string& name, int type, std::vector<int32_t> shape) {
    auto made = std::make_unique<container::TensorT>();
    made->name = name;
    made->type = static_cast<int8_t>(type);
    made->shape = std::move(shape);
    graph().tensors.push_back(std::move(made));
    return static_cast<int>(graph().tensors.size()) - 1;
  }

  int quantised(const std::string& name, int type, std::vector<int32_t> shape, std::vector<float> scale,
                std::vector<int64_t> zero_point, int axis = 0) {
    const int index = tensor(name, type, std::move(shape));
    auto q = std::make_unique<container::QuantizationT>();
    q->scale = std::move(scale);
    q->zero_point = std::move(zero_point);
    q->quantized_dimension = axis;
    at(index).quantization = std::move(q);
    return index;
  }

  container::TensorT& at(int tensor) { return *graph().tensors[static_cast<size_t>(tensor)]; }

  template <class T>
  int constant(int tensor, const std::vector<T>& values) {
    auto buffer = std::make_unique<container::BufferT>();
    buffer->data.resize(values.size() * sizeof(T));
    if (!values.empty()) __builtin_memcpy(buffer->data.data(), values.data(), buffer->data.size());
    model_.buffers.push_back(std::move(buffer));
    at(tensor).buffer = static_cast<uint32_t>(model_.buffers.size()) - 1;
    return tensor;
  }

  // Options of operators are left out: kernels then take their defaults, where they have them.
  void op(int code, std::vector<int32_t> inputs, std::vector<int32_t> outputs, uint8_t options_type = 0) {
    auto entry = std::make_unique<container::OperatorCodeT>();
    entry->deprecated_builtin_code = static_cast<int8_t>(std::min(code, 127));
    entry->builtin_code = code;
    model_.operator_codes.push_back(std::move(entry));
    auto made = std::make_unique<container::OperatorT>();
    made->opcode_index = static_cast<uint32_t>(model_.operator_codes.size()) - 1;
    made->inputs = std::move(inputs);
    made->outputs = std::move(outputs);
    if (options_type != 0) {
      made->builtin_options_type = options_type;
      made->builtin_options = std::make_unique<container::OpaqueT>();
    }
    graph().operators.push_back(std::move(made));
  }

  void ports(std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
    graph().inputs = std::move(inputs);
    graph().outputs = std::move(outputs);
  }

  Path save(const Path& folder, const std::string& stem = "tiny", const std::string& behind = {}) const {
    flatbuffers::FlatBufferBuilder builder;
    container::FinishModelBuffer(builder, container::Model::Pack(builder, &model_));
    const Path path = folder / (stem + ".tflite");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(builder.GetBufferPointer()),
              static_cast<std::streamsize>(builder.GetSize()));
    out << behind;
    return path;
  }

 private:
  container::ModelT model_;
};

}  // namespace paritas::tflite
