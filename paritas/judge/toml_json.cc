#include "paritas/judge/toml_json.h"

#include <sstream>

#include <fmt/format.h>

#include "paritas/judge/toml.h"

namespace paritas {
namespace {

constexpr int kDeepest = 200;

Result<Json> convert(const toml::node& node, const std::string& subject, int depth) {
  if (depth > kDeepest) return usage_error(subject, fmt::format("is nested deeper than {} levels", kDeepest));
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) {
      PARITAS_ASSIGN(object[std::string(key.str())], convert(value, subject, depth + 1));
    }
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const auto& value : *array) {
      PARITAS_ASSIGN(Json item, convert(value, subject, depth + 1));
      list.push_back(std::move(item));
    }
    return list;
  }
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* whole = node.as_integer()) return Json(whole->get());
  if (const auto* real = node.as_floating_point()) return Json(real->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  std::ostringstream text;
  node.visit([&text](const auto& value) {
    if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                  toml::is_date_time<decltype(value)>)
      text << value;
  });
  return Json(text.str());
}

}  // namespace

Result<Json> parse_toml(const std::string& text, const std::string& subject) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return usage_error(subject, fmt::format("not valid TOML at line {}: {}", parsed.error().source().begin.line,
                                            parsed.error().description()));
  return convert(parsed.table(), subject, 0);
}

}  // namespace paritas
