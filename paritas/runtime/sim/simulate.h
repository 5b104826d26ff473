// The number-format simulator as a graph edit: what a device that stores every float tensor in `format` would compute,
// if its kernels worked in float32.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "paritas/onnx/model.h"
#include "paritas/runtime/target.h"

namespace paritas {

// Rounds every initialiser and Constant, and puts paritas.ops::Round behind every graph input and node output (bodies
// of If, Loop and Scan too), so that no float tensor holds a value that the format cannot. Constants are rounded here
// and stay constants, because kernels treat those differently (packed weights): what differs from a run of the plain
// model is then the format alone. Run the result with optimisation off: nothing may be fused.
//
// Rounded weights are kept in memory, or, when `scratch` names a folder, in a file there that must stay until the
// result was saved; it is removed with the folder, by its owner.
//
// `exact`: nodes, by their first output, that keep computing in full precision, with constants as they are; what they
// hand to the others is rounded, what they hand to each other and to the graph's outputs is not. So a part of the
// network runs on the reference while the rest runs on the simulated device.
//
// Integer formats: see sim/simulate_integers.h; nodes cannot be exact there.
Result<onnx_model::Model> simulate(const onnx_model::Model& model, const SimulatedFormat& format,
                                   const Path& scratch = {}, const std::unordered_set<std::string>& exact = {});

// An error for targets with Capabilities::whole_networks_only. `what`: who needs parts, "locate".
Status needs_parts(const Target& target, const std::string& what);

// Puts paritas.ops::Perturb behind the given node outputs; the key of each is the tensor's name. A run then replaces
// tensors by RunRequest::perturb: one session, many injections.
Result<onnx_model::Model> make_perturbable(const onnx_model::Model& model, const std::vector<std::string>& tensors);

}  // namespace paritas
