#include "paritas/locate/prepare.h"

#include <unordered_set>

#include <fmt/format.h>

namespace paritas {
namespace {

// A folded constant may not blow up the model: larger ones are left to be computed.
constexpr uint64_t kMaxFoldedBytes = uint64_t{256} << 20;

}  // namespace

Result<Prepared> prepare(const onnx_model::Model& model, const NamedTensors& inputs, Runner& reference) {
  PARITAS_ASSIGN(auto index, onnx_model::GraphIndex::build(model));
  const auto dependence = onnx_model::value_dependence(model, index);
  auto frontier = onnx_model::constant_frontier(model, index, dependence);
  // Dequantised weights stay as they are: a quantised operator is one because a DequantizeLinear stands before it, and
  // on float constants a device would compute in floating point what it computes in integers when deployed.
  std::erase_if(frontier, [&](const std::string& tensor) {
    const int producer = index.producer(tensor);
    return producer >= 0 && index.nodes()[static_cast<size_t>(producer)].op == "DequantizeLinear";
  });
  const std::unordered_set<std::string> wanted(frontier.begin(), frontier.end());

  std::map<std::string, Tensor> constants;
  std::unordered_map<std::string, Tensor> outputs;
  {
    PARITAS_ASSIGN(auto marked, onnx_model::mark_outputs(model, frontier));
    PARITAS_ASSIGN(Session session, reference.open(marked));
    std::vector<std::string> fetch;  // sequences and other values that are not tensors stay computed
    for (const PortInfo& port : session.info().outputs)
      if (port.dtype) fetch.push_back(port.name);
    PARITAS_ASSIGN(RunReply reply, session.run(inputs, fetch));
    for (auto& [name, tensor] : reply.outputs) {
      if (wanted.count(name) != 0 && tensor.bytes.size() <= kMaxFoldedBytes) constants.emplace(name, tensor);
      if (index.is_output(name)) outputs.emplace(name, tensor);
    }
  }
  std::vector<std::string> notes;
  if (constants.size() < frontier.size())
    notes.push_back(fmt::format("{} of {} constant tensors were left to be computed (too large, or not tensors)",
                                frontier.size() - constants.size(), frontier.size()));
  PARITAS_ASSIGN(auto folded, onnx_model::replace_by_constants(model, constants));
  PARITAS_ASSIGN(auto folded_index, onnx_model::GraphIndex::build(folded));
  auto folded_dependence = onnx_model::value_dependence(folded, folded_index);
  return Prepared{std::move(folded), std::move(folded_index), std::move(folded_dependence), std::move(outputs),
                  std::move(notes)};
}

}  // namespace paritas
