// From names of ONNX Runtime's optimised graph back to nodes of the model. What the rules do not tell is not guessed.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "paritas/onnx/graph_index.h"

namespace paritas {

class NameMap {
 public:
  explicit NameMap(const onnx_model::GraphIndex& index);

  // Nodes of the model (indices into GraphIndex::nodes()) that a node of the optimised graph stands for; empty when
  // none, or when a name fits several. Rules, in order: equal name; "X_token_N" -> X (a copy that the optimiser made);
  // "X_new_reshape" -> X; "X/MatMulAddFusion" -> X and the Add that reads it; "X/SomethingFusion/" and "X/duplicated"
  // -> X; "T_nchwc" (a node in blocked layout) -> the node that makes the tensor T, and what was fused into it back to
  // the convolution.
  std::vector<int> find(const std::string& optimised) const;
  // The same by the rule for blocked layout alone; empty: it is not such a name.
  std::vector<int> in_blocked_layout(const std::string& optimised) const;
  // "Add_7", as profiles call nodes without a name: the eighth of the graph (Constant nodes left out), if it is an Add;
  // else -1. Only for a session of the very file: an edit counts anew.
  int numbered(const std::string& optimised) const;
  // By its own name only; -1 where no node has it, or several.
  int exact(const std::string& name) const;
  // A name that several nodes of the model have, or one made from it by the rules: which of them is meant, nobody
  // knows.
  bool is_ambiguous(const std::string& optimised) const;
  // Names that were joined by ";" and split again: a name of the model may hold ";" itself, so pieces are put together
  // where only that gives a name that is known. `unknown` counts the pieces that are left.
  std::vector<int> find_joined(const std::vector<std::string>& pieces, size_t* unknown = nullptr) const;

 private:
  // What a name may be short for, in the order of the rules; behind "/MatMulAddFusion" stands that of a MatMul.
  static std::vector<std::string> candidates(const std::string& optimised);
  std::vector<int> with_add(int matmul) const;
  void add_numbered();

  const onnx_model::GraphIndex& index_;
  std::unordered_map<std::string, int> by_name_;
  std::unordered_set<std::string> ambiguous_;
  std::unordered_map<std::string, int> numbered_;  // nodes without a name
  std::vector<bool> constant_;                     // nodes made of initialisers and constants alone
};

// Names that ONNX Runtime and its providers make for nodes of their own: "gemm_input_reshape_token_7",
// "Transpose_token_417", "ReorderOutput". They stand for no node of any model.
bool is_made_up(const std::string& optimised);

}  // namespace paritas
