// JSON through nlohmann::ordered_json, with the two rules that it lacks: numbers that are not finite are written as the
// strings "nan", "inf", "-inf" (the library writes null silently), and parsing never throws.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "paritas/base/error.h"

namespace paritas {

using Json = nlohmann::ordered_json;

// A finite number, or one of "nan", "inf", "-inf".
Json json_number(double value);

// The inverse: number or one of the three strings; nullopt for anything else.
std::optional<double> number_from_json(const Json& value);

// `subject` names the source in the error. Refuses duplicate keys in one object, nesting deeper than 200 levels,
// and anything after the value.
Result<Json> parse_json(std::string_view text, const std::string& subject);

// Text for a file: UTF-8, invalid bytes replaced by U+FFFD; indent < 0 for one line.
std::string dump_json(const Json& value, int indent = 1);

// Typed access that reports instead of throwing: "run.json: "samples" is not a whole number".
Result<std::string> json_string(const Json& object, const char* key, const std::string& subject);
Result<int64_t> json_int(const Json& object, const char* key, const std::string& subject);
Result<uint64_t> json_uint(const Json& object, const char* key, const std::string& subject);
Result<const Json*> json_array(const Json& object, const char* key, const std::string& subject);
Result<const Json*> json_object(const Json& object, const char* key, const std::string& subject);

}  // namespace paritas
