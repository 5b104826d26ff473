// What produces and consumes each tensor of the main graph, in topological order. Bodies of If, Loop and Scan are not
// taken apart: the outer tensors that they read ("captures") count as inputs of the node that holds them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "paritas/onnx/model.h"

namespace paritas::onnx_model {

class GraphIndex {
 public:
  // Fails for a graph that is not in single-assignment form, has a cycle, or reads a tensor that nothing makes.
  static Result<GraphIndex> build(const Model& model);

  struct Node {
    int proto_index = 0;                // position in graph().node()
    std::string name;                   // as in the model; for nameless nodes the first output's name
    std::string op;                     // op type, "com.microsoft::Gelu" for other domains than ai.onnx
    std::vector<std::string> inputs;    // without empty ones
    std::vector<std::string> captures;  // outer tensors read by its bodies
    std::vector<std::string> outputs;   // without empty ones
  };
  const std::vector<Node>& nodes() const;          // topological order
  const std::vector<std::string>& inputs() const;  // graph inputs that are not initialisers
  const std::vector<std::string>& outputs() const;
  bool is_initializer(std::string_view tensor) const;
  bool is_input(std::string_view tensor) const;
  bool is_output(std::string_view tensor) const;
  // Index into nodes(), or -1.
  int producer(std::string_view tensor) const;
  const std::vector<int>& consumers(std::string_view tensor) const;

  // private data below (implementation detail, may be changed freely)
 private:
  std::vector<Node> nodes_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::unordered_set<std::string> initializers_;
  std::unordered_set<std::string> input_set_;
  std::unordered_set<std::string> output_set_;
  std::unordered_map<std::string, int> producer_;
  std::unordered_map<std::string, std::vector<int>> consumers_;
};

// Which tensors depend on the values of the graph inputs. Shape and Size cut the dependence when the shape itself does not
// depend on values (all graph inputs have fixed shapes); shapes depend on values behind NonZero, NonMaxSuppression,
// Compress, Unique, and where a shape operand (Reshape, Expand, Slice, Range, Tile, Pad, Resize, ConstantOfShape, OneHot,
// TopK's k ...) depends on values. Random operators count as depending on values.
struct ValueDependence {
  std::unordered_set<std::string> tensors;  // those that depend on values
  bool depends(const std::string& tensor) const { return tensors.count(tensor) != 0; }
};
ValueDependence value_dependence(const Model& model, const GraphIndex& index);

}  // namespace paritas::onnx_model
