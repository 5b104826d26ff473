// From records of samples to figures over all of them: a pure function, so that a run that went on after an
// interruption comes to the same.
#pragma once

#include "paritas/monitor/layers.h"
#include "paritas/monitor/monitor.h"
#include "paritas/monitor/record.h"

namespace paritas {

// Of records in sample order. Fills layers (whose names, nodes and blocks are there already, in the records' order),
// blocks, amplified, coverage and files of `result`; the verdict is the caller's.
void reduce(const std::vector<MonitorRecord>& records, MonitorResult& result);

// A metric over samples, in their order; the rules of compare/summary.h.
MetricSummary summary_of_metric(const std::string& metric, const std::vector<std::pair<double, std::string>>& values);

}  // namespace paritas
