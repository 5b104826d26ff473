// Cuts: sets of tensors at which a model is split into a front and a rear half. Names are resolved, the set is checked
// to separate the graph, and both halves are extracted. Nothing is evaluated here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/onnx/edit.h"

namespace paritas::onnx_model {

// A cut as people write it.
struct CutSpec {
  std::string name;                   // empty: none was given
  std::vector<std::string> patterns;  // each a tensor's name, a unique suffix of one, or a regular expression
};

// "T1,T2" or "NAME=T1,T2". A comma inside (), [] or {} belongs to a regular expression, "\," to a name. What stands
// before "=" is a name when it holds nothing but letters, digits, "_", "-" and ".".
Result<CutSpec> parse_cut(const std::string& text, const std::string& subject);

// The tensor that a pattern means: the one of that name; else the only one whose name ends in the pattern; else the
// only one in whose name the regular expression is found. Candidates are graph inputs and results of nodes that depend
// on input values. Anything but one match is an error that lists the matches.
Result<std::string> resolve_tensor(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                                   const std::string& pattern, const std::string& subject);

// A set of tensors that separates the graph: whatever the outputs need from the graph inputs that feed the front half
// passes through it. A graph input that both halves need is part of the cut. Lists are in graph order.
struct Cut {
  std::string name;
  std::vector<std::string> tensors;
  std::vector<std::string> unread;        // of `tensors`: those that the rear half does not read
  std::vector<std::string> front_inputs;  // graph inputs that the front half reads
  std::vector<std::string> rear_inputs;   // graph inputs that only the rear half reads
  std::vector<std::string>
      front_outputs;  // graph outputs that the front half makes, that are in the cut, or that are inputs
  std::vector<std::string> rear_outputs;
  // Tensors that do not depend on input values, but are made from a tensor of the other half (its shape): the caller
  // evaluates them, and they become constants.
  std::vector<std::string> constants;
  int front_nodes = 0, rear_nodes = 0;  // nodes that depend on input values
};

// Checks tensors (resolved names). Errors: a tensor that is constant or a dead end, a front or rear half that is empty,
// a path that goes round the cut (which is said, with the tensors that are missing). `model` has fixed shapes.
// `carry_inputs`: graph inputs that both halves need become part of the cut instead of an error.
Result<Cut> check_cut(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                      const std::string& name, const std::vector<std::string>& tensors, const std::string& subject,
                      bool carry_inputs = false);

// resolve_tensor for each pattern, then check_cut. Two patterns that mean one tensor are an error.
Result<Cut> resolve_cut(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                        const CutSpec& spec, const std::string& subject);

struct Halves {
  Model front;  // outputs: cut tensors that are no graph inputs, then front_outputs that are no cut tensors
  Model rear;   // inputs: cut tensors that it reads, then rear_inputs; outputs: rear_outputs
};

// `types`: of the cut tensors, as a reference run gave them. `constants`: values of cut.constants. Constants of the
// model, and what is computed from them alone, go to each half that needs them.
Result<Halves> extract_halves(const Model& model, const Cut& cut, const std::map<std::string, TensorType>& types,
                              const std::map<std::string, Tensor>& constants);

}  // namespace paritas::onnx_model
