// Reads a declared task (a JSON object, from the project file) key by key, and refuses the keys that nobody asked for.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/recording/provenance.h"

namespace paritas {

class SpecReader {
 public:
  // `subject` names the declaration in errors: "paritas.toml, task 1". `object` must outlive the reader.
  static Result<SpecReader> of(const Json& object, std::string subject);

  // Each takes a key; an absent key leaves `value` as it is.
  Status text(const char* key, std::string& value);
  Status number(const char* key, double& value);
  Status optional_number(const char* key, std::optional<double>& value);
  Status whole(const char* key, int64_t& value);
  Status texts(const char* key, std::vector<std::string>& value);
  Status quantisation(const char* key, std::optional<Quantisation>& value);
  // The index of the chosen word.
  template <class Enum>
  Status choice(const char* key, const std::vector<std::pair<std::string, Enum>>& words, Enum& value) {
    size_t index = 0;
    std::vector<std::string> names;
    for (const auto& word : words) names.push_back(word.first);
    PARITAS_ASSIGN(const bool found, choose(key, names, index));
    if (found) value = words[index].second;
    return {};
  }
  const Json* raw(const char* key);  // nullptr when absent

  Status require(const char* key) const;
  // An error for the first key that none of the calls above asked for.
  Status finish() const;
  const std::string& subject() const { return subject_; }

 private:
  SpecReader(const Json& object, std::string subject) : object_(&object), subject_(std::move(subject)) {}
  Result<bool> choose(const char* key, const std::vector<std::string>& names, size_t& index);

  const Json* object_;
  std::string subject_;
  std::vector<std::string> known_;
};

}  // namespace paritas
