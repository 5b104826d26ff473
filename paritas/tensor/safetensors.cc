#include "paritas/tensor/safetensors.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/json.h"
#include "paritas/tensor/safetensors_header.h"

namespace paritas {
namespace {

constexpr uint64_t kLengthField = 8;
constexpr size_t kBlock = 1 << 20;

Result<std::string> read_header_text(const File& file, const std::string& subject) {
  std::array<std::byte, kLengthField> field{};
  if (file.size() < kLengthField)
    return input_error(subject, "is too short for a safetensors file", "the file is truncated: copy it again");
  PARITAS_TRY(file.read(0, field));
  uint64_t length = 0;
  for (size_t i = kLengthField; i-- > 0;) length = length << 8 | std::to_integer<uint64_t>(field[i]);
  if (length > file.size() - kLengthField)
    return input_error(subject, fmt::format("claims a header of {} bytes, the file has {} bytes", length, file.size()),
                       "the file is truncated, or not a safetensors file");
  if (length > kMaxSafetensorsHeader)
    return input_error(subject,
                       fmt::format("claims a header of {} bytes, at most {} are lawful", length, kMaxSafetensorsHeader),
                       "check that it is a safetensors file");
  std::string text(length, '\0');
  PARITAS_TRY(file.read(kLengthField, std::as_writable_bytes(std::span(text))));
  return text;
}

// A JSON string, or an error for text that is not UTF-8: replacing bytes would change a name silently.
Result<std::string> json_text(const std::string& text, const std::string& subject) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    return input_error(subject, fmt::format("the name \"{}\" is not valid UTF-8", dump_json(Json(text), -1)),
                       "rename it");
  }
}

// How an entry is declared: 4-bit types as the bytes that hold them.
struct Declared {
  std::string_view code;
  std::string shape;
  uint64_t size = 0;
};

Result<Declared> declare(const SafetensorsEntry& entry, const std::string& subject) {
  const auto count = element_count(entry.shape);
  if (!count) return input_error(subject, fmt::format("tensor \"{}\": {}", entry.name, count.error().cause));
  const uint64_t size = byte_size(entry.dtype, *count);
  if (const auto code = safetensors_code(entry.dtype)) return Declared{*code, to_string(entry.shape), size};
  return Declared{"U8", fmt::format("[{}]", size), size};
}

struct Plan {
  std::string header;  // with the length field and padding
  uint64_t data = 0;
};

Result<Plan> plan(const std::vector<SafetensorsEntry>& entries, const std::map<std::string, std::string>& metadata,
                  const std::string& subject) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      PARITAS_ASSIGN(const std::string key_text, json_text(key, subject));
      PARITAS_ASSIGN(const std::string value_text, json_text(value, subject));
      text += key_text + ":" + value_text + ",";
    }
    text.back() = '}';
    text += ',';
  }
  Plan result;
  std::unordered_set<std::string_view> names;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.name == "__metadata__" || !names.insert(entry.name).second)
      return input_error(subject,
                         fmt::format("the tensor name \"{}\" cannot be written twice or is reserved", entry.name),
                         "give every tensor a name of its own");
    PARITAS_ASSIGN(const std::string name_text, json_text(entry.name, subject));
    PARITAS_ASSIGN(const Declared declared, declare(entry, subject));
    if (declared.size > kMaxElements * 8 - result.data)
      return input_error(subject, "the tensors together are larger than any file");
    text += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}},", name_text, declared.code,
                        declared.shape, result.data, result.data + declared.size);
    result.data += declared.size;
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  // As the reference implementation does, so that the data starts at a multiple of 8.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxSafetensorsHeader)
    return input_error(
        subject,
        fmt::format("the header would take {} bytes, at most {} are lawful", text.size(), kMaxSafetensorsHeader),
        "write fewer tensors to a file");
  for (uint64_t i = 0; i < kLengthField; ++i)
    result.header += static_cast<char>(static_cast<uint64_t>(text.size()) >> (8 * i) & 255);
  result.header += text;
  return result;
}

}  // namespace

const Tensor* SafetensorsFile::find(const std::string& name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& entry) { return entry.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

Result<SafetensorsFile> read_safetensors(const Path& path) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(const auto file, File::open(path));
  PARITAS_ASSIGN(const std::string text, read_header_text(*file, subject));
  const uint64_t data = kLengthField + text.size();
  PARITAS_ASSIGN(SafetensorsHeader header, parse_safetensors_header(text, file->size() - data, subject));
  SafetensorsFile result;
  result.metadata = std::move(header.metadata);
  result.tensors.reserve(header.tensors.size());
  for (SafetensorsRange& range : header.tensors) {
    Bytes bytes = Bytes::in_file(file, data + range.begin, range.end - range.begin);
    PARITAS_ASSIGN(Tensor tensor, make_tensor(range.dtype, std::move(range.shape), std::move(bytes), subject));
    result.tensors.emplace_back(std::move(range.name), std::move(tensor));
  }
  return result;
}

Result<SafetensorsWriter> SafetensorsWriter::create(const Path& path, const std::vector<SafetensorsEntry>& entries,
                                                    const std::map<std::string, std::string>& metadata,
                                                    bool overwrite) {
  PARITAS_ASSIGN(const Plan planned, plan(entries, metadata, path.string()));
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, overwrite));
  SafetensorsWriter writer(std::move(file), path.string(), planned.data);
  const auto header = std::as_bytes(std::span(planned.header));
  PARITAS_TRY(writer.file_.write(header));
  writer.hash_.update(header);
  return writer;
}

Status SafetensorsWriter::append(std::span<const std::byte> data) {
  if (data.size() > expected_ - written_)
    return input_error(subject_, fmt::format("{} bytes of data were declared, more were given", expected_));
  PARITAS_TRY(file_.write(data));
  hash_.update(data);
  written_ += data.size();
  return {};
}

Result<std::string> SafetensorsWriter::finish() {
  if (written_ != expected_)
    return input_error(subject_, fmt::format("{} bytes of data were declared, {} were given", expected_, written_));
  PARITAS_TRY(file_.commit());
  return hash_.finish();
}

Status write_safetensors(const Path& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                         const std::map<std::string, std::string>& metadata, bool overwrite) {
  std::vector<SafetensorsEntry> entries;
  entries.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) entries.push_back({name, tensor.dtype, tensor.shape});
  PARITAS_ASSIGN(SafetensorsWriter writer, SafetensorsWriter::create(path, entries, metadata, overwrite));
  std::vector<std::byte> block;
  for (const auto& [name, tensor] : tensors) {
    block.resize(std::min<uint64_t>(kBlock, tensor.bytes.size()));
    for (uint64_t at = 0; at < tensor.bytes.size(); at += block.size()) {
      const auto part = std::span(block).first(std::min<uint64_t>(block.size(), tensor.bytes.size() - at));
      PARITAS_TRY(tensor.bytes.read(at, part));
      PARITAS_TRY(writer.append(part));
    }
  }
  PARITAS_ASSIGN([[maybe_unused]] const std::string hash, writer.finish());
  return {};
}

}  // namespace paritas
