// Softmax and normalisations in a graph, as one operator or taken apart by an exporter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/onnx/graph_index.h"

namespace paritas {

struct SoftmaxSite {
  std::vector<int> nodes;  // indices into GraphIndex::nodes(), ascending; the last makes `tensor`
  std::string tensor;
  bool decomposed = false;
  std::optional<std::vector<int64_t>> axes;  // as given; nullopt: all
  bool to_the_end = false;                   // opset below 13: the axis and all behind it
};

struct NormSite {
  std::vector<int> nodes;
  std::string tensor;
  bool decomposed = false;
  bool centred = false;                                    // the mean is taken off
  std::optional<std::vector<int64_t>> axes;                // as given; nullopt: all
  bool to_the_end = false;                                 // the axis and all behind it
  std::string scale, bias;                                 // tensors of the operator; empty: none
  std::vector<std::pair<std::string, std::string>> steps;  // role, tensor
};

std::vector<SoftmaxSite> find_softmax(const onnx_model::Model& model, const onnx_model::GraphIndex& index);
std::vector<NormSite> find_norms(const onnx_model::Model& model, const onnx_model::GraphIndex& index);

// Axes within the rank, ascending; empty when they do not fit it.
std::vector<int> resolved_axes(const std::optional<std::vector<int64_t>>& axes, bool to_the_end, size_t rank);
// All others.
std::vector<int> other_axes(const std::vector<int>& axes, size_t rank);

// Value of an initialiser or a Constant; an error when `name` is neither.
Result<Tensor> constant_value(const onnx_model::Model& model, const onnx_model::GraphIndex& index,
                              const std::string& name);

}  // namespace paritas
