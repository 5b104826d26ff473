// Report of `paritas bench`.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/delivery/bench_types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const BenchResult& result, const Style& style);
Json to_json(const BenchResult& result);  // schema paritas.bench/1; times in milliseconds
// A line for every run and part of it: subject, round, run, part, emulated, milliseconds. RFC 4180.
std::string csv(const BenchResult& result);

}  // namespace paritas
