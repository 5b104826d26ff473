// Ready-made gates with their origin, so that nobody has to invent thresholds to begin with.
#pragma once

#include <string>
#include <vector>

namespace paritas {

struct Profile {
  std::string name;
  std::string origin;  // where the numbers come from
  std::string toml;    // the gates, in the form of a gates file
};

const std::vector<Profile>& profiles();
const Profile* find_profile(const std::string& name);

}  // namespace paritas
