#include "paritas/vendor/trtexec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "paritas/tensor/float_formats.h"
#include "paritas/vendor/json_walk.h"
#include "paritas/vendor/raw.h"

namespace paritas {
namespace {

constexpr const char* kSaveAgain = "save it again with: trtexec --exportOutput=FILE";

// Spellings of TensorRT's types in file names, lower case.
struct TypeName {
  std::string_view text;
  DType dtype;
};
constexpr std::array<TypeName, 17> kTypeNames = {{
    {"float", DType::kF32},
    {"fp32", DType::kF32},
    {"float32", DType::kF32},
    {"half", DType::kF16},
    {"fp16", DType::kF16},
    {"float16", DType::kF16},
    {"bf16", DType::kBF16},
    {"bfloat16", DType::kBF16},
    {"int8", DType::kI8},
    {"uint8", DType::kU8},
    {"int32", DType::kI32},
    {"int64", DType::kI64},
    {"bool", DType::kBool},
    {"fp8", DType::kF8E4M3FN},
    {"int4", DType::kI4},
    {"float8", DType::kF8E4M3FN},
    {"float64", DType::kF64},
}};

std::optional<DType> type_from_text(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const TypeName& known : kTypeNames)
    if (known.text == text) return known.dtype;
  return std::nullopt;
}

// "1x3x224x224"; an empty text is a scalar.
std::optional<Shape> parse_dims(std::string_view text, char separator) {
  Shape shape;
  while (!text.empty()) {
    int64_t dim = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (code != std::errc() || dim < 0 || text[0] == '-') return std::nullopt;
    shape.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) break;
    if (text[0] != separator || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return shape;
}

// The bits of a decimal text in `dtype`, appended; false when it is no value of that type. NaN and infinities are
// written as "nan", "-nan", "inf", "-inf" by the C++ streams that trtexec uses.
template <class T>
void append(std::vector<std::byte>& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

template <class T>
bool append_integer(std::string_view text, std::vector<std::byte>& out) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return false;
  append(out, value);
  return true;
}

template <class T>
bool parse_real(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {  // beyond the type: what the nearest double becomes
    double wide = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), wide).ec != std::errc()) return false;
    value = static_cast<T>(wide);
    return true;
  }
  return code == std::errc() && end == text.data() + text.size();
}

bool append_value(std::string_view text, DType dtype, std::vector<std::byte>& out) {
  switch (dtype) {
    case DType::kBool: {
      if (text != "0" && text != "1" && text != "true" && text != "false") return false;
      out.push_back(static_cast<std::byte>(text == "1" || text == "true"));
      return true;
    }
    case DType::kI8:
      return append_integer<int8_t>(text, out);
    case DType::kU8:
      return append_integer<uint8_t>(text, out);
    case DType::kI16:
      return append_integer<int16_t>(text, out);
    case DType::kU16:
      return append_integer<uint16_t>(text, out);
    case DType::kI32:
      return append_integer<int32_t>(text, out);
    case DType::kU32:
      return append_integer<uint32_t>(text, out);
    case DType::kI64:
      return append_integer<int64_t>(text, out);
    case DType::kU64:
      return append_integer<uint64_t>(text, out);
    default:
      break;
  }
  if (dtype == DType::kF64) {
    double value = 0;
    if (!parse_real(text, value)) return false;
    append(out, value);
    return true;
  }
  float value = 0;
  if (!parse_real(text, value)) return false;
  if (dtype == DType::kF32) append(out, value);
  if (dtype == DType::kF16) append(out, f16_from_float(value));
  if (dtype == DType::kBF16) append(out, bf16_from_float(value));
  if (dtype == DType::kF8E4M3FN) append(out, f8e4m3fn_from_float(value));
  if (dtype == DType::kF8E5M2) append(out, f8e5m2_from_float(value));
  return bits(dtype) >= 8;
}

// "[1.5, nan, 2]" -> bytes; exactly `count` values.
Result<std::vector<std::byte>> parse_values(std::string_view text, DType dtype, uint64_t count,
                                            const std::string& subject) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::byte> bytes;
  const uint64_t most = text.size() / 2 + 1;  // a value and a separator each
  bytes.reserve(byte_size(dtype, std::min(count, most)));
  uint64_t found = 0;
  text = text.substr(1, text.rfind(']') - 1);
  if (text.find_first_not_of(kSpace) == std::string_view::npos) text = {};
  for (bool more = !text.empty(); more;) {
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    std::string_view value = text.substr(0, comma);
    text.remove_prefix(more ? comma + 1 : text.size());
    value.remove_prefix(std::min(value.find_first_not_of(kSpace), value.size()));
    value = value.substr(0, value.find_last_not_of(kSpace) + 1);
    if (++found <= count && !append_value(value, dtype, bytes))
      return input_error(
          subject,
          fmt::format("value {} is \"{}\", which is no {}", found - 1, printable(value.substr(0, 40)), name(dtype)),
          "declare its type, or save it again");
  }
  if (found == count) return bytes;
  return input_error(subject, fmt::format("has {} values, its dimensions ask for {}", found, count), kSaveAgain);
}

