// Hybrids: some nodes computed by the reference, the rest by the device. Where the target can switch off parts of one
// graph (the simulator), a hybrid is one session; else the graph is run in parts that take turns.
#pragma once

#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/locate/prepare.h"
#include "paritas/runtime/runner.h"

namespace paritas {

// One part of a hybrid: all nodes of a turn. Nodes that do not depend on input values belong to no part; parts take
// what they need of them along.
struct HybridPart {
  bool on_reference = false;
  std::vector<int> nodes;            // indices into GraphIndex::nodes(), ascending
  std::vector<std::string> inputs;   // value-dependent tensors from the graph inputs or earlier parts
  std::vector<std::string> outputs;  // read by later parts, or graph outputs
};

// The parts in the order in which they run: as few turns as the dependences allow. `on_reference`: one flag a node of
// the index. Parts that nothing needs are left out.
std::vector<HybridPart> hybrid_parts(const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                                     const std::vector<bool>& on_reference);

struct HybridRun {
  NamedTensors outputs;     // graph outputs, in the model's order
  int device_sessions = 0;  // opened for this run; those that were open already do not count
  int device_parts = 0;
  std::vector<std::string> elsewhere;  // nodes of the device's parts that ran on another provider, with it
};

// Keeps the last few sessions open, since searches come back to the same parts.
class Hybrids {
 public:
  // All must outlive this object. Both runners are used by no one else meanwhile.
  Hybrids(const Prepared& prepared, Runner& reference, Runner& device)
      : prepared_(prepared), reference_(reference), device_(device), one_graph_(device.makes_hybrids()) {}

  // Parts even where the target could do with one graph: what a real device would be given.
  void always_in_parts() { one_graph_ = false; }

  Result<HybridRun> run(const std::vector<bool>& on_reference, const NamedTensors& inputs);

  int device_sessions() const { return device_sessions_; }  // opened so far

 private:
  struct Open {
    std::string key;
    Session session;
    std::vector<std::string> elsewhere;
  };
  using Known = std::unordered_map<std::string, Tensor>;

  Result<HybridRun> run_in_one_graph(const std::vector<bool>& on_reference, const NamedTensors& inputs);
  Result<HybridRun> run_in_parts(const std::vector<bool>& on_reference, const NamedTensors& inputs);
  Status run_part(const HybridPart& part, Known& known, HybridRun& run);
  Result<Open*> session_of(const HybridPart& part, const Known& known, HybridRun& run);
  Result<Open*> keep(Open open);
  Status collect(const Known& known, HybridRun& run) const;

  const Prepared& prepared_;
  Runner& reference_;
  Runner& device_;
  bool one_graph_;
  std::list<Open> open_;  // most recently used first
  size_t most_open_ = 0;
  int device_sessions_ = 0;
};

}  // namespace paritas
