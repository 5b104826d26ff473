#include "paritas/vendor/raw.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/base/json.h"
#include "paritas/vendor/remedies.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKeepOpenFrom = uint64_t{64} << 10;  // bytes; smaller files are read whole, to spare descriptors

// With one free dimension, the value that makes the size fit.
std::optional<Shape> pinned(const Shape& shape, DType dtype, uint64_t bytes) {
  Shape result = shape;
  int64_t* free = nullptr;
  for (int64_t& dim : result) {
    if (dim >= 0) continue;
    if (free != nullptr) return std::nullopt;
    free = &dim;
    dim = 1;
  }
  const auto count = element_count(result);
  if (!count || *count == 0) return std::nullopt;
  const uint64_t row = byte_size(dtype, *count);
  if (free != nullptr) {
    if (bytes == 0 || bytes % row != 0) return std::nullopt;
    *free = static_cast<int64_t>(bytes / row);
  }
  const auto whole = element_count(result);
  if (!whole || byte_size(dtype, *whole) != bytes) return std::nullopt;
  return result;
}

std::string text(const Shape& shape) {
  std::string result = to_string(shape);
  for (size_t at; (at = result.find("-1")) != std::string::npos;) result.replace(at, 2, "?");
  return result;
}

// "float32 [1,3] or int32 [1,3]": the declared shape under other types, the declared type under other shapes.
std::string what_fits(uint64_t bytes, const RawDeclaration& declared) {
  std::vector<std::string> fits;
  if (declared.shape)
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (auto shape = pinned(*declared.shape, dtype, bytes))
        fits.push_back(fmt::format("{} {}", name(dtype), to_string(*shape)));
    }
  if (declared.dtype && bits(*declared.dtype) >= 8 && bytes % (static_cast<uint64_t>(bits(*declared.dtype)) / 8) == 0)
    fits.push_back(
        fmt::format("{} [{}]", name(*declared.dtype), bytes * 8 / static_cast<uint64_t>(bits(*declared.dtype))));
  if (!declared.shape && !declared.dtype)
    for (const DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kF64})
      if (bytes % (static_cast<uint64_t>(bits(dtype)) / 8) == 0)
        fits.push_back(fmt::format("{} [{}]", name(dtype), bytes * 8 / static_cast<uint64_t>(bits(dtype))));
  std::string list;
  for (size_t i = 0; i < fits.size(); ++i) list += (i == 0 ? "" : i + 1 == fits.size() ? " or " : ", ") + fits[i];
  return list;
}

// "--dtype and --shape", "dtypes and shapes under [recordings.device]"
std::string both_texts(const ImportOptions& options) {
  if (options.table.empty()) return "--dtype and --shape";
  return fmt::format("dtypes and shapes under [{}]", options.table);
}

Result<RawDeclaration> read_sidecar(const Path& path) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(std::string content, read_text(path, 1 << 20));
  PARITAS_ASSIGN(Json json, parse_json(content, subject));
  RawDeclaration declared;
  declared.origin = "its sidecar";
  if (!json.is_object())
    return input_error(subject, "is not a JSON object", R"(write {"dtype": "float32", "shape": [1, 3]})");
  if (json.contains("dtype")) {
    PARITAS_ASSIGN(std::string type, json_string(json, "dtype", subject));
    declared.dtype = dtype_from_name(type);
    if (!declared.dtype)
      return input_error(subject, fmt::format("the type \"{}\" is not known", printable(type)),
                         "use a name such as float32 or uint8");
  }
  if (!json.contains("shape")) return declared;
  PARITAS_ASSIGN(const Json* dims, json_array(json, "shape", subject));
  declared.shape.emplace();
  for (const Json& dim : *dims) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > kMaxElements)
      return input_error(subject, "a dimension of \"shape\" is not a size", R"(write for example "shape": [1, 3])");
    declared.shape->push_back(dim.get<int64_t>());
  }
  return declared;
}

}  // namespace

