#include "paritas/delivery/bench_lane.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "paritas/runtime/sim/simulate.h"
#include "paritas/vendor/qnn_cycles.h"

namespace paritas {
namespace {

using Clock = std::chrono::steady_clock;

// An emulation takes long, and its count follows the load of the host: more runs would not make it better.
constexpr int kProfiledRuns = 3, kProfiledRunsOfEmulation = 1;
// A request of an endurance run takes about so long: often enough to see how memory moves.
constexpr double kEnduranceStep = 0.5;
constexpr size_t kEndurancePoints = 100;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Status make_folder(const Path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return runtime_error(folder.string(), fmt::format("cannot be created: {}", code.message()));
  return {};
}

// The file as it lies there, or the copy, written to `folder`.
Result<Path> file_of(const BenchStage& stage, const Path& folder) {
  if (stage.copy == nullptr) return stage.file;
  PARITAS_TRY(make_folder(folder));
  if (stage.target.simulate) {
    PARITAS_ASSIGN(const auto simulated, simulate(*stage.copy, *stage.target.simulate, folder));
    PARITAS_ASSIGN(const auto saved, simulated.save(folder));
    return saved.model;
  }
  PARITAS_ASSIGN(const auto saved, stage.copy->save(folder));
  return saved.model;
}

Result<SessionRequest> session_request(const BenchStage& stage, const Path& folder) {
  SessionRequest request;
  PARITAS_ASSIGN(request.model, file_of(stage, folder));
  request.target = stage.target;
  request.as_application = true;
  return request;
}

BenchPlacement placement_of(const SessionInfo& info, const Target& target) {
  BenchPlacement placement;
  placement.requested = target.provider;
  placement.total = info.assignment.size();
  for (const AssignedNode& node : info.assignment) placement.on_requested += node.provider == target.provider ? 1 : 0;
  return placement;
}

// Errors name the user's file, not the copy in scratch.
template <class T>
Result<T> about(Result<T> result, const Path& opened, const BenchStage& stage) {
  if (result || stage.copy == nullptr) return result;
  Error error = std::move(result).error();
  if (error.subject == opened.string()) error.subject = stage.file.string();
  return tl::make_unexpected(std::move(error));
}

CycleEstimate estimate_of(const QnnCycles& cycles, int runs) {
  const auto each = static_cast<uint64_t>(runs);
  return {cycles.accelerator_cycles / each, cycles.op_cycles() / each, each};
}

}  // namespace

Status BenchLane::open_stage(const BenchStage& stage, const Path& folder, StageTimes& times) {
  PARITAS_ASSIGN(const SessionRequest request, session_request(stage, folder));
  PARITAS_ASSIGN(const SessionInfo info, about(worker_->open(request), request.model, stage));
  times.name = stage.name;
  times.file = stage.file.string();
  times.target = stage.target.spec.text;
  times.edited = stage.edited;
  times.session = info.seconds;
  times.provider = info.provider_seconds;
  times.placement = placement_of(info, stage.target);
  times.options = request.target.provider_options;
  times.options.insert(request.target.session_entries.begin(), request.target.session_entries.end());
  times.unoptimised_because = info.unoptimised_because;
  times.emulated = stage.target.capabilities.emulated;
  if (stage.target.capabilities.device && times.placement.total > 0 && times.placement.on_requested == 0)
    return runtime_error(stage.target.spec.text,
                         fmt::format("0 of {} nodes of {} ran on {}: this would time the CPU", times.placement.total,
                                     stage.file.string(), stage.target.provider),
                         "check the provider's options and whether it supports this model");
  chain_.push_back({info.id, stage.inputs, stage.outputs});
  return {};
}

Result<BenchLane> BenchLane::open(const BenchSubject& subject, WorkerOptions options, const Path& folder,
                                  BenchSide& side) {
  PARITAS_TRY(make_folder(folder));
  options.scratch = folder;
  const auto start = Clock::now();
  PARITAS_ASSIGN(auto worker, Worker::start(options));
  side.start = seconds_since(start);
  BenchLane lane(subject, std::move(worker));
  lane.timeout_ = options.timeout;
  side.name = subject.name;
  side.kind = subject.kind;
  side.sha256 = subject.sha256;
  for (size_t i = 0; i < subject.stages.size(); ++i) {
    StageTimes times;
    PARITAS_TRY(lane.open_stage(subject.stages[i], folder / fmt::format("stage-{}", i), times));
    side.stages.push_back(std::move(times));
  }
  side.ready = seconds_since(start);
  side.peak_after_load = lane.peak();
  return lane;
}

TimeRequest BenchLane::request() const {
  TimeRequest request;
  request.chain = chain_;
  request.inputs = subject_->inputs;
  request.fetch = subject_->outputs;
  return request;
}

Result<TimeReply> BenchLane::time(TimeRequest request) {
  // The worker's timeout is for one run. Of the others it is known how long they take, once there was one.
  const int more = request.warm_up + request.runs - 1;
  if (request.seconds > 0)
    request.patience = std::chrono::seconds(static_cast<int64_t>(std::ceil(request.seconds)));
  else if (slowest_run_ > 0)
    request.patience = std::chrono::seconds(static_cast<int64_t>(std::ceil(4 * slowest_run_ * more)));
  else
    request.patience = timeout_ * more;
  PARITAS_ASSIGN(TimeReply reply, worker_->time(request));
  cpu_seconds_ += reply.cpu_seconds;
  for (const TimedRun& run : reply.runs) slowest_run_ = std::max(slowest_run_, run.chain);
  return reply;
}

Result<TimeReply> BenchLane::measure(int warm_up, int runs, BenchSide& side) {
  if (!began_ && warm_up > 0) {
    PARITAS_ASSIGN(const TimeReply first, time(request()));
    side.first_run = first.runs.front().chain;
    --warm_up;
  }
  began_ = true;
  TimeRequest timed = request();
  timed.warm_up = warm_up;
  timed.runs = runs;
  return time(std::move(timed));
}

Result<NamedTensors> BenchLane::fetch(const std::vector<std::string>& tensors) {
  TimeRequest wanted = request();
  wanted.fetch = tensors;
  PARITAS_ASSIGN(TimeReply reply, time(std::move(wanted)));
  return std::move(reply.last);
}

namespace {

// Slope of bytes over seconds by least squares, an hour.
double slope_per_hour(const std::vector<std::pair<double, uint64_t>>& points) {
  if (points.size() < 2) return 0;
  double mean_x = 0, mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / static_cast<double>(points.size());
    mean_y += static_cast<double>(y) / static_cast<double>(points.size());
  }
  double xy = 0, xx = 0;
  for (const auto& [x, y] : points) {
    xy += (x - mean_x) * (static_cast<double>(y) - mean_y);
    xx += (x - mean_x) * (x - mean_x);
  }
  return xx > 0 ? xy / xx * 3600 : 0;
}

// Every k-th, so that about kEndurancePoints remain; the last one stays.
void thin(std::vector<std::pair<double, uint64_t>>& points) {
  const size_t step = (points.size() + kEndurancePoints - 1) / kEndurancePoints;
  if (step < 2) return;
  std::vector<std::pair<double, uint64_t>> kept;
  for (size_t i = points.size() - 1;; i -= step) {
    kept.push_back(points[i]);
    if (i < step) break;
  }
  std::reverse(kept.begin(), kept.end());
  points = std::move(kept);
}

void conclude_endurance(const std::vector<double>& times, Endurance& endurance) {
  const size_t tenth = times.size() / 10;
  endurance.runs = times.size();
  endurance.first_tenth = time_figures({times.begin(), times.begin() + static_cast<ptrdiff_t>(tenth)});
  endurance.last_tenth = time_figures({times.end() - static_cast<ptrdiff_t>(tenth), times.end()});
  endurance.time_assessed = tenth >= kLeastRunsForNoise;
  // The first tenth still warms up: arenas grow, libraries load what they need late.
  const size_t warm = endurance.resident.size() / 10;
  const std::vector<std::pair<double, uint64_t>> rest(endurance.resident.begin() + static_cast<ptrdiff_t>(warm),
                                                      endurance.resident.end());
  endurance.bytes_per_hour = slope_per_hour(rest);
  if (!rest.empty())
    endurance.grown = static_cast<int64_t>(rest.back().second) - static_cast<int64_t>(rest.front().second);
  thin(endurance.resident);
}

}  // namespace

