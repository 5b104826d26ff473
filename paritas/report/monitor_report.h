#pragma once

#include "paritas/monitor/monitor.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const MonitorResult& result, const Style& style);

}  // namespace paritas
