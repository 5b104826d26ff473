#include "paritas/delivery/bench_machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr const char* kStat = "/proc/stat";

// Files of /proc have no size that could be believed: read until they end.
std::string text_of_proc(const char* path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<uint64_t> numbers_in(std::string_view line) {
  std::vector<uint64_t> numbers;
  while (!line.empty()) {
    const size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    line.remove_prefix(start);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc()) break;
    numbers.push_back(value);
    line.remove_prefix(static_cast<size_t>(end - line.data()));
  }
  return numbers;
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Result<CpuTimes> parse_cpu_times(std::string_view text, double ticks) {
  CpuTimes times;
  bool total = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!line.starts_with("cpu")) continue;
    if (!line.starts_with("cpu ")) {
      ++times.cores;
      continue;
    }
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted in user already.
    const std::vector<uint64_t> fields = numbers_in(line.substr(4));
    if (fields.size() < 8) return runtime_error(kStat, "its first line has fewer than eight numbers");
    for (size_t i : {0, 1, 2, 5, 6, 7}) times.busy += static_cast<double>(fields[i]) / ticks;
    total = true;
  }
  if (!total || times.cores == 0) return runtime_error(kStat, "it lists no processor");
  return times;
}

MachineSnapshot machine_snapshot() {
  MachineSnapshot snapshot;
  snapshot.at = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  snapshot.own_seconds = own_cpu_seconds();
  if (auto times = parse_cpu_times(text_of_proc(kStat), static_cast<double>(::sysconf(_SC_CLK_TCK))))
    snapshot.times = *times;
  double loads[1] = {0};
  if (::getloadavg(loads, 1) == 1) snapshot.load_average = loads[0];
  return snapshot;
}

std::optional<double> busy_others(const MachineSnapshot& before, const MachineSnapshot& after, double worker_seconds) {
  const double seconds = after.at - before.at;
  if (!before.times || !after.times || seconds < kShortestForLoad) return std::nullopt;
  const double ours = worker_seconds + after.own_seconds - before.own_seconds;
  return std::max(0.0, (after.times->busy - before.times->busy - ours) / seconds);
}

std::string parse_cpu_model(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string_view::npos ? std::string() : std::string(line.substr(start));
  }
  return {};
}

std::string cpu_model() { return parse_cpu_model(text_of_proc("/proc/cpuinfo")); }

}  // namespace paritas
