// What sessions of TFLite models have in common, whichever library runs them: tensors by name, the shapes of calls, and
// what the calls left of each tensor.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/runtime/backend.h"
#include "paritas/tflite/model.h"

namespace paritas::tflite {

// Indices of the main graph's tensors with these names; of its outputs when there are none. Errors: no such tensor; a
// type that we do not handle.
Result<std::vector<int>> chosen_tensors(const Model& model, const std::vector<std::string>& names);
// The same for one run, where only what the session was opened for can be asked for.
Result<std::vector<int>> tensors_of_run(const Model& model, const std::vector<std::string>& names,
                                        const std::vector<int>& opened_for);
// Those that are no outputs of the model.
std::vector<int> beyond_outputs(const Model& model, const std::vector<int>& tensors);

PortInfo port_of(const GraphTensor& tensor);
// The tensor of an order that is for input `index`, which check_ports() found to be there.
const Tensor& given_for(const BackendSession::Order& order, const GraphTensor& input);
// The shape of one call's part of an input; an error where the model cannot take it.
Result<Shape> shape_of_call(const Model& model, int index, const Tensor& given, uint64_t steps);

// What the calls of one run left of each tensor: of every step, one behind the other.
class KeptTensors {
 public:
  explicit KeptTensors(const Model& model) : model_(model) {}
  void clear() { kept_.clear(); }
  uint64_t steps(int index) const;
  // Errors: bytes that do not fit the shape; a shape that changes from step to step.
  Status keep(int index, const Shape& shape, std::span<const std::byte> bytes);
  // Errors: a tensor that was not written in every step.
  Result<std::vector<StoredOutput>> store(const std::vector<int>& tensors, uint64_t steps, const Path& path) const;

 private:
  struct Kept {
    Shape shape;  // of one step
    std::vector<std::byte> bytes;
    uint64_t steps = 0;
  };
  const Model& model_;
  std::unordered_map<int, Kept> kept_;
};

}  // namespace paritas::tflite
