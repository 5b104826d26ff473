// Graph edits. Each takes a model and gives a new one; the given model is never changed. Nothing is evaluated here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/model.h"

namespace paritas::onnx_model {

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
};

// Model inputs as people must give them: initialisers that are also listed as inputs are left out.
struct InputInfo {
  std::string name;
  std::optional<DType> dtype;     // nullopt: not a tensor, or a type that we do not know
  std::vector<std::string> dims;  // "1", "batch", "?" for nameless free dimensions
  bool has_shape = false;
};
std::vector<InputInfo> describe_inputs(const Model& model);
std::vector<InputInfo> describe_outputs(const Model& model);

// Writes fixed shapes into the graph inputs (free dimensions pinned). `shapes` holds every input. Fails when a fixed
// dimension differs, naming input, expected and given shape. Removes value_info and output shapes that no longer need
// to hold. `pinned` receives "batch=1" for each free dimension, once.
Result<Model> pin_shapes(const Model& model, const std::map<std::string, Shape>& shapes,
                         std::vector<std::string>* pinned);

// Adds tensors to the graph outputs (in the given order, behind the existing ones; existing outputs are not repeated).
// Types may be left out: ONNX Runtime infers them.
Result<Model> mark_outputs(const Model& model, const std::vector<std::string>& tensors);

// Gives tensors other names: old -> new. Graph inputs and outputs keep theirs, and a new name must be taken nowhere,
// not even inside bodies.
Result<Model> rename_tensors(const Model& model, const std::map<std::string, std::string>& renames);

// The sub-graph between `inputs` and `outputs` with the constants that it needs. Inputs that it does not read are left
// out (describe_inputs tells); initialisers are no graph inputs any more. Fails when an output can be reached from a
// graph input without passing `inputs` (names the path's first tensor) or a name is unknown. Types of the new inputs
// must be given in `types` unless the model declares them.
Result<Model> extract(const Model& model, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const std::map<std::string, TensorType>& types);

// Replaces tensors by constants (initialisers of the same name); nodes and initialisers that nothing needs any more are
// removed. A replaced graph output keeps its name: an Identity writes it.
Result<Model> replace_by_constants(const Model& model, const std::map<std::string, Tensor>& constants);

// Makes the named tensors graph inputs: consumers read the fed value; the producing nodes stay when something else
// needs them. When such a tensor is itself a graph output, the output keeps its own computed value (under its own name)
// and the fed one gets the name given in the result.
struct Fed {
  Model model;
  std::map<std::string, std::string> feed_names;  // tensor -> name of the graph input that replaces it
};
Result<Fed> feed_tensors(const Model& model, const std::map<std::string, TensorType>& tensors);

// Tensors that value-independent parts hand to value-dependent ones or to graph outputs: what has to be evaluated once
// so that everything else of the constant part can go. Constant nodes need no evaluation and are left out, as are
// sequences, which no initialiser can hold. In graph order.
std::vector<std::string> constant_frontier(const Model& model, const GraphIndex& index,
                                           const ValueDependence& dependence);

// One island of the all-local graph.
struct Island {
  std::string name;                  // node name, or the group's name
  std::vector<int> nodes;            // indices into GraphIndex::nodes(), ascending
  std::vector<std::string> inputs;   // value-dependent tensors it reads from outside: to be fed
  std::vector<std::string> outputs;  // what it hands out (consumed outside or graph outputs)
};
Island single_node_island(const Model& model, const GraphIndex& index, const ValueDependence& dependence, int node);
// Fails when the set is not convex (a path leaves it and comes back).
Result<Island> group_island(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                            const std::string& name, const std::vector<int>& nodes);

// All given islands side by side in one model: each reads fed reference tensors under their own names, each output
// becomes a graph output: under its own name, or as "<name>__local" when the tensor is also fed. Islands must not share
// nodes. Node names are kept; nameless nodes get theirs from the index. Value-independent nodes that islands read and
// that were not replaced by constants before are copied with what they need (a tensor whose shape they ask for is fed).
struct AllLocal {
  Model model;
  std::map<std::string, std::string> feeds;  // graph input of the model -> reference tensor to feed
  std::map<std::string, std::string>
      outputs;  // reference tensor -> graph output of the model that holds the local result
};
Result<AllLocal> all_local(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                           const std::vector<Island>& islands, const std::map<std::string, TensorType>& types);

// Puts an operator of another domain behind tensors: used by the simulator (Round) and by taps and injection. Node
// outputs and initialisers are renamed to "<name>__paritas_raw" and the new node writes the original name, so that
// consumers, marks and graph outputs see its result. A graph input keeps its name: its consumers read
// "<name>__paritas_interposed" (a graph output that is the input itself stays what was fed). Bodies of If, Loop and
// Scan are entered, model-local functions are not. Left alone: tensors that are certainly no floating-point tensors,
// and those that decide shapes (the scales of Resize), which are parameters rather than data; where types are not known
// the operator must take any tensor.
struct Interpose {
  std::string op_type;
  std::string domain;
  bool graph_inputs = false;
  bool initializers = false;  // and Constant nodes are node outputs
  bool node_outputs = false;
  std::vector<::onnx::AttributeProto> attributes;
  // Called with the tensor's name (main graph) or "" inside bodies; empty: every tensor.
  std::function<bool(const std::string& tensor)> wanted;
  // Nodes of the main graph, by their first output, that keep what they read and write as it is, bodies included.
  std::function<bool(const std::string& first_output)> untouched;
};
Result<Model> interpose(const Model& model, const Interpose& what);

// Prepares nodes for another treatment than the rest of the graph gets: they read copies of the constants, and all
// other nodes read their results through Identity nodes. So whatever is interposed at the others' constants and tensors
// does not reach them, and what they hand to the others can be interposed. Graph outputs that they make stay theirs.
struct SetApart {
  Model model;
  std::unordered_set<std::string> first_outputs;  // of the nodes set apart, with the Constant nodes made for them
  std::unordered_set<std::string> constants;      // copies made for them
};
Result<SetApart> set_apart(const Model& model, const std::unordered_set<std::string>& first_outputs);

}  // namespace paritas::onnx_model
