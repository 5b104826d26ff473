// TensorProto <-> Tensor. Which field may hold which type: comments of TensorProto in onnx-ml.proto.
#include <cstring>

#include <fmt/format.h>

#include "paritas/onnx/model.h"

namespace paritas::onnx_model {
namespace {

Unexpected tensor_error(const std::string& subject, const ::onnx::TensorProto& proto, const std::string& cause) {
  return input_error(subject, fmt::format("tensor \"{}\": {}", proto.name(), cause), "export the model again");
}

// Stores each value in `width` bytes (little-endian, the low ones). Small types lie one value per int32, packed 4-bit
// types one pair per int32.
template <class Stored, class Field>
std::vector<std::byte> narrow(const Field& values) {
  std::vector<std::byte> bytes(static_cast<size_t>(values.size()) * sizeof(Stored));
  std::byte* out = bytes.data();
  for (const auto value : values) {
    const auto stored = static_cast<Stored>(value);
    std::memcpy(out, &stored, sizeof(Stored));
    out += sizeof(Stored);
  }
  return bytes;
}

struct Values {
  std::vector<std::byte> bytes;
  bool present = false;
};

// The typed fields that data_type allows; nothing else is looked at.
Values typed_values(const ::onnx::TensorProto& proto, DType dtype, uint64_t stored_units) {
  const auto matches = [&](int size) { return static_cast<uint64_t>(size) == stored_units; };
  switch (dtype) {
    case DType::kF32:
      if (!matches(proto.float_data_size())) break;
      return {narrow<float>(proto.float_data()), true};
    case DType::kF64:
      if (!matches(proto.double_data_size())) break;
      return {narrow<double>(proto.double_data()), true};
    case DType::kI64:
      if (!matches(proto.int64_data_size())) break;
      return {narrow<int64_t>(proto.int64_data()), true};
    case DType::kU64:
      if (!matches(proto.uint64_data_size())) break;
      return {narrow<uint64_t>(proto.uint64_data()), true};
    case DType::kU32:
      if (!matches(proto.uint64_data_size())) break;
      return {narrow<uint32_t>(proto.uint64_data()), true};
    case DType::kI32:
      if (!matches(proto.int32_data_size())) break;
      return {narrow<int32_t>(proto.int32_data()), true};
    default:
      if (!matches(proto.int32_data_size())) break;
      return bits(dtype) == 16 ? Values{narrow<uint16_t>(proto.int32_data()), true}
                               : Values{narrow<uint8_t>(proto.int32_data()), true};
  }
  return {};
}

}  // namespace

Result<DType> dtype_of(const ::onnx::TensorProto& proto, const std::string& subject) {
  const auto dtype = dtype_from_onnx(proto.data_type());
  if (dtype) return *dtype;
  std::string type = fmt::format("ONNX type {}", proto.data_type());
  if (::onnx::TensorProto::DataType_IsValid(proto.data_type()))
    type = ::onnx::TensorProto::DataType_Name(static_cast<::onnx::TensorProto::DataType>(proto.data_type()));
  return input_error(subject, fmt::format("tensor \"{}\" has the type {}, which is not supported", proto.name(), type));
}

Result<Tensor> tensor_from_proto(const ::onnx::TensorProto& proto, const std::string& subject) {
  PARITAS_ASSIGN(const DType dtype, dtype_of(proto, subject));
  Shape shape(proto.dims().begin(), proto.dims().end());
  const auto count = element_count(shape);
  if (!count) return tensor_error(subject, proto, count.error().cause);
  const uint64_t size = byte_size(dtype, *count);
  if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    if (raw.size() != size)
      return tensor_error(
          subject, proto,
          fmt::format("{} bytes of data, {} {} ask for {}", raw.size(), name(dtype), to_string(shape), size));
    const auto bytes = std::as_bytes(std::span(raw));
    return Tensor{dtype, std::move(shape), Bytes::in_memory({bytes.begin(), bytes.end()})};
  }
  const uint64_t units = bits(dtype) == 4 ? size : *count;
  Values values = typed_values(proto, dtype, units);
  if (!values.present)
    return tensor_error(subject, proto,
                        fmt::format("the number of values does not match {} {}", name(dtype), to_string(shape)));
  return Tensor{dtype, std::move(shape), Bytes::in_memory(std::move(values.bytes))};
}

Result<::onnx::TensorProto> proto_from_tensor(const std::string& name, const Tensor& tensor) {
  ::onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(onnx_code(tensor.dtype));
  for (const int64_t dim : tensor.shape) proto.add_dims(dim);
  std::string& raw = *proto.mutable_raw_data();
  raw.resize(tensor.bytes.size());
  PARITAS_TRY(tensor.bytes.read(0, std::as_writable_bytes(std::span(raw))));
  return proto;
}

}  // namespace paritas::onnx_model
