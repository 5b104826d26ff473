// Wordings about packages. Part of the catalogue (finding.h): nothing is worded elsewhere.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct PackagePartFacts {
  std::string part;       // its name
  std::string target;     // where it runs
  std::string figure;     // of the deciding output with this part alone from the package; may be empty
  std::string whole;      // the same of all parts
  bool demanded = false;  // a gate failed; else nobody said how close the outputs have to be
};
Finding package_part_enough(const PackagePartFacts& facts);  // this part alone breaks the outputs
Finding package_parts_together(const std::vector<std::string>& parts, const PackagePartFacts& facts);  // only together
Finding package_holds(const std::vector<std::string>& parts, const std::string& figure);

}  // namespace paritas::catalogue