Status BenchLane::endure(double seconds, const NamedTensors& expected, Endurance& endurance,
                         const std::function<void(double)>& progress) {
  endurance.seconds = seconds;
  std::vector<double> times;
  const auto start = Clock::now();
  for (double passed = 0; passed < seconds; passed = seconds_since(start)) {
    if (progress) progress(seconds - passed);
    TimeRequest step = request();
    step.fetch.clear();
    step.against = expected;
    step.runs = kMostTimedRuns;
    step.seconds = std::min(kEnduranceStep, seconds - passed);
    PARITAS_ASSIGN(const TimeReply reply, time(std::move(step)));
    if (reply.first_differing && !endurance.first_differing)
      endurance.first_differing = times.size() + *reply.first_differing + 1;
    endurance.differing += reply.differing;
    for (const TimedRun& run : reply.runs) times.push_back(run.chain);
    endurance.resident.emplace_back(seconds_since(start), reply.resident_bytes);
  }
  conclude_endurance(times, endurance);
  return {};
}

std::vector<std::string> tensors_for_cycles(const BenchSubject& subject) {
  std::vector<std::string> wanted, made;
  for (const BenchStage& stage : subject.stages) {
    if (stage.target.capabilities.cycle_profile)
      for (const auto& [port, tensor] : stage.inputs)
        if (std::find(made.begin(), made.end(), tensor) != made.end() &&
            std::find(wanted.begin(), wanted.end(), tensor) == wanted.end())
          wanted.push_back(tensor);
    for (const auto& [port, tensor] : stage.outputs) made.push_back(tensor);
  }
  return wanted;
}

