#include "paritas/tensor/safetensors_header.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paritas {
namespace {

constexpr const char* kDamaged = "the file is damaged: write it again";
constexpr const char* kMetadata = "__metadata__";

// Follows the header's fixed structure; anything else stops the parse with `problem`.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string problem;

  bool null() override { return fail("null"); }
  bool boolean(bool) override { return fail("true or false"); }
  bool number_integer(number_integer_t) override { return fail("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return fail("a number that is not whole"); }
  bool binary(binary_t&) override { return fail("binary data"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& text) override;
  bool start_object(std::size_t) override;
  bool key(string_t& text) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    const bool encoding = std::string_view(e.what()).find("UTF-8") != std::string_view::npos;
    problem = fmt::format("the header is not valid {} at byte {}", encoding ? "UTF-8" : "JSON", 8 + position);
    return false;
  }

 private:
  enum class At { kStart, kNames, kStrings, kTensor, kShape, kOffsets, kEnd };
  enum class Field { kNone, kDtype, kShape, kOffsets };
  static constexpr unsigned kAllFields = 0b1110;

  bool fail(const std::string& found) {
    problem = at_ == At::kNames || at_ == At::kStart || at_ == At::kEnd
                  ? fmt::format("the header holds {} where an object was expected", found)
                  : fmt::format("the header holds {} in the entry of \"{}\" where it has no place", found, name_);
    return false;
  }

  bool name_key(string_t& text);
  bool field_key(const string_t& text);

  At at_ = At::kStart;
  Field field_ = Field::kNone;
  unsigned fields_ = 0;  // bit per Field already seen
  size_t offsets_ = 0;
  std::string name_;          // of the entry that is being read
  std::string metadata_key_;  // waiting for its value
  bool metadata_seen_ = false;
  SafetensorsRange range_;
  std::unordered_set<std::string> names_;
};

bool HeaderReader::start_object(std::size_t) {
  if (at_ == At::kStart) {
    at_ = At::kNames;
    return true;
  }
  if (at_ != At::kNames) return fail("a nested object");
  if (name_ == kMetadata) {
    at_ = At::kStrings;
    return true;
  }
  at_ = At::kTensor;
  range_ = SafetensorsRange{};
  range_.name = name_;
  field_ = Field::kNone;
  fields_ = 0;
  return true;
}

bool HeaderReader::end_object() {
  if (at_ == At::kTensor) {
    if (fields_ != kAllFields) {
      problem = fmt::format("the entry of \"{}\" lacks dtype, shape or data_offsets", name_);
      return false;
    }
    header.tensors.push_back(std::move(range_));
  }
  at_ = at_ == At::kNames ? At::kEnd : At::kNames;
  return true;
}

bool HeaderReader::key(string_t& text) {
  if (at_ == At::kNames) return name_key(text);
  if (at_ == At::kTensor) return field_key(text);
  if (!header.metadata.try_emplace(text).second) {
    problem = fmt::format("the key \"{}\" stands twice in {}", text, kMetadata);
    return false;
  }
  metadata_key_ = text;
  return true;
}

bool HeaderReader::name_key(string_t& text) {
  const bool repeated = text == kMetadata ? std::exchange(metadata_seen_, true) : !names_.insert(text).second;
  if (repeated) {
    problem = fmt::format("the name \"{}\" stands twice in the header", text);
    return false;
  }
  name_ = text;
  return true;
}

bool HeaderReader::field_key(const string_t& text) {
  field_ = text == "dtype"          ? Field::kDtype
           : text == "shape"        ? Field::kShape
           : text == "data_offsets" ? Field::kOffsets
                                    : Field::kNone;
  const unsigned bit = 1u << static_cast<unsigned>(field_);
  if (field_ == Field::kNone || (fields_ & bit) != 0) {
    problem = fmt::format("the entry of \"{}\" has the key \"{}\" {}", name_, text,
                          field_ == Field::kNone ? "which the format does not know" : "twice");
    return false;
  }
  fields_ |= bit;
  return true;
}

bool HeaderReader::string(string_t& text) {
  if (at_ == At::kStrings) {
    header.metadata[metadata_key_] = std::move(text);
    return true;
  }
  if (at_ != At::kTensor || field_ != Field::kDtype) return fail("text");
  const auto dtype = dtype_from_safetensors(text);
  if (!dtype) {
    problem = fmt::format("tensor \"{}\" has the type \"{}\", which is not supported", name_, text);
    return false;
  }
  range_.dtype = *dtype;
  return true;
}

bool HeaderReader::start_array(std::size_t) {
  if (at_ != At::kTensor || (field_ != Field::kShape && field_ != Field::kOffsets)) return fail("an array");
  at_ = field_ == Field::kShape ? At::kShape : At::kOffsets;
  offsets_ = 0;
  return true;
}

bool HeaderReader::end_array() {
  if (at_ == At::kOffsets && offsets_ != 2) {
    problem = fmt::format("tensor \"{}\" has {} data offsets instead of 2", name_, offsets_);
    return false;
  }
  at_ = At::kTensor;
  return true;
}

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (at_ == At::kShape) {
    if (value > kMaxElements) {
      problem = fmt::format("tensor \"{}\" claims a dimension of {}", name_, value);
      return false;
    }
    range_.shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  if (at_ != At::kOffsets) return fail("a number");
  (offsets_ == 0 ? range_.begin : range_.end) = value;
  ++offsets_;
  return true;
}

Status check_range(const SafetensorsRange& range, uint64_t data_size, const std::string& subject) {
  if (range.begin > range.end || range.end > data_size)
    return input_error(subject,
                       fmt::format("tensor \"{}\" claims bytes {} to {}, the file holds {} bytes of data", range.name,
                                   range.begin, range.end, data_size),
                       "the file is truncated or damaged: copy it again");
  const auto count = element_count(range.shape);
  if (!count) return input_error(subject, fmt::format("tensor \"{}\": {}", range.name, count.error().cause), kDamaged);
  const uint64_t expected = byte_size(range.dtype, *count);
  if (range.end - range.begin != expected)
    return input_error(subject,
                       fmt::format("tensor \"{}\" {} {} takes {} bytes, its range has {}", range.name,
                                   name(range.dtype), to_string(range.shape), expected, range.end - range.begin),
                       kDamaged);
  return {};
}

// Every byte of the data belongs to exactly one tensor.
Status check_cover(const std::vector<SafetensorsRange>& tensors, uint64_t data_size, const std::string& subject) {
  uint64_t at = 0;
  for (const SafetensorsRange& range : tensors) {
    if (range.begin < at)
      return input_error(subject, fmt::format("tensor \"{}\" overlaps the one before it", range.name), kDamaged);
    if (range.begin > at)
      return input_error(subject, fmt::format("bytes {} to {} of the data belong to no tensor", at, range.begin),
                         kDamaged);
    at = range.end;
  }
  if (at != data_size)
    return input_error(subject, fmt::format("{} bytes follow the last tensor", data_size - at), kDamaged);
  return {};
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, uint64_t data_size,
                                                   const std::string& subject) {
  // The JSON library takes a zero byte for the end of the text and skips a byte order mark: both are refused here.
  if (text.empty() || text.front() != '{' || text.find('\0') != std::string_view::npos)
    return input_error(subject, "is not a safetensors file (its header is not a JSON object)", "check the file");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader))
    return input_error(subject, reader.problem, kDamaged);
  auto& tensors = reader.header.tensors;
  for (const SafetensorsRange& range : tensors) PARITAS_TRY(check_range(range, data_size, subject));
  // Empty tensors may share an offset: the order of the header decides then.
  std::stable_sort(tensors.begin(), tensors.end(), [](const SafetensorsRange& a, const SafetensorsRange& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  PARITAS_TRY(check_cover(tensors, data_size, subject));
  return std::move(reader.header);
}

}  // namespace paritas
