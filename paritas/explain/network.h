// A quantised or float network as `explain` sees it: layers, the values between them, and where a quantiser stands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/recording/provenance.h"

namespace paritas {

struct NetworkValue {
  std::string name;   // before the quantiser; TFLite: the tensor
  std::string codes;  // the tensor of codes; empty: none. TFLite: the same as `name`
  std::string real;   // behind DequantizeLinear; empty: none
  std::optional<Quantisation> quantisation;
  std::optional<DType> code_type;
};

struct Bounds {
  std::optional<double> low, high;
  std::string text;  // "RELU6 of the operator", "Clip /act/Clip"
};

struct NetworkLayer {
  std::string name, op;
  std::vector<size_t> inputs;  // values that are no constants
  size_t output = 0;           // value
  uint64_t outputs = 1;
  std::optional<int> weight_axis;  // channels of the output in the layer's weights
  std::optional<Bounds> bounds;
  bool concat = false, add = false;
};

struct Network {
  std::string subject;
  std::vector<NetworkValue> values;
  std::vector<NetworkLayer> layers;  // model inputs first, as layers of op "input"
};

// Errors: the file.
Result<Network> read_network(const Path& model);

}  // namespace paritas
