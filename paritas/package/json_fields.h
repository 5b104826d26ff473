// Reads many members of a JSON object and keeps the first fault, so that a reader of a large schema stays a list of its
// members.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/json.h"
#include "paritas/base/shape.h"

namespace paritas {

class JsonFields {
 public:
  // `object` must outlive the reader. `where` is the subject of errors.
  JsonFields(const Json& object, std::string where);

  // Needed members; a member that is missing or of another type is a fault, and the value empty.
  std::string text(const char* key);
  uint64_t whole(const char* key);
  double number(const char* key);
  bool flag(const char* key);
  std::vector<std::string> texts(const char* key);
  std::map<std::string, std::string> text_table(const char* key);
  std::map<std::string, int64_t> whole_table(const char* key);
  DType dtype(const char* key);
  Shape shape(const char* key);
  // Calls `read` for each element, an object, of a needed array.
  void each(const char* key, const std::function<Status(const Json& element)>& read);
  // Calls `read` with a needed object.
  void with(const char* key, const std::function<Status(const Json& object)>& read);
  const Json* optional(const char* key) const;  // nullptr: absent or null

  void fault(const Error& error);
  const std::string& where() const { return where_; }
  Status status() const { return status_; }

 private:
  template <class T>
  T take(Result<T> value) {
    if (value) return std::move(*value);
    fault(value.error());
    return T{};
  }
  const Json& object_;
  std::string where_;
  Status status_;
};

}  // namespace paritas