struct Binding {
  std::string name;
  Shape shape;
  std::string_view values;  // "[...]", as it stands in the text
};

Result<Binding> read_binding(JsonWalk& walk, JsonWalk::Value element) {
  Binding binding;
  bool has_dims = false;
  const Status walked = walk.object(element, [&](const std::string& key, JsonWalk::Value member) -> Status {
    if (key == "name") {
      PARITAS_ASSIGN(binding.name, walk.string(member, "a name"));
    } else if (key == "dimensions") {
      PARITAS_ASSIGN(const std::string text, walk.string(member, "dimensions such as \"1x3x224x224\""));
      auto shape = parse_dims(text, 'x');
      if (!shape) return walk.expected("dimensions such as \"1x3x224x224\"");
      binding.shape = std::move(*shape);
      has_dims = true;
    } else if (key == "values") {
      simdjson::ondemand::array array;
      if (const auto code = member.get_array().get(array)) return walk.error(code);
      if (const auto code = array.raw_json().get(binding.values)) return walk.error(code);
    } else {
      return walk.skip(member);
    }
    return {};
  });
  PARITAS_TRY(walked);
  if (binding.name.empty() || !has_dims || binding.values.data() == nullptr)
    return walk.expected("tensors with \"name\", \"dimensions\" and \"values\"");
  return binding;
}

}  // namespace

Result<Found> find_trtexec_json(const Path& path, const ImportContext& context) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(const JsonText text, JsonText::read(path));
  JsonWalk walk(subject);
  Found found;
  found.format = "trtexec-json";
  FoundSample sample;
  bool assumed = false, has_uint8 = false;
  PARITAS_TRY(walk.document(text, [&](JsonWalk::Value value) {
    return walk.array(value, [&](JsonWalk::Value element) -> Status {
      PARITAS_ASSIGN(Binding binding, read_binding(walk, element));
      const std::string where = fmt::format("{}: \"{}\"", subject, printable(binding.name));
      RawDeclaration told;
      told.shape = binding.shape;
      PARITAS_ASSIGN(const RawDeclaration declared, raw_declaration({}, binding.name, told, context));
      assumed |= !declared.dtype;
      const DType dtype = declared.dtype.value_or(DType::kF32);
      has_uint8 |= dtype == DType::kU8;
      const auto count = element_count(binding.shape);
      if (!count) return input_error(where, count.error().cause, kSaveAgain);
      FoundTensor tensor{binding.name, Role::kOutput, dtype, binding.shape, {}};
      tensor.read = [owner = text.bytes, binding, dtype, count = *count, where]() -> Result<Tensor> {
        PARITAS_ASSIGN(auto bytes, parse_values(binding.values, dtype, count, where));
        return make_tensor(dtype, binding.shape, Bytes::in_memory(std::move(bytes)), where);
      };
      sample.push_back(std::move(tensor));
      return {};
    });
  }));
  found.samples.push_back(std::move(sample));
  found.notes.push_back("values are decimal text of six digits: relative differences up to 5e-6 may be the file's");
  if (has_uint8)
    found.notes.push_back(
        "older versions of trtexec write uint8 as characters, which look like numbers where all are digits");
  if (assumed) found.notes.push_back("the file tells no types: values were read as float32 where nothing declared one");
  return found;
}

std::optional<TrtexecRawName> parse_trtexec_raw_name(const std::string& file) {
  if (!file.ends_with(".raw")) return std::nullopt;
  const std::string stem = file.substr(0, file.size() - 4);
  const size_t type_dot = stem.rfind('.');
  if (type_dot == std::string::npos) return std::nullopt;
  const auto dtype = type_from_text(stem.substr(type_dot + 1));
  if (!dtype) return std::nullopt;
  TrtexecRawName result;
  result.dtype = *dtype;
  const std::string rest = stem.substr(0, type_dot);
  for (const auto& [word, role] : {std::pair{".input.", Role::kInput}, {".output.", Role::kOutput}}) {
    const size_t at = rest.rfind(word);
    if (at == std::string::npos || at == 0) continue;
    const auto shape = parse_dims(std::string_view(rest).substr(at + std::strlen(word)), '.');
    if (!shape) continue;
    result.name = rest.substr(0, at);
    result.role = role;
    result.shape = *shape;
    return result;
  }
  return std::nullopt;
}

Result<Found> find_trtexec_raw(const Path& folder, const ImportContext& context) {
  Found found;
  found.format = "trtexec-raw";
  FoundSample sample;
  PARITAS_ASSIGN(const auto files, list_files(folder));
  for (const std::string& file : files) {
    const auto parsed = parse_trtexec_raw_name(file);
    if (!parsed) continue;
    const RawDeclaration told{parsed->dtype, parsed->shape, "its name"};
    PARITAS_ASSIGN(FoundTensor tensor, find_raw(folder / file, parsed->name, told, context));
    tensor.role = parsed->role;
    sample.push_back(std::move(tensor));
  }
  found.samples.push_back(std::move(sample));
  found.notes.push_back("names are those of the files: trtexec replaces characters that no file name should hold");
  return found;
}

}  // namespace paritas
