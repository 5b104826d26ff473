// Figures from evidence: the rows of the node table and of the outputs.
#pragma once

#include "paritas/locate/evidence.h"
#include "paritas/locate/types.h"

namespace paritas {

// One row per value-dependent tensor that a node makes, in graph order.
Result<std::vector<NodeRow>> make_rows(const Evidence& evidence, std::optional<DType> storage, int threads);

// Whether an output's values are names: class ids, indices, counts. 8-bit and 16-bit integers may be quantised values.
bool are_names(DType type);

// Graph outputs of any run against the reference's, judged by the gates; nothing is said about decisions.
struct OutputsOf {
  const onnx_model::GraphIndex* index = nullptr;
  const std::unordered_map<std::string, Tensor>* reference = nullptr;
  const NamedTensors* device = nullptr;
};
Result<std::vector<OutputRow>> judge_outputs(const OutputsOf& outputs, const GateSet& gates,
                                             std::optional<DType> storage, int threads);

// Final outputs of the unmarked device run against the reference, judged by the gates.
Result<std::vector<OutputRow>> make_outputs(const Evidence& evidence, const GateSet& gates,
                                            std::optional<DType> storage, int threads);

// Largest value of every float output without and with marks.
Result<std::vector<ProbeEffect>> make_probe_effect(const Evidence& evidence);

}  // namespace paritas
