// Options that compare shares with other commands that compare recordings.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "paritas/compare/compare.h"

namespace CLI {
class App;
}

namespace paritas::cli {

struct CompareFlags {
  std::string gates_file;
  std::vector<std::string> gates, profiles;
  std::string names = "exact";
  std::string aliases;
  std::vector<std::string> roles, quantisations, ranked;
  bool inputs_unverified = false;
  bool allow_extra = false;
  bool quantiles = false;
};

void add_compare_flags(CLI::App& command, CompareFlags& flags);
// Gates are read here, before any tensor is.
// Files that a command writes must be different ones; empty names are none.
Status check_distinct(const std::vector<std::string>& files);

Result<CompareOptions> compare_options(const CompareFlags& flags, int threads);
// Tensors that --role NAME=input names, by the reference's names.
std::set<std::string> declared_inputs(const CompareOptions& options);

}  // namespace paritas::cli
