#include "paritas/task/spec_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paritas {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

bool fits_int64(const Json& value) {
  return value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
}

// A number, or a list of numbers, as quantisation has them.
template <class T, class Accept>
std::optional<std::vector<T>> one_or_many(const Json& value, Accept accept) {
  std::vector<T> list;
  if (accept(value)) return std::vector<T>{value.get<T>()};
  if (!value.is_array() || value.empty()) return std::nullopt;
  for (const Json& entry : value) {
    if (!accept(entry)) return std::nullopt;
    list.push_back(entry.get<T>());
  }
  return list;
}

}  // namespace

Result<SpecReader> SpecReader::of(const Json& object, std::string subject) {
  if (!object.is_object()) return usage_error(std::move(subject), "a task must be a table of keys");
  return SpecReader(object, std::move(subject));
}

const Json* SpecReader::raw(const char* key) {
  known_.push_back(key);
  auto it = object_->find(key);
  return it == object_->end() ? nullptr : &*it;
}

Status SpecReader::text(const char* key, std::string& value) {
  const Json* json = raw(key);
  if (json == nullptr) return {};
  if (!json->is_string() || json->get_ref<const std::string&>().empty())
    return usage_error(subject_, fmt::format("\"{}\" must be a text", key));
  value = json->get<std::string>();
  return {};
}

Status SpecReader::number(const char* key, double& value) {
  std::optional<double> found;
  PARITAS_TRY(optional_number(key, found));
  if (found) value = *found;
  return {};
}

Status SpecReader::optional_number(const char* key, std::optional<double>& value) {
  const Json* json = raw(key);
  if (json == nullptr) return {};
  if (!json->is_number() || !std::isfinite(json->get<double>()))
    return usage_error(subject_, fmt::format("\"{}\" must be a finite number", key));
  value = json->get<double>();
  return {};
}

Status SpecReader::whole(const char* key, int64_t& value) {
  const Json* json = raw(key);
  if (json == nullptr) return {};
  if (!fits_int64(*json)) return usage_error(subject_, fmt::format("\"{}\" must be a whole number", key));
  value = json->get<int64_t>();
  return {};
}

Status SpecReader::texts(const char* key, std::vector<std::string>& value) {
  const Json* json = raw(key);
  if (json == nullptr) return {};
  const std::string wrong = fmt::format("\"{}\" must be a list of texts", key);
  if (!json->is_array()) return usage_error(subject_, wrong);
  value.clear();
  for (const Json& entry : *json) {
    if (!entry.is_string()) return usage_error(subject_, wrong);
    value.push_back(entry.get<std::string>());
  }
  return {};
}

Status SpecReader::quantisation(const char* key, std::optional<Quantisation>& value) {
  const Json* json = raw(key);
  if (json == nullptr) return {};
  const std::string where = fmt::format("{}, {}", subject_, key);
  PARITAS_ASSIGN(SpecReader reader, SpecReader::of(*json, where));
  Quantisation q;
  PARITAS_TRY(reader.require("scale"));
  auto scale = one_or_many<double>(*reader.raw("scale"), [](const Json& j) { return j.is_number(); });
  if (!scale) return usage_error(where, "\"scale\" must be a number or a list of numbers");
  q.scale = std::move(*scale);
  if (const Json* zero = reader.raw("zero_point"); zero != nullptr) {
    auto points = one_or_many<int64_t>(*zero, fits_int64);
    if (!points) return usage_error(where, "\"zero_point\" must be a whole number or a list of them");
    q.zero_point = std::move(*points);
  }
  if (reader.raw("axis") != nullptr) {
    int64_t axis = 0;
    PARITAS_TRY(reader.whole("axis", axis));
    if (axis < -8 || axis > 7) return usage_error(where, "\"axis\" must be the number of a dimension");
    q.axis = static_cast<int>(axis);
  }
  PARITAS_TRY(reader.finish());
  value = std::move(q);
  return {};
}

Result<bool> SpecReader::choose(const char* key, const std::vector<std::string>& names, size_t& index) {
  const Json* json = raw(key);
  if (json == nullptr) return false;
  const std::string given = json->is_string() ? json->get<std::string>() : dump_json(*json, -1);
  auto it = std::find(names.begin(), names.end(), given);
  if (!json->is_string() || it == names.end())
    return usage_error(subject_, fmt::format("\"{}\" cannot be \"{}\"", key, given), "use one of: " + join(names));
  index = static_cast<size_t>(it - names.begin());
  return true;
}

Status SpecReader::require(const char* key) const {
  if (object_->contains(key)) return {};
  return usage_error(subject_, fmt::format("\"{}\" is missing", key));
}

Status SpecReader::finish() const {
  for (const auto& [key, value] : object_->items())
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      std::vector<std::string> unique;  // a reader may ask twice
      for (const std::string& known : known_)
        if (std::find(unique.begin(), unique.end(), known) == unique.end()) unique.push_back(known);
      return usage_error(subject_, fmt::format("unknown key \"{}\"", key), "keys are " + join(unique));
    }
  return {};
}

}  // namespace paritas
