// ONNX networks, with QuantizeLinear and DequantizeLinear taken as quantisers of values. Internal to this folder.
#pragma once

#include "paritas/explain/network.h"

namespace paritas {

Result<Network> network_of_onnx(const Path& model);

}  // namespace paritas
