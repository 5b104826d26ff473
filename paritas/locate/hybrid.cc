#include "paritas/locate/hybrid.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/placement/node_table.h"

namespace paritas {
namespace {

// Compiled device contexts may hold hundreds of MB each. More are kept only when one hybrid has more parts: all samples
// run in the sessions that the first of them opened.
constexpr size_t kOpenSessions = 6;

bool depends(const onnx_model::GraphIndex::Node& node, const onnx_model::ValueDependence& dependence) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](const std::string& output) { return dependence.depends(output); });
}

// The turn of each node: even turns are the device's, odd ones the reference's; -1: not value-dependent.
std::vector<int> turns(const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                       const std::vector<bool>& on_reference) {
  std::vector<int> turn(index.nodes().size(), -1);
  for (size_t i = 0; i < turn.size(); ++i) {
    const auto& node = index.nodes()[i];
    if (!depends(node, dependence)) continue;
    turn[i] = on_reference[i] ? 1 : 0;
    for (const auto* reads : {&node.inputs, &node.captures})
      for (const std::string& tensor : *reads) {
        const int before = index.producer(tensor);
        if (before < 0 || turn[static_cast<size_t>(before)] < 0) continue;
        const auto producer = static_cast<size_t>(before);
        const bool same = on_reference[producer] == on_reference[i];
        turn[i] = std::max(turn[i], turn[producer] + (same ? 0 : 1));
      }
  }
  return turn;
}

void add_once(std::vector<std::string>& names, std::unordered_set<std::string>& seen, const std::string& name) {
  if (seen.insert(name).second) names.push_back(name);
}

}  // namespace

std::vector<HybridPart> hybrid_parts(const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                                     const std::vector<bool>& on_reference) {
  const std::vector<int> turn = turns(index, dependence, on_reference);
  const int last = turn.empty() ? -1 : *std::max_element(turn.begin(), turn.end());
  std::vector<HybridPart> parts(static_cast<size_t>(last + 1));
  std::vector<std::unordered_set<std::string>> read(parts.size());
  for (size_t t = 0; t < parts.size(); ++t) parts[t].on_reference = t % 2 == 1;
  for (size_t i = 0; i < turn.size(); ++i) {
    if (turn[i] < 0) continue;
    const auto t = static_cast<size_t>(turn[i]);
    HybridPart& part = parts[t];
    part.nodes.push_back(static_cast<int>(i));
    const auto& node = index.nodes()[i];
    for (const auto* reads : {&node.inputs, &node.captures})
      for (const std::string& tensor : *reads) {
        if (!dependence.depends(tensor)) continue;
        const int producer = index.producer(tensor);
        if (producer < 0 || turn[static_cast<size_t>(producer)] != turn[i]) add_once(part.inputs, read[t], tensor);
      }
    for (const std::string& output : node.outputs) {
      if (!dependence.depends(output)) continue;
      const auto& consumers = index.consumers(output);
      const bool elsewhere = std::any_of(consumers.begin(), consumers.end(), [&](int consumer) {
        const int at = turn[static_cast<size_t>(consumer)];
        return at >= 0 && at != turn[i];
      });
      if (elsewhere || index.is_output(output)) part.outputs.push_back(output);
    }
  }
  std::erase_if(parts, [](const HybridPart& part) { return part.outputs.empty(); });
  return parts;
}

Result<HybridRun> Hybrids::run(const std::vector<bool>& on_reference, const NamedTensors& inputs) {
  return one_graph_ ? run_in_one_graph(on_reference, inputs) : run_in_parts(on_reference, inputs);
}

Result<HybridRun> Hybrids::run_in_one_graph(const std::vector<bool>& on_reference, const NamedTensors& inputs) {
  HybridRun run;
  run.device_parts = 1;
  most_open_ = kOpenSessions;
  std::unordered_set<std::string> exact;
  Sha256 key;
  const auto& nodes = prepared_.index.nodes();
  for (size_t i = 0; i < nodes.size(); ++i)
    if (on_reference[i] && depends(nodes[i], prepared_.dependence)) {
      exact.insert(prepared_.folded.graph().node(nodes[i].proto_index).output(0));
      key.update(std::as_bytes(std::span(&i, 1)));
    }
  const std::string name = key.finish();
  auto it = std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.key == name; });
  if (it == open_.end()) {
    PARITAS_ASSIGN(Session session, device_.open_hybrid(prepared_.folded, exact));
    ++device_sessions_;
    ++run.device_sessions;
    PARITAS_TRY(keep({name, std::move(session), {}}));
  } else {
    open_.splice(open_.begin(), open_, it);
  }
  PARITAS_ASSIGN(RunReply reply, open_.front().session.run(inputs));
  run.outputs = std::move(reply.outputs);
  return run;
}

