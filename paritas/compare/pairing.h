// Which tensor of the device belongs to which of the reference: by exact name, by aliases that the user gives, and on
// request by named rules about how converters change names. Never by position.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas {

struct PairingRules {
  bool normalised = false;
  std::map<std::string, std::string> aliases;  // reference name -> device name
};

struct NamePair {
  std::string reference;
  std::string device;
  std::string rule;  // "exact", "alias", or the rules that made the names equal: "sanitised + case"
};

struct Pairing {
  std::vector<NamePair> pairs;  // in the reference's order
  std::vector<std::string> unmatched_reference, unmatched_device;
};

// Errors (kInput): a name twice on one side; an alias for a tensor that is not there or is claimed twice; two names of
// one side that become one after a rule while the other side waits for it.
Result<Pairing> pair_names(const std::vector<std::string>& reference, const std::vector<std::string>& device,
                           const PairingRules& rules, const std::string& reference_subject,
                           const std::string& device_subject);

// TOML: a table [aliases] of "reference name" = "device name".
Result<std::map<std::string, std::string>> load_aliases(const Path& file);

}  // namespace paritas
