// The verdict of a monitored set. Flags of the monitor profile have no say in it: gates have.
#pragma once

#include "paritas/monitor/monitor.h"
#include "paritas/monitor/record.h"
#include "paritas/project/project.h"

namespace paritas {

struct UnpairedOutputs {
  std::vector<std::string> reference, device;
};

// Tasks are concluded and judged, then everything together. `result` is reduced already.
Status judge_monitor(const Project& project, const std::vector<MonitorRecord>& records, const UnpairedOutputs& unpaired,
                     MonitorResult& result);

// Do the fed values look as the declared mean and std promise (mean about 0, standard deviation about 1)?
void judge_normalisation(const Project& project, Feed feed, MonitorResult& result);

}  // namespace paritas
