#include "paritas/runtime/tflite/calls.h"

#include <algorithm>

#include <fmt/format.h>

namespace paritas::tflite {
namespace {

constexpr uint64_t kAlignment = 64;

const GraphTensor& at(const Model& model, int index) { return model.main().tensors[static_cast<size_t>(index)]; }

bool contains(const std::vector<int>& list, int index) {
  return std::find(list.begin(), list.end(), index) != list.end();
}

Result<int> find_tensor(const Model& model, const std::string& id) {
  const auto index = model.main().find(id);
  if (!index)
    return input_error(model.subject(), fmt::format("has no tensor \"{}\"", id), "paritas inspect lists them");
  if (!at(model, *index).dtype)
    return input_error(model.subject(),
                       fmt::format("\"{}\" is of type {}, which is not handled", id, at(model, *index).type_name));
  return *index;
}

}  // namespace

Result<std::vector<int>> chosen_tensors(const Model& model, const std::vector<std::string>& names) {
  std::vector<int> tensors;
  for (const std::string& id : names) {
    PARITAS_ASSIGN(const int index, find_tensor(model, id));
    tensors.push_back(index);
  }
  if (!names.empty()) return tensors;
  for (const int output : model.main().outputs) {
    PARITAS_TRY(find_tensor(model, at(model, output).id));
    tensors.push_back(output);
  }
  return tensors;
}

Result<std::vector<int>> tensors_of_run(const Model& model, const std::vector<std::string>& names,
                                        const std::vector<int>& opened_for) {
  if (names.empty()) return opened_for;
  PARITAS_ASSIGN(std::vector<int> tensors, chosen_tensors(model, names));
  for (const int index : tensors)
    if (!contains(opened_for, index))
      return input_error(model.subject(),
                         fmt::format("\"{}\" was not asked for when the session was opened", at(model, index).id));
  return tensors;
}

std::vector<int> beyond_outputs(const Model& model, const std::vector<int>& tensors) {
  std::vector<int> result;
  for (const int index : tensors)
    if (!contains(model.main().outputs, index)) result.push_back(index);
  return result;
}

PortInfo port_of(const GraphTensor& tensor) {
  return {tensor.id, tensor.dtype, tensor.shape_signature.empty() ? tensor.shape : Shape(tensor.shape_signature)};
}

const Tensor& given_for(const BackendSession::Order& order, const GraphTensor& input) {
  const auto is_it = [&](const auto& each) { return each.first == input.id; };
  return std::find_if(order.inputs.begin(), order.inputs.end(), is_it)->second;
}

Result<Shape> shape_of_call(const Model& model, int index, const Tensor& given, uint64_t steps) {
  const GraphTensor& port = at(model, index);
  Shape shape = given.shape;
  const auto refuse = [&] {
    const std::string declared = to_string(port.shape_signature.empty() ? port.shape : Shape(port.shape_signature));
    return input_error(model.subject(),
                       fmt::format("input \"{}\" {} cannot take a tensor of shape {}{}", port.id, declared,
                                   to_string(given.shape), steps > 1 ? fmt::format(" in {} steps", steps) : ""));
  };
  if (port.dtype != given.dtype)
    return input_error(model.subject(), fmt::format("input \"{}\" must be {}, the given tensor is {}", port.id,
                                                    port.type_name, name(given.dtype)));
  if (steps > 1) {
    if (shape.empty() || shape[0] % static_cast<int64_t>(steps) != 0) return refuse();
    shape[0] /= static_cast<int64_t>(steps);
  }
  if (shape.size() != port.shape.size()) return refuse();
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool free = i < port.shape_signature.size() && port.shape_signature[i] == -1;
    if (!free && shape[i] != port.shape[i]) return refuse();
  }
  return shape;
}

uint64_t KeptTensors::steps(int index) const {
  const auto found = kept_.find(index);
  return found == kept_.end() ? 0 : found->second.steps;
}

Status KeptTensors::keep(int index, const Shape& shape, std::span<const std::byte> bytes) {
  const GraphTensor& tensor = at(model_, index);
  PARITAS_ASSIGN(const uint64_t count, element_count(shape));
  if (const uint64_t size = byte_size(*tensor.dtype, count); bytes.size() != size)
    return runtime_error(model_.subject(), fmt::format("\"{}\" has {} bytes where its shape {} takes {}", tensor.id,
                                                       bytes.size(), to_string(shape), size));
  Kept& kept = kept_[index];
  if (kept.steps > 0 && kept.shape != shape)
    return input_error(model_.subject(), fmt::format("\"{}\" changes its shape from step to step, from {} to {}",
                                                     tensor.id, to_string(kept.shape), to_string(shape)));
  kept.shape = shape;
  ++kept.steps;
  kept.bytes.insert(kept.bytes.end(), bytes.begin(), bytes.end());
  return {};
}

Result<std::vector<StoredOutput>> KeptTensors::store(const std::vector<int>& tensors, uint64_t steps,
                                                     const Path& path) const {
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, /*overwrite=*/true));
  static constexpr std::byte kPadding[kAlignment] = {};
  std::vector<StoredOutput> outputs;
  for (const int index : tensors) {
    const auto found = kept_.find(index);
    if (found == kept_.end() || found->second.steps != steps)
      return runtime_error(
          model_.subject(),
          fmt::format("\"{}\" was not written in every call: the library left its operator out", at(model_, index).id));
    if (const uint64_t over = file.written() % kAlignment; over != 0)
      PARITAS_TRY(file.write(std::span(kPadding).first(kAlignment - over)));
    StoredOutput output{at(model_, index).id, *at(model_, index).dtype, found->second.shape, file.written()};
    if (steps > 1) {
      if (output.shape.empty()) output.shape.push_back(1);
      output.shape[0] *= static_cast<int64_t>(steps);
    }
    PARITAS_TRY(file.write(found->second.bytes));
    outputs.push_back(std::move(output));
  }
  PARITAS_TRY(file.commit());
  return outputs;
}

}  // namespace paritas::tflite
