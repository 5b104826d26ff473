#include "paritas/vendor/json_walk.h"

#include <cstring>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/vendor/found.h"

namespace paritas {
namespace {

constexpr int kMaxDepth = 200;
constexpr uint64_t kMaxSize = 0xffffffff - 64;  // simdjson's: positions are 32 bits wide

}  // namespace

Result<JsonText> JsonText::read(const Path& path) {
  PARITAS_ASSIGN(const auto file, File::open(path));
  if (file->size() > kMaxSize)
    return input_error(path.string(), fmt::format("is {} bytes long, JSON is read up to 4 GiB", file->size()),
                       "save fewer tensors or iterations to a file");
  JsonText text;
  text.size = file->size();
  text.bytes = std::make_shared_for_overwrite<char[]>(text.size + simdjson::SIMDJSON_PADDING);
  std::memset(text.bytes.get() + text.size, 0, simdjson::SIMDJSON_PADDING);
  PARITAS_TRY(file->read(0, std::as_writable_bytes(std::span(text.bytes.get(), text.size))));
  return text;
}

Unexpected JsonWalk::error(simdjson::error_code code) const {
  if (code == simdjson::UTF8_ERROR) return input_error(subject_, "is not UTF-8 throughout", "save it again");
  if (code == simdjson::EMPTY) return input_error(subject_, "is empty", "save it again");
  return input_error(subject_, fmt::format("not valid JSON ({})", simdjson::error_message(code)),
                     "the file is damaged or cut off: save it again");
}

Unexpected JsonWalk::expected(const char* what) const {
  return input_error(subject_, fmt::format("expected {}", what), "docs/formats.md says what is read");
}

Status JsonWalk::document(const JsonText& text, const std::function<Status(Value)>& visit) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (const auto code =
          parser.iterate(text.bytes.get(), text.size, text.size + simdjson::SIMDJSON_PADDING).get(document))
    return error(code);
  simdjson::ondemand::json_type type{};
  if (const auto code = document.type().get(type)) return error(code);
  if (type != simdjson::ondemand::json_type::object && type != simdjson::ondemand::json_type::array)
    return expected("a JSON object or array");
  Value value;
  if (const auto code = document.get_value().get(value)) return error(code);
  PARITAS_TRY(visit(value));
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return input_error(subject_, "goes on after its JSON value", "save it again");
  return {};
}

Status JsonWalk::deeper() {
  if (++depth_ <= kMaxDepth) return {};
  return input_error(subject_, fmt::format("nested deeper than {} levels", kMaxDepth), "no tool writes such a file");
}

Status JsonWalk::object(Value value, const std::function<Status(const std::string&, Value)>& visit) {
  PARITAS_TRY(deeper());
  simdjson::ondemand::object object;
  if (const auto code = value.get_object().get(object))
    return code == simdjson::INCORRECT_TYPE ? expected("an object") : error(code);
  std::unordered_set<std::string> keys;
  for (auto field : object) {
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return error(code);
    if (!keys.emplace(key).second)
      return input_error(subject_, fmt::format("the key \"{}\" stands twice in one object", printable(key)),
                         "one would hide the other: save it again");
    Value member;
    if (const auto code = field.value().get(member)) return error(code);
    PARITAS_TRY(visit(std::string(key), member));
  }
  --depth_;
  return {};
}

Status JsonWalk::array(Value value, const std::function<Status(Value)>& visit) {
  PARITAS_TRY(deeper());
  simdjson::ondemand::array array;
  if (const auto code = value.get_array().get(array))
    return code == simdjson::INCORRECT_TYPE ? expected("an array") : error(code);
  for (auto element : array) {
    Value member;
    if (const auto code = std::move(element).get(member)) return error(code);
    PARITAS_TRY(visit(member));
  }
  --depth_;
  return {};
}

Status JsonWalk::skip(Value value) {
  simdjson::ondemand::json_type type{};
  if (const auto code = value.type().get(type)) return error(code);
  switch (type) {
    case simdjson::ondemand::json_type::object:
      return object(value, [this](const std::string&, Value member) { return skip(member); });
    case simdjson::ondemand::json_type::array:
      return array(value, [this](Value member) { return skip(member); });
    case simdjson::ondemand::json_type::string: {
      std::string_view text;
      const auto code = value.get_string().get(text);
      return code ? Status(error(code)) : Status();
    }
    case simdjson::ondemand::json_type::number: {
      double number = 0;
      const auto code = value.get_double().get(number);
      return code ? Status(error(code)) : Status();
    }
    case simdjson::ondemand::json_type::boolean: {
      bool truth = false;
      const auto code = value.get_bool().get(truth);
      return code ? Status(error(code)) : Status();
    }
    default: {
      bool null = false;
      const auto code = value.is_null().get(null);
      return code || !null ? Status(error(code ? code : simdjson::N_ATOM_ERROR)) : Status();
    }
  }
}

Result<std::string> JsonWalk::string(Value value, const char* what) {
  std::string_view text;
  if (const auto code = value.get_string().get(text))
    return code == simdjson::INCORRECT_TYPE ? expected(what) : error(code);
  return std::string(text);
}

Result<std::string_view> JsonWalk::plain_string(Value value, const char* what) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
    token.remove_suffix(1);
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return expected(what);
  const std::string_view text = token.substr(1, token.size() - 2);
  if (std::memchr(text.data(), '\\', text.size()) != nullptr) return expected(what);
  // Consumes the value, without unescaping it.
  (void)value.get_raw_json_string();
  return text;
}

}  // namespace paritas
