#include <charconv>

#include <fmt/format.h>

#include "paritas/task/classification.h"
#include "paritas/task/spec_reader.h"
#include "paritas/task/values.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

std::string_view trim(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

Result<std::vector<int64_t>> labels_from_npy(const Path& path) {
  PARITAS_ASSIGN(const Tensor tensor, read_npy(path));
  if (!is_integer(tensor.dtype))
    return input_error(path.string(), fmt::format("labels must be integers, but it is {}", name(tensor.dtype)));
  PARITAS_ASSIGN(const auto whole, whole_values(tensor, path.string()));
  std::vector<int64_t> labels;
  for (const auto& value : whole) {
    if (!value) return input_error(path.string(), "a label is beyond 2^53");
    labels.push_back(*value);
  }
  return labels;
}

}  // namespace

std::string_view name(ClassValues values) { return values == ClassValues::kLogits ? "logits" : "probabilities"; }

Result<ClassificationSpec> classification_from_json(const Json& object, const std::string& subject) {
  PARITAS_ASSIGN(SpecReader reader, SpecReader::of(object, subject));
  ClassificationSpec spec;
  std::string type = "classification";
  PARITAS_TRY(reader.text("type", type));
  if (type != "classification")
    return usage_error(subject, fmt::format("\"{}\" is not the type of a classification", type));
  PARITAS_TRY(reader.text("name", spec.name));
  PARITAS_TRY(reader.require("output"));
  PARITAS_TRY(reader.text("output", spec.output));
  // Softmax of probabilities, or no softmax of logits, hides errors: the declaration must be made, not guessed.
  PARITAS_TRY(reader.require("values"));
  PARITAS_TRY(reader.choice<ClassValues>(
      "values", {{"logits", ClassValues::kLogits}, {"probabilities", ClassValues::kProbabilities}}, spec.values));
  PARITAS_TRY(reader.whole("k", spec.k));
  if (spec.k < 1) return usage_error(subject, "\"k\" must be at least 1");
  PARITAS_TRY(reader.whole("axis", spec.axis));
  PARITAS_TRY(reader.texts("class_names", spec.class_names));
  PARITAS_TRY(reader.quantisation("quantisation", spec.quantisation));
  PARITAS_TRY(reader.finish());
  return spec;
}

Result<std::vector<int64_t>> read_labels(const Path& path) {
  if (path.extension() == ".npy") return labels_from_npy(path);
  PARITAS_ASSIGN(const std::string text, read_text(path));
  std::vector<int64_t> labels;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.front() == '#') continue;
    int64_t label = 0;
    const auto [stop, code] = std::from_chars(line.data(), line.data() + line.size(), label);
    if (code != std::errc() || stop != line.data() + line.size())
      return input_error(path.string(), fmt::format("line {} is not a whole number", number),
                         "write one class index per line");
    labels.push_back(label);
  }
  if (labels.empty()) return input_error(path.string(), "it holds no label");
  return labels;
}

}  // namespace paritas
