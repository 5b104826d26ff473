// Foreign JSON through simdjson's On-Demand parser: one padded buffer, values read in place. On-Demand checks only what
// is looked at, so every value is walked, with the two rules of base/json.h: no key twice, no more than 200 levels.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "paritas/base/files.h"

namespace paritas {

// The text of a JSON file with the zero bytes behind it that simdjson wants.
struct JsonText {
  std::shared_ptr<char[]> bytes;
  size_t size = 0;
  std::string_view view() const { return {bytes.get(), size}; }
  static Result<JsonText> read(const Path& path);
};

class JsonWalk {
 public:
  using Value = simdjson::ondemand::value;

  explicit JsonWalk(std::string subject) : subject_(std::move(subject)) {}

  // Calls visit(value, depth 0) on the document's value, which must be an object or array, and checks that nothing
  // follows it.
  Status document(const JsonText& text, const std::function<Status(Value)>& visit);
  // Each member or element, in order. Every one must be consumed: by another walk, a getter below, or skip().
  Status object(Value value, const std::function<Status(const std::string& key, Value)>& visit);
  Status array(Value value, const std::function<Status(Value)>& visit);
  Status skip(Value value);

  Result<std::string> string(Value value, const char* what);
  // The characters between the quotes, as they stand; refused when they hold an escape.
  Result<std::string_view> plain_string(Value value, const char* what);

  Unexpected error(simdjson::error_code code) const;
  Unexpected expected(const char* what) const;  // "expected WHAT"
  const std::string& subject() const { return subject_; }

 private:
  Status deeper();

  std::string subject_;
  int depth_ = 0;
};

}  // namespace paritas
