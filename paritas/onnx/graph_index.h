// What produces and consumes each tensor of the main graph, in topological order. Bodies of If, Loop and Scan are not
// taken apart: the outer tensors that they read ("captures") count as inputs of the node that holds them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "paritas/onnx/model.h"

namespace paritas::onnx_model {

class GraphIndex {
 public:
  // Fails for a graph that is not in single-assignment form (bodies included), has a cycle, or reads a tensor that
  // nothing makes. Node names may repeat, as they may in files: the first output of a node is what identifies it.
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

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using NameSet = std::unordered_set<std::string, Hash, std::equal_to<>>;

  Status add_names(const Model& model);
  Status add_node(const Model& model, int proto_index);
  Status link(const Model& model);
  Status sort(const Model& model);

  std::vector<Node> nodes_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  NameSet initializers_;
  NameSet input_set_;
  NameSet output_set_;
  std::unordered_map<std::string, int, Hash, std::equal_to<>> producer_;
  std::unordered_map<std::string, std::vector<int>, Hash, std::equal_to<>> consumers_;
};

// Which tensors depend on the values of the graph inputs. Shape and Size cut the dependence when the shape itself does
// not depend on values (all graph inputs have fixed shapes); shapes depend on values behind NonZero, NonMaxSuppression,
// Compress, Unique, and where a shape operand (Reshape, Expand, Slice, Range, Tile, Pad, Resize, ConstantOfShape,
// OneHot, TopK's k ...) depends on values. Random operators count as depending on values, operators that we do not know
// as giving shapes that depend on values. Both branches of an If are followed; Loop and Scan depend on values as soon
// as anything that they read does.
struct ValueDependence {
  std::unordered_set<std::string> tensors;  // those that depend on values
  bool depends(const std::string& tensor) const { return tensors.count(tensor) != 0; }
};
ValueDependence value_dependence(const Model& model, const GraphIndex& index);

// Which tensors depend on the values that some nodes of the main graph make, and on nothing else: graph inputs count as
// constants.
ValueDependence dependence_on_nodes(const Model& model, const GraphIndex& index,
                                    const std::function<bool(const ::onnx::NodeProto&)>& is_source);

}  // namespace paritas::onnx_model
