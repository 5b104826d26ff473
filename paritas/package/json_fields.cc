#include "paritas/package/json_fields.h"

#include <fmt/format.h>

namespace paritas {

JsonFields::JsonFields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) fault(input_error(where_, "is not an object").value());
}

void JsonFields::fault(const Error& error) {
  if (status_) status_ = tl::make_unexpected(error);
}

std::string JsonFields::text(const char* key) { return take(json_string(object_, key, where_)); }
uint64_t JsonFields::whole(const char* key) { return take(json_uint(object_, key, where_)); }

double JsonFields::number(const char* key) {
  const auto it = object_.find(key);
  const auto value = it == object_.end() ? std::nullopt : number_from_json(*it);
  if (!value) fault(input_error(where_, fmt::format("\"{}\" is not a number", key)).value());
  return value.value_or(0);
}

bool JsonFields::flag(const char* key) {
  const auto it = object_.find(key);
  if (it != object_.end() && it->is_boolean()) return it->get<bool>();
  fault(input_error(where_, fmt::format("\"{}\" is not true or false", key)).value());
  return false;
}

std::vector<std::string> JsonFields::texts(const char* key) {
  std::vector<std::string> texts;
  const auto array = json_array(object_, key, where_);
  if (!array) {
    fault(array.error());
    return texts;
  }
  for (const Json& each : **array) {
    if (each.is_string()) {
      texts.push_back(each.get<std::string>());
      continue;
    }
    fault(input_error(where_, fmt::format("\"{}\" holds something that is not a string", key)).value());
  }
  return texts;
}

std::map<std::string, std::string> JsonFields::text_table(const char* key) {
  std::map<std::string, std::string> table;
  with(key, [&](const Json& object) -> Status {
    for (const auto& [name, value] : object.items()) {
      if (!value.is_string()) return input_error(where_, fmt::format("\"{}.{}\" is not a string", key, name));
      table[name] = value.get<std::string>();
    }
    return {};
  });
  return table;
}

std::map<std::string, int64_t> JsonFields::whole_table(const char* key) {
  std::map<std::string, int64_t> table;
  with(key, [&](const Json& object) -> Status {
    for (const auto& [name, value] : object.items()) {
      PARITAS_ASSIGN(table[name], json_int(object, name.c_str(), where_));
    }
    return {};
  });
  return table;
}

DType JsonFields::dtype(const char* key) {
  const std::string word = text(key);
  const auto dtype = dtype_from_name(word);
  if (!dtype && status_) fault(input_error(where_, fmt::format("unknown element type \"{}\"", word)).value());
  return dtype.value_or(DType::kF32);
}

Shape JsonFields::shape(const char* key) {
  Shape shape;
  const auto array = json_array(object_, key, where_);
  if (!array) {
    fault(array.error());
    return shape;
  }
  for (const Json& each : **array) {
    const bool fits = each.is_number_unsigned() ? each.get<uint64_t>() <= INT64_MAX
                                                : each.is_number_integer() && each.get<int64_t>() >= 0;
    if (!fits) {
      fault(input_error(where_, fmt::format("\"{}\" holds something that is no dimension", key)).value());
      return {};
    }
    shape.push_back(each.get<int64_t>());
  }
  if (const auto count = element_count(shape); !count)
    fault(input_error(where_, fmt::format("\"{}\" has more elements than any file can hold", key)).value());
  return shape;
}

void JsonFields::each(const char* key, const std::function<Status(const Json&)>& read) {
  const auto array = json_array(object_, key, where_);
  if (!array) return fault(array.error());
  for (const Json& element : **array)
    if (const Status status = read(element); !status) return fault(status.error());
}

void JsonFields::with(const char* key, const std::function<Status(const Json&)>& read) {
  const auto object = json_object(object_, key, where_);
  if (!object) return fault(object.error());
  if (const Status status = read(**object); !status) fault(status.error());
}

const Json* JsonFields::optional(const char* key) const {
  if (!object_.is_object()) return nullptr;
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

}  // namespace paritas