namespace {

Result<CycleEstimate> cycles_of(const BenchStage& stage, const NamedTensors& inputs, Worker& worker,
                                const Path& folder) {
  PARITAS_TRY(make_folder(folder / "profile"));
  PARITAS_ASSIGN(SessionRequest request, session_request(stage, folder));
  request.profile_folder = std::filesystem::absolute(folder / "profile");
  PARITAS_ASSIGN(const SessionInfo info, about(worker.open(request), request.model, stage));
  TimeRequest run;
  run.chain = {{info.id, stage.inputs, stage.outputs}};
  for (const auto& [port, tensor] : stage.inputs)
    for (const auto& [name, value] : inputs)
      if (name == tensor &&
          std::none_of(run.inputs.begin(), run.inputs.end(), [&](const auto& e) { return e.first == name; }))
        run.inputs.emplace_back(name, value);
  run.runs = stage.target.capabilities.emulated ? kProfiledRunsOfEmulation : kProfiledRuns;
  PARITAS_TRY(worker.time(run));
  PARITAS_TRY(worker.close(info.id));  // only then the file is complete
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "profile", code))
    if (entry.path().extension() == ".csv") {
      PARITAS_ASSIGN(const QnnCycles cycles, read_qnn_cycles(entry.path()));
      return estimate_of(cycles, run.runs);
    }
  return runtime_error(stage.target.spec.text, "the provider wrote no cycles");
}

}  // namespace

Status estimate_cycles(const BenchSubject& subject, const NamedTensors& inputs, WorkerOptions options,
                       const Path& folder, BenchSide& side) {
  PARITAS_TRY(make_folder(folder));
  options.scratch = folder;
  PARITAS_ASSIGN(const auto worker, Worker::start(options));
  for (size_t i = 0; i < subject.stages.size(); ++i) {
    const BenchStage& stage = subject.stages[i];
    if (!stage.target.capabilities.cycle_profile) continue;
    auto cycles = cycles_of(stage, inputs, *worker, std::filesystem::absolute(folder) / fmt::format("stage-{}", i));
    if (cycles)
      side.stages[i].cycles = *cycles;
    else
      side.notes.push_back(fmt::format("cycles of \"{}\" are not known: {}", stage.name, cycles.error().message()));
  }
  return {};
}

}  // namespace paritas
