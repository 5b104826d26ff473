#include "paritas/runtime/ort/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/runtime/ort/session_impl.h"
#include "paritas/runtime/sim/operators.h"

namespace paritas::ort {
namespace {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

constexpr uint64_t kAlignment = 64;

// An input for one run: the value, and what keeps its memory.
struct Fed {
  TensorView view;
  std::vector<uint64_t> copy;  // only when the data is not aligned for its type
  Ort::Value value{nullptr};
};

Result<Fed> feed(const Tensor& tensor) {
  Fed fed;
  PARITAS_ASSIGN(fed.view, TensorView::of(tensor));
  std::span<const std::byte> bytes = fed.view.bytes();
  const size_t unit = std::max<size_t>(1, static_cast<size_t>(bits(tensor.dtype)) / 8);
  if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % unit != 0) {
    fed.copy.resize(bytes.size() / sizeof(uint64_t) + 1);  // at least one word: a null pointer would be refused
    if (!bytes.empty()) std::memcpy(fed.copy.data(), bytes.data(), bytes.size());
    bytes = std::as_bytes(std::span(fed.copy)).first(bytes.size());
  }
  auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  // ONNX Runtime takes a non-const pointer but does not write to graph inputs.
  fed.value =
      Ort::Value::CreateTensor(memory, const_cast<std::byte*>(bytes.data()), bytes.size(), tensor.shape.data(),
                               tensor.shape.size(), static_cast<ONNXTensorElementDataType>(onnx_code(tensor.dtype)));
  return fed;
}

Status check_inputs(const NamedTensors& inputs, const SessionInfo& info, const std::string& subject) {
  std::vector<std::string> known;
  for (const PortInfo& port : info.inputs) known.push_back(port.name);
  std::vector<std::string> given;
  for (const auto& [name, tensor] : inputs) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return input_error(subject, fmt::format("has no input \"{}\"", name),
                         fmt::format("its inputs are {}", fmt::join(known, ", ")));
    if (std::find(given.begin(), given.end(), name) != given.end())
      return input_error(subject, fmt::format("the input \"{}\" was given twice", name));
    given.push_back(name);
  }
  for (const std::string& name : known) {
    if (std::find(given.begin(), given.end(), name) == given.end())
      return input_error(subject, fmt::format("the input \"{}\" is missing", name), "give a tensor for it");
  }
  return {};
}

Result<StoredOutput> describe_output(const std::string& name, const Ort::Value& value, const std::string& subject) {
  if (!value.IsTensor())
    return runtime_error(subject, fmt::format("the output \"{}\" is not a tensor", name),
                         "leave it out; sequences, maps and optionals cannot be compared");
  auto info = value.GetTensorTypeAndShapeInfo();
  auto dtype = dtype_from_onnx(info.GetElementType());
  if (!dtype)
    return runtime_error(
        subject,
        fmt::format("the output \"{}\" holds {}", name,
                    info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
                        ? "strings"
                        : fmt::format("elements of ONNX type {}", static_cast<int>(info.GetElementType()))),
        "leave it out; such tensors cannot be compared");
  return StoredOutput{name, *dtype, info.GetShape(), 0};
}

// Writes the outputs and frees each as soon as it is in the file, so that never two copies of all exist.
Result<std::vector<StoredOutput>> store(const std::vector<std::string>& names, std::vector<Ort::Value>& values,
                                        const Path& path, const std::string& subject) {
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, /*overwrite=*/true));
  static constexpr std::byte kPadding[kAlignment] = {};
  std::vector<StoredOutput> stored;
  stored.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    PARITAS_ASSIGN(StoredOutput output, describe_output(names[i], values[i], subject));
    if (const uint64_t over = file.written() % kAlignment; over != 0)
      PARITAS_TRY(file.write(std::span(kPadding).first(kAlignment - over)));
    output.offset = file.written();
    PARITAS_ASSIGN(const uint64_t count, element_count(output.shape));
    const uint64_t size = byte_size(output.dtype, count);
    if (size != 0)
      PARITAS_TRY(file.write(std::span(static_cast<const std::byte*>(values[i].GetTensorRawData()), size)));
    values[i] = Ort::Value(nullptr);
    stored.push_back(std::move(output));
  }
  PARITAS_TRY(file.commit());
  return stored;
}

Result<sim::ActivePerturbations::Table> active_table(const Injection& injection) {
  sim::ActivePerturbations::Table table;
  for (const auto& [list, mode] : {std::pair(&injection.replace, sim::Perturbation::Mode::kReplace),
                                   std::pair(&injection.add, sim::Perturbation::Mode::kAdd)})
    for (const auto& [key, tensor] : *list) {
      PARITAS_ASSIGN(TensorView view, TensorView::of(tensor));
      table.insert_or_assign(key, sim::Perturbation{mode, std::move(view)});
    }
  return table;
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;
const SessionInfo& Session::info() const { return impl_->info; }

Result<std::vector<std::string>> Session::Impl::checked_fetch(const std::vector<std::string>& wanted) const {
  std::vector<std::string> names;
  if (wanted.empty()) {
    for (const PortInfo& output : info.outputs) names.push_back(output.name);
    return names;
  }
  std::map<std::string, const PortInfo*> known;
  for (const PortInfo& output : info.outputs) known[output.name] = &output;
  for (const std::string& name : wanted) {
    if (known.count(name) == 0) return input_error(subject, fmt::format("has no output \"{}\"", name));
    names.push_back(name);
  }
  return names;
}

Result<Session::Ran> Session::run(const NamedTensors& inputs, const std::vector<std::string>& wanted,
                                  const Injection& injection, const Path& file) {
  return guarded(impl_->subject, fmt::format("running on {}", impl_->target), [&]() -> Result<Ran> {
    PARITAS_TRY(check_inputs(inputs, impl_->info, impl_->subject));
    std::vector<std::string> fetch = impl_->fetch;
    if (!wanted.empty()) {
      PARITAS_ASSIGN(fetch, impl_->checked_fetch(wanted));
    }
    std::vector<Fed> fed(inputs.size());
    std::vector<const char*> input_names, output_names;
    std::vector<Ort::Value> input_values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      PARITAS_ASSIGN(fed[i], feed(inputs[i].second));
      input_names.push_back(inputs[i].first.c_str());
      input_values.push_back(std::move(fed[i].value));
    }
    for (const std::string& name : fetch) output_names.push_back(name.c_str());
    PARITAS_ASSIGN(auto active, active_table(injection));
    const sim::ActivePerturbations scope(std::move(active));
    const auto start = std::chrono::steady_clock::now();
    std::vector<Ort::Value> outputs = impl_->session.Run(Ort::RunOptions{}, input_names.data(), input_values.data(),
                                                         input_values.size(), output_names.data(), output_names.size());
    Ran ran;
    ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    PARITAS_ASSIGN(ran.outputs, store(fetch, outputs, file, impl_->subject));
    return ran;
  });
}

}  // namespace paritas::ort
