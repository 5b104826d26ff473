#include "paritas/runtime/ort/values.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace paritas::ort {
namespace {

constexpr uint64_t kAlignment = 64;

}  // namespace

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

}  // namespace paritas::ort
