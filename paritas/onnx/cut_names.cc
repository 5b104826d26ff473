// parse_cut, resolve_tensor: from what people write to names of the model.
#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "paritas/onnx/cut.h"

namespace paritas::onnx_model {
namespace {

// The standard library's matcher recurses once a character: longer names are not searched.
constexpr size_t kLongestSearched = 1000;
constexpr size_t kListed = 8;  // matches that an error lists

bool is_label(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

std::vector<std::string> candidates(const GraphIndex& index, const ValueDependence& dependence) {
  std::vector<std::string> names = index.inputs();
  for (const auto& node : index.nodes())
    for (const auto& output : node.outputs)
      if (dependence.depends(output)) names.push_back(output);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) text += fmt::format("{}\"{}\"", i ? ", " : "", names[i]);
  if (names.size() > kListed) text += fmt::format(" and {} more", names.size() - kListed);
  return text;
}

Result<std::vector<std::string>> search(const std::vector<std::string>& names, const std::string& pattern,
                                        const std::string& subject) {
  std::vector<std::string> found;
  if (pattern.size() > kLongestSearched) return found;
  try {
    const std::regex expression(pattern, std::regex::ECMAScript);
    for (const auto& name : names)
      if (name.size() <= kLongestSearched && std::regex_search(name, expression)) found.push_back(name);
  } catch (const std::regex_error& error) {
    return usage_error(subject, fmt::format("\"{}\" is no tensor's name or suffix, and no regular expression", pattern),
                       "paritas inspect --verbose lists the names");
  }
  return found;
}

Unexpected no_match(const Model& model, const GraphIndex& index, const std::string& pattern,
                    const std::string& subject) {
  for (const auto& node : index.nodes())
    if (node.name == pattern && !node.outputs.empty())
      return usage_error(subject, fmt::format("\"{}\" is a node of {}, not a tensor", pattern, model.subject()),
                         fmt::format("name what it makes: {}", listed(node.outputs)));
  return usage_error(subject, fmt::format("\"{}\" matches no tensor of {}", pattern, model.subject()),
                     "give a tensor's name, its unique ending, or a regular expression; paritas inspect --verbose "
                     "lists the names");
}

}  // namespace

Result<CutSpec> parse_cut(const std::string& text, const std::string& subject) {
  CutSpec spec;
  std::string rest = text;
  if (const size_t equals = text.find('='); equals != std::string::npos && is_label(text.substr(0, equals))) {
    spec.name = text.substr(0, equals);
    rest = text.substr(equals + 1);
  }
  int depth = 0;
  std::string pattern;
  const auto empty_name = [&] {
    return usage_error(subject, fmt::format("\"{}\" has an empty name", text), "for example: encoder=map0,map1");
  };
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '\\' && i + 1 < rest.size()) {
      if (rest[i + 1] != ',') pattern += c;
      pattern += rest[++i];
    } else if (c == ',' && depth == 0) {
      if (pattern.empty()) return empty_name();
      spec.patterns.push_back(std::exchange(pattern, {}));
    } else {
      depth += c == '(' || c == '[' || c == '{';
      depth = std::max(0, depth - (c == ')' || c == ']' || c == '}'));
      pattern += c;
    }
  }
  if (pattern.empty()) return empty_name();
  spec.patterns.push_back(std::move(pattern));
  return spec;
}

Result<std::string> resolve_tensor(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                                   const std::string& pattern, const std::string& subject) {
  if (index.is_input(pattern) || index.producer(pattern) >= 0 || index.is_initializer(pattern)) return pattern;
  const auto names = candidates(index, dependence);
  std::vector<std::string> found;
  for (const auto& name : names)
    if (!pattern.empty() && name.ends_with(pattern)) found.push_back(name);
  const char* how = "is the ending of";
  if (found.empty()) {
    PARITAS_ASSIGN(found, search(names, pattern, subject));
    how = "is found in";
  }
  if (found.empty()) return no_match(model, index, pattern, subject);
  if (found.size() > 1)
    return usage_error(subject, fmt::format("\"{}\" {} {} tensors: {}", pattern, how, found.size(), listed(found)),
                       "give more of the name, so that one is left");
  return found.front();
}

Result<Cut> resolve_cut(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                        const CutSpec& spec, const std::string& subject) {
  std::map<std::string, std::string> meant_by;
  std::vector<std::string> tensors;
  for (const auto& pattern : spec.patterns) {
    PARITAS_ASSIGN(const std::string tensor, resolve_tensor(model, index, dependence, pattern, subject));
    const auto [it, added] = meant_by.emplace(tensor, pattern);
    if (!added)
      return usage_error(subject, fmt::format("\"{}\" and \"{}\" both mean \"{}\"", it->second, pattern, tensor),
                         "name each tensor once");
    tensors.push_back(tensor);
  }
  return check_cut(model, index, dependence, spec.name, tensors, subject);
}

}  // namespace paritas::onnx_model
