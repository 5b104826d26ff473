// Small models for tests, built with the protobuf API and taken through Model::parse. Not for the library.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/model.h"

namespace paritas::onnx_model::testing {

inline Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

inline Tensor int64s(const std::vector<int64_t>& values) {
  return tensor_from_values(DType::kI64, {static_cast<int64_t>(values.size())}, values);
}

// Fills a GraphProto: of a model, or of a body.
class GraphBuilder {
 public:
  using Names = std::vector<std::string>;

  // Dimensions: -1 is free ("n").
  GraphBuilder& input(const std::string& name, const Shape& shape = {2, 2}, DType dtype = DType::kF32) {
    declare(*graph_.add_input(), name, shape, dtype);
    return *this;
  }
  GraphBuilder& output(const std::string& name) {
    graph_.add_output()->set_name(name);
    return *this;
  }
  GraphBuilder& initializer(const std::string& name, const Tensor& value) {
    *graph_.add_initializer() = proto_from_tensor(name, value).value();
    return *this;
  }
  // A node named like its operator and first output ("Add:y"), or nameless.
  GraphBuilder& node(const std::string& op, const Names& inputs, const Names& outputs, bool named = true) {
    auto* node = graph_.add_node();
    node->set_op_type(op);
    if (named) node->set_name(op + ":" + outputs.front());
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    return *this;
  }
  GraphBuilder& body(const std::string& attribute, const GraphBuilder& body) {
    auto* added = last().add_attribute();
    added->set_name(attribute);
    added->set_type(::onnx::AttributeProto::GRAPH);
    *added->mutable_g() = body.graph_;
    return *this;
  }
  GraphBuilder& attribute(const std::string& name, int64_t value) {
    auto* added = last().add_attribute();
    added->set_name(name);
    added->set_type(::onnx::AttributeProto::INT);
    added->set_i(value);
    return *this;
  }
  GraphBuilder& seed(float value) {
    auto* added = last().add_attribute();
    added->set_name("seed");
    added->set_type(::onnx::AttributeProto::FLOAT);
    added->set_f(value);
    return *this;
  }
  GraphBuilder& constant(const std::string& output, const Tensor& value) {
    node("Constant", {}, {output});
    auto* added = last().add_attribute();
    added->set_name("value");
    added->set_type(::onnx::AttributeProto::TENSOR);
    *added->mutable_t() = proto_from_tensor("", value).value();
    return *this;
  }
  ::onnx::NodeProto& last() { return *graph_.mutable_node(graph_.node_size() - 1); }
  ::onnx::GraphProto& graph() { return graph_; }

  ::onnx::ModelProto proto(int64_t ir = 8, int64_t opset = 17) const {
    ::onnx::ModelProto model;
    model.set_ir_version(ir);
    model.add_opset_import()->set_version(opset);
    *model.mutable_graph() = graph_;
    return model;
  }
  // Fails the test when the model does not parse.
  Model model(int64_t ir = 8) const;

 private:
  static void declare(::onnx::ValueInfoProto& info, const std::string& name, const Shape& shape, DType dtype) {
    info.set_name(name);
    auto* type = info.mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx_code(dtype));
    for (const int64_t dim : shape) {
      auto* added = type->mutable_shape()->add_dim();
      if (dim < 0)
        added->set_dim_param("n");
      else
        added->set_dim_value(dim);
    }
    type->mutable_shape();
  }

  ::onnx::GraphProto graph_;
};

inline Result<Model> parse(const ::onnx::ModelProto& proto, const Path& folder = ".") {
  const std::string bytes = proto.SerializeAsString();
  return Model::parse(std::as_bytes(std::span(bytes)), folder, "test.onnx");
}

// For expressions that must succeed; a failure names the error and ends the test program, since there is nothing to go
// on with.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
  return std::move(*result);
}

inline Model GraphBuilder::model(int64_t ir) const { return must(parse(proto(ir))); }

inline std::vector<std::string> node_names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) names.push_back(node.name());
  return names;
}

template <class Infos>
std::vector<std::string> names_of(const Infos& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.push_back(info.name());
  return names;
}

// nullptr: no node makes it.
inline const ::onnx::NodeProto* maker_of(const ::onnx::GraphProto& graph, const std::string& tensor) {
  for (const auto& node : graph.node())
    for (const auto& output : node.output())
      if (output == tensor) return &node;
  return nullptr;
}

inline std::vector<std::string> inputs_of(const ::onnx::NodeProto& node) {
  return {node.input().begin(), node.input().end()};
}

}  // namespace paritas::onnx_model::testing
