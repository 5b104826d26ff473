// A network with QuantizeLinear/DequantizeLinear pairs has two right answers on ONNX Runtime's CPU: the pairs computed
// in float as they are written, or fused with their operators into integer kernels. Which of them a session gives
// follows from two settings, and both are said.
#pragma once

#include <optional>
#include <string>

#include "paritas/onnx/model.h"
#include "paritas/runtime/target.h"

namespace paritas {

inline constexpr const char* kDisableQuantQdq = "session.disable_quant_qdq";

// The network holds pairs; bodies of If, Loop and Scan count.
bool holds_qdq_pairs(const onnx_model::Model& model);

// What the session entry is set to: what the user asked for, else "1" without optimisation (nothing is fused, by
// whatever default a version of the runtime has) and "0" with it. nullopt: a device's own business.
std::optional<std::string> quant_qdq_setting(const Target& target);

// True: pairs are computed in float.
bool computes_pairs_in_float(const Target& target);

// The same target with the other of the two answers: nothing fused, or everything.
Target other_qdq_variant(const Target& target);

// "optimisation none, session.disable_quant_qdq 1: QDQ pairs computed in float as written"
std::string qdq_variant_text(const Target& target);

}  // namespace paritas