Result<HybridRun> Hybrids::run_in_parts(const std::vector<bool>& on_reference, const NamedTensors& inputs) {
  HybridRun run;
  Known known;
  for (const auto& [name, tensor] : inputs) known.emplace(name, tensor);
  const auto parts = hybrid_parts(prepared_.index, prepared_.dependence, on_reference);
  most_open_ = std::max(kOpenSessions, parts.size());
  for (const HybridPart& part : parts) PARITAS_TRY(run_part(part, known, run));
  PARITAS_TRY(collect(known, run));
  return run;
}

Status Hybrids::run_part(const HybridPart& part, Known& known, HybridRun& run) {
  PARITAS_ASSIGN(Open * open, session_of(part, known, run));
  NamedTensors feeds;
  for (const PortInfo& port : open->session.info().inputs) {
    const auto tensor = known.find(port.name);
    if (tensor == known.end())
      return input_error(prepared_.folded.subject(), fmt::format("no earlier part made \"{}\"", port.name));
    feeds.emplace_back(port.name, tensor->second);
  }
  PARITAS_ASSIGN(RunReply reply, open->session.run(feeds));
  for (auto& [name, tensor] : reply.outputs) known.insert_or_assign(name, std::move(tensor));
  if (!part.on_reference) {
    ++run.device_parts;
    run.elsewhere.insert(run.elsewhere.end(), open->elsewhere.begin(), open->elsewhere.end());
  }
  return {};
}

Result<Hybrids::Open*> Hybrids::session_of(const HybridPart& part, const Known& known, HybridRun& run) {
  Sha256 hash;
  for (const int node : part.nodes) hash.update(std::as_bytes(std::span(&node, 1)));
  std::string key = (part.on_reference ? "reference " : "device ") + hash.finish();
  for (const std::string& output : part.outputs) key += " " + output;
  auto it = std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.key == key; });
  if (it != open_.end()) {
    open_.splice(open_.begin(), open_, it);
    return &open_.front();
  }
  std::map<std::string, onnx_model::TensorType> types;
  for (const std::string& input : part.inputs) {
    if (const auto tensor = known.find(input); tensor != known.end())
      types[input] = {tensor->second.dtype, tensor->second.shape};
  }
  PARITAS_ASSIGN(const auto model, onnx_model::extract(prepared_.folded, part.inputs, part.outputs, types));
  PARITAS_ASSIGN(Session session, (part.on_reference ? reference_ : device_).open(model));
  std::vector<std::string> elsewhere;
  if (!part.on_reference) {
    ++device_sessions_;
    ++run.device_sessions;
    const SessionInfo& info = session.info();
    elsewhere = node_table(device_.target().provider, info.assignment, info.partitions, prepared_.index).elsewhere;
  }
  return keep({std::move(key), std::move(session), std::move(elsewhere)});
}

Result<Hybrids::Open*> Hybrids::keep(Open open) {
  while (open_.size() >= most_open_) open_.pop_back();
  open_.push_front(std::move(open));
  return &open_.front();
}

// Outputs that no part makes do not depend on the inputs: the reference's.
Status Hybrids::collect(const Known& known, HybridRun& run) const {
  for (const std::string& output : prepared_.index.outputs()) {
    if (auto it = known.find(output); it != known.end()) {
      run.outputs.emplace_back(output, it->second);
    } else if (auto constant = prepared_.outputs.find(output); constant != prepared_.outputs.end()) {
      run.outputs.emplace_back(output, constant->second);
    } else {
      return input_error(prepared_.folded.subject(), fmt::format("output \"{}\" was not computed by any part", output));
    }
  }
  return {};
}

}  // namespace paritas
