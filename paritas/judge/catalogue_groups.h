// Wordings about errors that sit in one part of a tensor.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct UnevenFacts {
  std::string node, tensor;
  std::string run;             // "local", "accumulated"
  std::string axis;            // "head (axis 1)"
  std::string where;           // "index 3", "even indices"
  double share = 0;            // of the error energy
  double fair = 0;             // of the elements
  double reference_share = 0;  // of the reference's energy
  bool nonfinite = false;      // shares are of NaN and infinities that only the device has
};
Finding uneven_error(const UnevenFacts& facts);

}  // namespace paritas::catalogue
