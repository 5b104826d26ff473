#include "paritas/project/prepared.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/tensor/npy.h"
#include "paritas/tensor/safetensors.h"

namespace paritas {
namespace {

constexpr uint64_t kChunk = 1 << 20;  // bytes hashed at a time

Result<std::string> hash_of(const Tensor& tensor) {
  Sha256 hash;
  std::vector<std::byte> chunk;
  for (uint64_t at = 0; at < tensor.bytes.size(); at += chunk.size()) {
    chunk.resize(std::min(kChunk, tensor.bytes.size() - at));
    PARITAS_TRY(tensor.bytes.read(at, chunk));
    hash.update(chunk);
  }
  return hash.finish();
}

Result<Tensor> read_raw(const ProjectInput& input, const Path& path, const std::string& where) {
  if (!input.dtype || !input.shape)
    return usage_error(
        where,
        fmt::format("{} is neither .npy nor .safetensors, so its type and shape must be declared", path.string()),
        "for example: dtype = \"float32\", shape = [1, 3, 224, 224]");
  PARITAS_ASSIGN(auto file, File::open(path));
  const uint64_t size = file->size();
  return make_tensor(*input.dtype, *input.shape, Bytes::in_file(std::move(file), 0, size), path.string());
}

Result<Tensor> read_tensor(const ProjectInput& input, const Path& path, const std::string& where) {
  const bool npy = path.extension() == ".npy", safetensors = path.extension() == ".safetensors";
  if (!npy && !safetensors) return read_raw(input, path, where);
  if (input.dtype || input.shape)
    return usage_error(where, "type and shape are those of the file", "leave \"dtype\" and \"shape\" out");
  if (npy) return read_npy(path);
  PARITAS_ASSIGN(SafetensorsFile file, read_safetensors(path));
  if (const Tensor* tensor = file.find(input.name)) return *tensor;
  if (file.tensors.size() == 1) return file.tensors.front().second;
  return input_error(path.string(), fmt::format("holds no tensor \"{}\"", input.name));
}

template <class T>
Result<Tensor> integers(const ProjectInput& input, const std::string& where) {
  std::vector<T> values;
  for (double value : input.values) {
    // 2^63 and 2^64 are the first doubles beyond; what is compared is exact.
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(value >= low && value < beyond) || value != std::floor(value))
      return usage_error(where, fmt::format("the value {} does not fit {}", value, name(*input.dtype)));
    values.push_back(static_cast<T>(value));
  }
  return tensor_from_values(*input.dtype, *input.shape, values);
}

Result<Tensor> tensor_of_values(const ProjectInput& input, const std::string& where) {
  PARITAS_ASSIGN(const uint64_t count, element_count(*input.shape));
  if (count != input.values.size())
    return usage_error(where, fmt::format("{} value{} for shape {}, which has {}", input.values.size(),
                                          input.values.size() == 1 ? "" : "s", to_string(*input.shape), count));
  switch (*input.dtype) {
    case DType::kF32: {
      std::vector<float> values(input.values.begin(), input.values.end());
      return tensor_from_values(DType::kF32, *input.shape, values);
    }
    case DType::kF64:
      return tensor_from_values(DType::kF64, *input.shape, input.values);
    case DType::kI8:
      return integers<int8_t>(input, where);
    case DType::kU8:
      return integers<uint8_t>(input, where);
    case DType::kI16:
      return integers<int16_t>(input, where);
    case DType::kU16:
      return integers<uint16_t>(input, where);
    case DType::kI32:
      return integers<int32_t>(input, where);
    case DType::kU32:
      return integers<uint32_t>(input, where);
    case DType::kI64:
      return integers<int64_t>(input, where);
    case DType::kU64:
      return integers<uint64_t>(input, where);
    default:
      return usage_error(where, fmt::format("a value cannot be {}", name(*input.dtype)), "keep the tensor in a file");
  }
}

class Preparation {
 public:
  Preparation(const Project& project, const ProjectFiles& files, const Path& scratch)
      : project_(project), files_(files), scratch_(scratch) {}

  Result<PreparedInputs> run() {
    PreparedInputs prepared;
    PARITAS_TRY(make(Feed::kDeclared, prepared.samples, prepared.records));
    for (const NamedSide& side : project_.further) {
      auto& samples = side.feed == Feed::kFloat ? prepared.floats : prepared.dequantised;
      if (side.feed != Feed::kDeclared && samples.empty()) PARITAS_TRY(make(side.feed, samples, prepared.records));
    }
    return prepared;
  }

