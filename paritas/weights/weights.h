// The weights of a model as the file stores them: float, or codes with their quantisation. ONNX and TFLite.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/recording/provenance.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

struct Weight {
  // What it is called before and after quantisation: "onnx::Conv_1002" for an initialiser "onnx::Conv_1002_quantized"
  // behind a DequantizeLinear, the tensor's own name in TFLite.
  std::string name;
  std::string stored_as;  // in the file, where that is another name
  Tensor tensor;
  std::optional<Quantisation> quantisation;
  std::string reader;     // first node that reads its real values: name, or "3:CONV_2D"
  std::string reader_op;  // "Conv", "CONV_2D"
  int input = 0;          // of that node
};

struct Weights {
  std::string subject;
  std::vector<Weight> weights;
  // Constants that are not read: name, and why. They are part of the model all the same.
  std::vector<std::pair<std::string, std::string>> unread;
  std::vector<std::string> bounds;  // of Clip: parameters of the graph, which quantisers fold away
};

// Of the main graph. Left out are constants that no node reads, and those that are no numbers to multiply with: indices
// and shapes (64-bit integers, and 32-bit ones without quantisation), scales and zero points. Errors: the file.
Result<Weights> weights_of(const Path& model);

}  // namespace paritas
