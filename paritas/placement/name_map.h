// From names of ONNX Runtime's optimised graph back to nodes of the model. What the rules do not tell is not guessed.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/onnx/graph_index.h"

namespace paritas {

class NameMap {
 public:
  explicit NameMap(const onnx_model::GraphIndex& index);

  // Nodes of the model (indices into GraphIndex::nodes()) that a node of the optimised graph stands for; empty when
  // none. Rules, in order: equal name; "X_token_N" -> X (a copy that the optimiser made); "X_new_reshape" -> X;
  // "X/MatMulAddFusion" -> X and the Add that reads it.
  std::vector<int> find(const std::string& optimised) const;
  // By its own name only.
  int exact(const std::string& name) const;
  // Names that were joined by ";" and split again: a name of the model may hold ";" itself, so pieces are put together
  // where only that gives a name that is known. `unknown` counts the pieces that are left.
  std::vector<int> find_joined(const std::vector<std::string>& pieces, size_t* unknown = nullptr) const;

 private:
  std::vector<int> with_add(int matmul) const;

  const onnx_model::GraphIndex& index_;
  std::unordered_map<std::string, int> by_name_;
};

// Names that ONNX Runtime and its providers make for nodes of their own: "gemm_input_reshape_token_7",
// "Transpose_token_417". They stand for no node of any model.
bool is_made_up(const std::string& optimised);

}  // namespace paritas