Result<RawLayout> fit_raw(uint64_t bytes, const RawDeclaration& declared, const std::string& subject,
                          const ImportOptions& options) {
  const std::string fits = what_fits(bytes, declared);
  const std::string remedy = fits.empty() ? "check that the file is whole and the declaration right"
                                          : fmt::format("{} would fit: declare it with {}", fits, both_texts(options));
  if (!declared.dtype) return input_error(subject, fmt::format("the type of its {} bytes is not known", bytes), remedy);
  const auto width = static_cast<uint64_t>(bits(*declared.dtype));
  if (!declared.shape) {
    if (width < 8)
      return input_error(subject, fmt::format("{} values need a shape", name(*declared.dtype)),
                         "give it with " + declaration_text(options, Declaration::kShape));
    if (bytes * 8 % width != 0)
      return input_error(subject,
                         fmt::format("{} bytes are no whole number of {} values", bytes, name(*declared.dtype)),
                         "check that the file is whole and the type right");
    return RawLayout{*declared.dtype, {static_cast<int64_t>(bytes * 8 / width)}};
  }
  const bool has_free =
      std::count_if(declared.shape->begin(), declared.shape->end(), [](int64_t d) { return d < 0; }) > 0;
  if (auto shape = pinned(*declared.shape, *declared.dtype, bytes))
    return RawLayout{*declared.dtype, std::move(*shape)};
  if (has_free)
    return input_error(subject,
                       fmt::format("has {} bytes, which fit no {} {} ({})", bytes, name(*declared.dtype),
                                   text(*declared.shape), declared.origin),
                       remedy);
  PARITAS_ASSIGN(const uint64_t count, element_count(*declared.shape));
  if (count == 0 && bytes == 0) return RawLayout{*declared.dtype, *declared.shape};
  return input_error(subject,
                     fmt::format("has {} bytes, {} {} ({}) takes {}", bytes, name(*declared.dtype),
                                 to_string(*declared.shape), declared.origin, byte_size(*declared.dtype, count)),
                     remedy);
}

Result<RawDeclaration> raw_declaration(const Path& file, const std::string& tensor, const RawDeclaration& told,
                                       const ImportContext& context) {
  const ImportOptions& options = context.options;
  RawDeclaration declared;
  std::vector<std::string> origins;
  const auto take = [&](const RawDeclaration& from) {
    const bool used = (!declared.dtype && from.dtype) || (!declared.shape && from.shape);
    if (!declared.dtype) declared.dtype = from.dtype;
    if (!declared.shape) declared.shape = from.shape;
    if (used) origins.push_back(from.origin);
  };
  RawDeclaration given;
  given.origin = options.table.empty() ? "the command line" : "the project file";
  given.dtype = context.dtype(tensor);
  given.shape = context.shape(tensor);
  take(given);
  std::error_code code;
  if (const Path sidecar = file.string() + ".json"; fs::exists(sidecar, code)) {
    PARITAS_ASSIGN(const RawDeclaration beside, read_sidecar(sidecar));
    take(beside);
  }
  take(told);
  if (options.dtype) take({options.dtype, std::nullopt, given.origin});
  if (const ModelTensor* known = context.known(tensor)) take({known->dtype, known->shape, "the model"});
  for (const std::string& origin : origins)
    if (declared.origin.find(origin) == std::string::npos)
      declared.origin += (declared.origin.empty() ? "" : " and ") + origin;
  return declared;
}

Result<FoundTensor> find_raw(const Path& path, const std::string& tensor, const RawDeclaration& told,
                             const ImportContext& context) {
  PARITAS_ASSIGN(const RawDeclaration declared, raw_declaration(path, tensor, told, context));
  uint64_t size = 0;
  {
    PARITAS_ASSIGN(const auto file, File::open(path));
    size = file->size();
  }
  auto fitted = fit_raw(size, declared, path.string(), context.options);
  if (!fitted) {
    const auto candidates = context.match(tensor).candidates;
    if (candidates.size() > 1)
      fitted.error().cause +=
          fmt::format(" (it may be \"{}\" or \"{}\" of the model)", printable(candidates[0]), printable(candidates[1]));
    return tl::make_unexpected(std::move(fitted).error());
  }
  const RawLayout layout = *fitted;
  FoundTensor found;
  found.name = tensor;
  found.dtype = layout.dtype;
  found.shape = layout.shape;
  found.read = [path, layout, size]() -> Result<Tensor> {
    PARITAS_ASSIGN(auto file, File::open(path));
    if (file->size() != size)
      return input_error(path.string(), "changed while it was read", "do not write to it meanwhile");
    if (size >= kKeepOpenFrom)
      return make_tensor(layout.dtype, layout.shape, Bytes::in_file(std::move(file), 0, size), path.string());
    std::vector<std::byte> bytes(size);
    PARITAS_TRY(file->read(0, bytes));
    return make_tensor(layout.dtype, layout.shape, Bytes::in_memory(std::move(bytes)), path.string());
  };
  return found;
}

bool is_raw_name(const std::string& file) {
  const std::string extension = Path(file).extension().string();
  return extension == ".raw" || extension == ".bin";
}

Result<Found> find_raw_files(const Path& path, const ImportContext& context) {
  Found found;
  found.format = "raw";
  FoundSample sample;
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    PARITAS_ASSIGN(FoundTensor tensor, find_raw(path, path.stem().string(), {}, context));
    sample.push_back(std::move(tensor));
  } else {
    PARITAS_ASSIGN(const auto files, list_files(path));
    for (const std::string& file : files) {
      if (!is_raw_name(file)) continue;
      const std::string tensor = Path(file).replace_extension().string();
      PARITAS_ASSIGN(FoundTensor one, find_raw(path / file, tensor, {}, context));
      sample.push_back(std::move(one));
    }
  }
  found.samples.push_back(std::move(sample));
  return found;
}

}  // namespace paritas
