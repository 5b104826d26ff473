// Pins: operator types that a provider is told to leave to the CPU, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/random_operators.h"
#include "paritas/placement/audit_types.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct Pin {
  std::string op;  // operator type of the optimised graph
};
// "Softmax=CPU"; each type once.
Result<std::vector<Pin>> parse_pins(const std::vector<std::string>& texts);

// The file that the QNN provider takes as op_affinity.
std::string op_affinity_json(const std::vector<Pin>& pins);

// Before anything runs: nodes of the source graph of these types, in graph order.
std::vector<std::string> touched_nodes(const std::vector<Pin>& pins, const onnx_model::GraphIndex& index);

// Fills touched_optimised, on_cpu_after and moved_too from the sessions without the pin and with it.
void trace_pins(const std::vector<Pin>& pins, const std::string& device, const std::vector<AssignedNode>& before,
                const std::vector<AssignedNode>& after, PinExperiment& experiment);

// Outputs without a gate agree at a cosine of 0.99 and a scale within a tenth (as in locate), and integers are then not
// judged: rows behind a decision may move.
inline constexpr double kAgreeingCosine = 0.99;
inline constexpr double kAgreeingScale = 0.1;

// Compares both sessions' outputs with the reference's. With gates only outputs that have one are judged. `random` of
// the model; may be null: what depends on draws is not compared.
Status judge_pin(const NamedTensors& reference, const NamedTensors& before, const NamedTensors& after,
                 const GateSet& gates, const onnx_model::RandomDependence* random, int threads,
                 PinExperiment& experiment);

Finding pin_finding(const PinExperiment& experiment, const PlacementAudit& after);

}  // namespace paritas
