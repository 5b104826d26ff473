#include "paritas/base/json.h"

#include <cmath>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr int kMaxDepth = 200;

Result<const Json*> member(const Json& object, const char* key, const std::string& subject) {
  if (!object.is_object()) return input_error(subject, fmt::format("expected an object that holds \"{}\"", key));
  auto it = object.find(key);
  if (it == object.end()) return input_error(subject, fmt::format("\"{}\" is missing", key));
  return &*it;
}

// Checks structure before the library builds anything: depth and duplicate keys.
class StructureCheck : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string problem;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return descend();
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return descend(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& text) override {
    if (keys_.back().insert(text).second) return true;
    problem = fmt::format("the key \"{}\" stands twice in one object", text);
    return false;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    problem = fmt::format("not valid JSON at byte {} ({})", position, e.what());
    return false;
  }

 private:
  bool descend() {
    if (++depth_ <= kMaxDepth) return true;
    problem = fmt::format("nested deeper than {} levels", kMaxDepth);
    return false;
  }

  int depth_ = 0;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::optional<double> number_from_json(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan") return std::nan("");
  if (text == "inf") return INFINITY;
  if (text == "-inf") return -INFINITY;
  return std::nullopt;
}

Result<Json> parse_json(std::string_view text, const std::string& subject) {
  // The library takes a zero byte for the end of the text: what follows would go unnoticed.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return input_error(subject, fmt::format("not valid JSON at byte {} (a zero byte)", zero));
  StructureCheck check;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &check))
    return input_error(subject, check.problem.empty() ? "not valid JSON" : check.problem);
  Json value = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return input_error(subject, "not valid JSON");
  return value;
}

std::string dump_json(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> json_string(const Json& object, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(const Json* value, member(object, key, subject));
  if (!value->is_string()) return input_error(subject, fmt::format("\"{}\" is not a string", key));
  return value->get<std::string>();
}

Result<int64_t> json_int(const Json& object, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(const Json* value, member(object, key, subject));
  if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX))
    return input_error(subject, fmt::format("\"{}\" is not a whole number", key));
  return value->get<int64_t>();
}

Result<uint64_t> json_uint(const Json& object, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(int64_t value, json_int(object, key, subject));
  if (value < 0) return input_error(subject, fmt::format("\"{}\" is negative", key));
  return static_cast<uint64_t>(value);
}

Result<const Json*> json_array(const Json& object, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(const Json* value, member(object, key, subject));
  if (!value->is_array()) return input_error(subject, fmt::format("\"{}\" is not an array", key));
  return value;
}

Result<const Json*> json_object(const Json& object, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(const Json* value, member(object, key, subject));
  if (!value->is_object()) return input_error(subject, fmt::format("\"{}\" is not an object", key));
  return value;
}

}  // namespace paritas
