#include "paritas/locate/local_probes.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>

#include <fmt/format.h>

#include "paritas/locate/round_boundary.h"

namespace paritas {
namespace {

using onnx_model::Island;

class Probing {
 public:
  Probing(Runner& runner, const ProbeRequest& request) : runner_(runner), request_(request) {
    for (const auto& [name, tensor] : *request.reference) types_[name] = {tensor.dtype, tensor.shape};
    result_.placement.requested = runner.target().provider;
  }

  Result<Probes> run() {
    const auto start = std::chrono::steady_clock::now();
    std::deque<std::vector<Island>> queue = split();
    while (!queue.empty()) {
      auto islands = std::move(queue.front());
      queue.pop_front();
      if (result_.sessions >= request_.max_sessions) {
        for (const Island& island : islands)
          result_.not_probed.emplace(
              island.name, fmt::format("too many sessions were needed (the last refusal: {})", last_refusal_));
        continue;
      }
      ++result_.sessions;
      auto done = run_chunk(islands);
      if (done) continue;
      last_refusal_ = done.error().cause;
      if (islands.size() == 1) {
        result_.not_probed.emplace(islands.front().name, done.error().cause);
        continue;
      }
      const auto middle = islands.begin() + static_cast<std::ptrdiff_t>(islands.size() / 2);
      queue.emplace_back(middle, islands.end());
      queue.emplace_front(islands.begin(), middle);
    }
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  uint64_t bytes_of(const std::string& tensor) const {
    auto it = request_.reference->find(tensor);
    return it == request_.reference->end() ? 0 : it->second.bytes.size();
  }

  // Chunks whose fed tensors and results fit the budget together.
  std::deque<std::vector<Island>> split() {
    std::deque<std::vector<Island>> chunks;
    std::set<std::string> fed;
    uint64_t held = 0;
    for (const Island& island : request_.islands) {
      if (auto missing = missing_input(island); !missing.empty()) {
        result_.not_probed.emplace(island.name, fmt::format("the reference has no tensor \"{}\" to feed", missing));
        continue;
      }
      uint64_t bytes = 0;
      for (const auto& input : island.inputs)
        if (fed.count(input) == 0) bytes += bytes_of(input);
      for (const auto& output : island.outputs) bytes += bytes_of(output);
      if (chunks.empty() || (held + bytes > request_.memory_budget && !chunks.back().empty())) {
        chunks.emplace_back();
        fed.clear();
        held = 0;
      }
      chunks.back().push_back(island);
      fed.insert(island.inputs.begin(), island.inputs.end());
      held += bytes;
    }
    return chunks;
  }

  std::string missing_input(const Island& island) const {
    for (const auto& input : island.inputs)
      if (request_.reference->count(input) == 0) return input;
    return {};
  }

  Status run_chunk(const std::vector<Island>& islands) {
    const Prepared& prepared = *request_.prepared;
    PARITAS_ASSIGN(auto graph,
                   onnx_model::all_local(prepared.folded, prepared.index, prepared.dependence, islands, types_));
    if (request_.round_inputs) {
      PARITAS_ASSIGN(graph.model, round_boundary(graph.model, *request_.round_inputs));
    }
    PARITAS_ASSIGN(Session session, runner_.open(graph.model));
    NamedTensors feeds;
    for (const auto& [input, tensor] : graph.feeds) feeds.emplace_back(input, request_.reference->at(tensor));
    const auto refused = place(session.info(), islands);
    std::vector<std::string> fetch;
    std::unordered_map<std::string, std::string> tensor_of_output;
    for (const Island& island : islands) {
      if (refused.count(island.name) != 0) continue;
      for (const auto& tensor : island.outputs)
        if (auto it = graph.outputs.find(tensor); it != graph.outputs.end()) {
          fetch.push_back(it->second);
          tensor_of_output[it->second] = tensor;
        }
    }
    if (fetch.empty()) return {};
    PARITAS_ASSIGN(RunReply reply, session.run(feeds, fetch));
    for (auto& [output, tensor] : reply.outputs) result_.local.emplace(tensor_of_output[output], std::move(tensor));
    for (const auto& [name, reason] : refused) result_.not_probed.emplace(name, reason);
    return {};
  }

  // Records where each island ran; returns those that did not run on the requested provider alone.
  std::map<std::string, std::string> place(const SessionInfo& info, const std::vector<Island>& islands) {
    const std::string& requested = runner_.target().provider;
    const NodeTable table = node_table(requested, info.assignment, info.partitions, request_.prepared->index);
    merge_counts(table.counts);
    // A node of the optimised graph that has no counterpart here (a transpose that the provider put in) counts as on
    // the device when every node that ran elsewhere is identified.
    const bool elsewhere_known =
        std::all_of(info.assignment.begin(), info.assignment.end(), [&](const AssignedNode& n) {
          return n.provider == requested || !source_nodes(n.name, request_.prepared->index).empty();
        });
    std::map<std::string, std::string> refused;
    for (const Island& island : islands) {
      std::string where = elsewhere_known && !info.assignment.empty() ? requested : std::string();
      for (int node : island.nodes) {
        const std::string& provider = table.provider[static_cast<size_t>(node)];
        if (!provider.empty() && provider != requested) {
          where = provider;
          refused.emplace(island.name, fmt::format("its probe ran on {}", provider));
        } else if (!provider.empty() && where.empty()) {
          where = provider;
        }
      }
      if (where.empty() && runner_.target().capabilities.device)
        refused.emplace(island.name, "it is not known where its probe ran");
      result_.ran_on[island.name] = where;
    }
    return refused;
  }

  void merge_counts(const PlacementCounts& counts) {
    for (const auto& [provider, number] : counts.nodes) {
      auto it = std::find_if(result_.placement.nodes.begin(), result_.placement.nodes.end(),
                             [&p = provider](const auto& entry) { return entry.first == p; });
      if (it == result_.placement.nodes.end())
        result_.placement.nodes.emplace_back(provider, number);
      else
        it->second += number;
    }
    result_.placement.partitions += counts.partitions;
    if (result_.placement.evidence.empty()) result_.placement.evidence = counts.evidence;
  }

  Runner& runner_;
  const ProbeRequest& request_;
  std::map<std::string, onnx_model::TensorType> types_;
  std::string last_refusal_;
  Probes result_;
};

}  // namespace

std::vector<Island> choose_islands(const Prepared& prepared, const std::vector<IslandGroup>& groups,
                                   const std::unordered_map<std::string, onnx_model::TensorType>& types,
                                   std::vector<std::string>* refused) {
  const auto& nodes = prepared.index.nodes();
  auto makes_float = [&](int node) {
    for (const auto& output : nodes[static_cast<size_t>(node)].outputs)
      if (auto it = types.find(output); it != types.end() && is_float(it->second.dtype)) return true;
    return false;
  };
  auto value_dependent = [&](int node) {
    for (const auto& output : nodes[static_cast<size_t>(node)].outputs)
      if (prepared.dependence.depends(output)) return true;
    return false;
  };
  std::vector<Island> islands;
  std::vector<bool> grouped(nodes.size(), false);
  for (const IslandGroup& group : groups) {
    auto island =
        onnx_model::group_island(prepared.folded, prepared.index, prepared.dependence, group.name, group.nodes);
    if (!island || !std::all_of(group.nodes.begin(), group.nodes.end(), value_dependent)) {
      refused->push_back(group.name);
      continue;
    }
    for (int node : group.nodes) grouped[static_cast<size_t>(node)] = true;
    islands.push_back(std::move(*island));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int node = static_cast<int>(i);
    if (grouped[i] || !value_dependent(node) || !makes_float(node)) continue;
    islands.push_back(onnx_model::single_node_island(prepared.folded, prepared.index, prepared.dependence, node));
  }
  std::sort(islands.begin(), islands.end(),
            [](const Island& a, const Island& b) { return a.nodes.back() < b.nodes.back(); });
  return islands;
}

Result<Probes> run_probes(Runner& runner, const ProbeRequest& request) { return Probing(runner, request).run(); }

}  // namespace paritas