 private:
  // One pass from what is declared to tensors; all feeds share it up to the last step.
  Status make(Feed feed, std::vector<NamedTensors>& into, std::vector<CheckedInput>& records) {
    const size_t first_record = records.size();
    size_t samples = 1;
    std::vector<std::vector<Tensor>> tensors;
    for (const ProjectInput& input : project_.inputs) {
      if (input.source == InputSource::kNone) continue;
      CheckedInput record;
      record.name = input.name;
      record.fed = feed == Feed::kFloat ? "float" : feed == Feed::kDequantised ? "dequantised" : "";
      std::vector<Tensor> made;
      for (size_t i = 0; i < std::max<size_t>(input.files.size(), 1); ++i) {
        FrozenTensor frozen;
        PARITAS_ASSIGN(Tensor tensor, freeze(input, i, feed, frozen));
        PARITAS_ASSIGN(frozen.tensor_sha256, hash_of(tensor));
        frozen.dtype = tensor.dtype;
        frozen.shape = tensor.shape;
        record.tensors.push_back(std::move(frozen));
        made.push_back(std::move(tensor));
      }
      samples = std::max(samples, made.size());
      tensors.push_back(std::move(made));
      records.push_back(std::move(record));
    }
    into.resize(samples);
    for (size_t k = 0; k < tensors.size(); ++k)
      for (size_t i = 0; i < samples; ++i)
        into[i].emplace_back(records[first_record + k].name, tensors[k][tensors[k].size() == 1 ? 0 : i]);
    return {};
  }

  // The values that codes stand for, in float32: (q - zero_point) * scale.
  Result<Tensor> dequantised(const ProjectInput& input, const Tensor& codes, const std::string& where) {
    if (is_float(codes.dtype)) return codes;
    double scale = 0;
    int64_t zero_point = 0;
    if (input.quantisation) {
      scale = input.quantisation->scale;
      zero_point = input.quantisation->zero_point;
    } else if (input.steps && input.steps->quantisation) {
      scale = static_cast<double>(input.steps->quantisation->scale);
      zero_point = input.steps->quantisation->zero_point;
    } else {
      return usage_error(where, "a side is fed with dequantised values, and nothing says what the codes stand for",
                         "declare quantisation = { scale = ..., zero_point = ... }");
    }
    PARITAS_ASSIGN(const TensorView view, TensorView::of(codes));
    std::vector<double> raw(view.count());
    load_as_double(view.dtype(), view.bytes(), 0, raw);
    std::vector<float> values(raw.size());
    for (size_t i = 0; i < raw.size(); ++i)
      values[i] = static_cast<float>(raw[i] - static_cast<double>(zero_point)) * static_cast<float>(scale);
    return keep(tensor_from_values(DType::kF32, codes.shape, values));
  }

  Result<Tensor> freeze(const ProjectInput& input, size_t index, Feed feed, FrozenTensor& frozen) {
    const std::string where = fmt::format("{}, [inputs.{}]", project_.subject, input.name);
    if (feed == Feed::kFloat && input.source == InputSource::kImages) {
      ProjectInput unquantised = input;
      unquantised.steps->quantisation.reset();
      if (unquantised.steps->dtype != DType::kF32)
        return usage_error(where, "a side is fed with float values, but the steps end with the pixels themselves",
                           "feed it with fed = \"dequantised\", which is the same here");
      return freeze_declared(unquantised, index, frozen);
    }
    PARITAS_ASSIGN(const Tensor tensor, freeze_declared(input, index, frozen));
    if (feed == Feed::kDequantised) return dequantised(input, tensor, where);
    if (feed == Feed::kFloat && !is_float(tensor.dtype) && input.quantisation)
      return usage_error(where, "a side is fed with float values, but only codes are declared",
                         "declare the float values, or feed the side with fed = \"dequantised\"");
    return tensor;
  }

  Result<Tensor> freeze_declared(const ProjectInput& input, size_t index, FrozenTensor& frozen) {
    const std::string where = fmt::format("{}, [inputs.{}]", project_.subject, input.name);
    if (input.source == InputSource::kValue) return tensor_of_values(input, where);
    frozen.file = input.files[index];
    PARITAS_ASSIGN(const Path path, files_.resolve(frozen.file));
    if (input.source == InputSource::kImages) {
      PARITAS_ASSIGN(PreparedImage image, prepare_image(path, *input.steps));
      frozen.file_sha256 = image.record.file_sha256;
      frozen.image = std::move(image.record);
      return keep(image.tensor);
    }
    PARITAS_ASSIGN(Tensor tensor, read_tensor(input, path, where));
    PARITAS_ASSIGN(frozen.file_sha256, sha256_of_file(path));
    return tensor;
  }

  // Hundreds of pictures would not fit in memory: they wait in scratch.
  Result<Tensor> keep(const Tensor& tensor) {
    const Path file = scratch_ / fmt::format("input-{}.npy", kept_++);
    PARITAS_TRY(write_npy(file, tensor, false));
    return read_npy(file);
  }

  const Project& project_;
  const ProjectFiles& files_;
  const Path& scratch_;
  size_t kept_ = 0;
};

}  // namespace

Result<Path> ProjectFiles::resolve(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return usage_error(subject, "a path holds a zero byte");
  if (!allow_outside && !resolve_inside(folder.empty() ? Path(".") : folder, path))
    return usage_error(subject, fmt::format("the path \"{}\" leads out of the project's folder", path),
                       "move the file there, or allow it with --allow-outside");
  return folder / path;
}

Result<PreparedInputs> prepare_inputs(const Project& project, const ProjectFiles& files, const Path& scratch) {
  return Preparation(project, files, scratch).run();
}

}  // namespace paritas
