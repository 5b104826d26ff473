#include "paritas/runtime/backend.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paritas {

Status check_ports(const std::vector<std::pair<std::string, Tensor>>& inputs, const SessionInfo& info,
                   const std::string& subject) {
  std::vector<std::string> known;
  for (const PortInfo& port : info.inputs) known.push_back(port.name);
  std::vector<std::string> given;
  for (const auto& [name, tensor] : inputs) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return input_error(subject, fmt::format("has no input \"{}\"", name),
                         fmt::format("its inputs are {}", fmt::join(known, ", ")));
    if (std::find(given.begin(), given.end(), name) != given.end())
      return input_error(subject, fmt::format("the input \"{}\" was given twice", name));
    given.push_back(name);
  }
  for (const std::string& name : known) {
    if (std::find(given.begin(), given.end(), name) == given.end())
      return input_error(subject, fmt::format("the input \"{}\" is missing", name), "give a tensor for it");
  }
  return {};
}

}  // namespace paritas
