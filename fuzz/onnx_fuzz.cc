// The ONNX loader on arbitrary bytes: an error or a model, never a crash, a hang, or memory by claim. What loads must
// survive the graph index, the dependence analysis, a read of every tensor, and the edits.
#include <cstddef>
#include <cstdint>
#include <span>

#include "paritas/onnx/edit.h"

namespace {

using namespace paritas;
using namespace paritas::onnx_model;

void read_tensors(const Model& model) {
  for (const auto& initializer : model.graph().initializer()) {
    const auto tensor = model.tensor(initializer);
    if (tensor && tensor->bytes.size() != byte_size(tensor->dtype, tensor->count())) __builtin_trap();
  }
}

void check_index(const Result<Model>& edited) {
  if (edited && !GraphIndex::build(*edited)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = Model::parse(std::as_bytes(std::span(data, size)), "/nonexistent", "fuzz");
  if (!model) return 0;
  read_tensors(*model);
  const auto index = GraphIndex::build(*model);
  if (!index) return 0;
  const ValueDependence dependence = value_dependence(*model, *index);
  constant_frontier(*model, *index, dependence);
  std::vector<std::string> tensors;
  for (const auto& node : index->nodes())
    for (const auto& output : node.outputs) tensors.push_back(output);
  check_index(mark_outputs(*model, tensors));
  check_index(extract(*model, index->inputs(), index->outputs(), {}));
  Interpose what;
  what.op_type = "Round";
  what.domain = "paritas";
  what.graph_inputs = what.initializers = what.node_outputs = true;
  check_index(interpose(*model, what));
  return 0;
}
