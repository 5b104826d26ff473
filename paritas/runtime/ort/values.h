// Tensors as ONNX Runtime's values, on the way in and out.
#pragma once

#include <string>
#include <vector>

#include "paritas/runtime/ort/api.h"
#include "paritas/runtime/ort/session.h"

namespace paritas::ort {

// An input for one run: the value, and what keeps its memory.
struct Fed {
  TensorView view;
  std::vector<uint64_t> copy;  // only when the data is not aligned for its type
  Ort::Value value{nullptr};
};
Result<Fed> feed(const Tensor& tensor);

// Type and shape of a value; an error when it is no tensor, or of a type that we do not handle.
Result<StoredOutput> describe_output(const std::string& name, const Ort::Value& value, const std::string& subject);

// Writes the outputs one behind the other and frees each as soon as it is in the file, so that never two copies of all
// exist.
Result<std::vector<StoredOutput>> store(const std::vector<std::string>& names, std::vector<Ort::Value>& values,
                                        const Path& path, const std::string& subject);

}  // namespace paritas::ort
