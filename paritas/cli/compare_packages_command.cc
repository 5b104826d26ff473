#include "paritas/cli/compare_packages_command.h"

#include "paritas/cli/commands.h"
#include "paritas/delivery/compare_packages.h"
#include "paritas/report/package_diff_report.h"

namespace paritas::cli {

bool are_packages(const std::string& before, const std::string& after) {
  return is_package(before) && is_package(after);
}

Result<int> compare_two_packages(const CommonOptions& common, const std::string& before, const std::string& after) {
  Result<PackageDiff> diff = [&] {
    Progress progress(!common.quiet);
    ComparePackagesRequest request{before, after, jobs(common),
                                   [&](const std::string& stage) { progress.stage(stage); }};
    return compare_packages(request);
  }();
  PARITAS_TRY(diff);
  PARITAS_TRY(emit(common, terminal(*diff, terminal_style(common)), common.json.empty() ? Json() : to_json(*diff)));
  return diff->changed ? kExitDeviates : kExitPass;
}

}  // namespace paritas::cli
