// What else the machine does while something is timed: the load average and the CPU time of other processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "paritas/base/error.h"

namespace paritas {

// CPU time of all processes since the machine started, in seconds summed over cores, that was not idle. Time that a
// hypervisor took away counts as busy.
struct CpuTimes {
  double busy = 0;
  int cores = 0;
};
// From the text of /proc/stat; `ticks` a second.
Result<CpuTimes> parse_cpu_times(std::string_view text, double ticks);

struct MachineSnapshot {
  double at = 0;                  // seconds of a steady clock
  std::optional<CpuTimes> times;  // nullopt: the system does not tell
  double own_seconds = 0;         // CPU time of this process
  double load_average = 0;        // of the last minute; 0 when the system does not tell
};
MachineSnapshot machine_snapshot();

// Cores that others kept busy on average between the two, `worker_seconds` of CPU time being ours too. nullopt below
// kShortestForLoad, since the system counts in hundredths of a second.
inline constexpr double kShortestForLoad = 0.25;  // seconds
std::optional<double> busy_others(const MachineSnapshot& before, const MachineSnapshot& after, double worker_seconds);

// "Intel(R) Xeon(R) CPU @ 2.20GHz"; empty when the system does not tell.
std::string cpu_model();
// From the text of /proc/cpuinfo.
std::string parse_cpu_model(std::string_view text);

}  // namespace paritas
