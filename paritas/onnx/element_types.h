// Element types of tensors as far as they can be told without shape inference: from declarations, from constants, and
// through operators whose output type follows from an input. Never wrong for a valid model, often unknown.
#pragma once

#include <string>
#include <unordered_map>

#include <paritas_onnx_proto/onnx-ml.pb.h>

namespace paritas::onnx_model {

class ElementTypes {
 public:
  static constexpr int kUnknown = 0;     // TensorProto.UNDEFINED
  static constexpr int kNotTensor = -1;  // a sequence, map or optional

  // `outer`: types of the graph around a body; must outlive this object. Nodes must be in order.
  explicit ElementTypes(const ::onnx::GraphProto& graph, const ElementTypes* outer = nullptr);

  // A value of TensorProto.DataType, kUnknown or kNotTensor.
  int of(const std::string& tensor) const;
  // False only when the tensor certainly holds no floating-point numbers.
  bool may_be_float(const std::string& tensor) const;

 private:
  void declare(const ::onnx::ValueInfoProto& info);
  void add_node(const ::onnx::NodeProto& node);
  bool add_control_flow(const ::onnx::NodeProto& node);

  const ElementTypes* outer_;
  std::unordered_map<std::string, int> types_;
};

}  // namespace paritas::onnx_model
