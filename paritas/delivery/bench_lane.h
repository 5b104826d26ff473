// A process in which the sessions of one subject, and no others, are open and are timed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paritas/delivery/bench_types.h"

namespace paritas {

class BenchLane {
 public:
  // `folder`: scratch of its own, created. Fills what is known of `side` before the first run: name, stages, start-up,
  // conditions but for what every lane shares.
  static Result<BenchLane> open(const BenchSubject& subject, WorkerOptions options, const Path& folder,
                                BenchSide& side);

  // Warm-ups, then `runs` measured ones. The first call of all makes one run more, by itself: BenchSide::first_run.
  Result<TimeReply> measure(int warm_up, int runs, BenchSide& side);

  // Runs until `seconds` are over, each held against `expected`.
  Status endure(double seconds, const NamedTensors& expected, Endurance& endurance,
                const std::function<void(double seconds_left)>& progress);

  // Values of these tensors of the chain, from one run.
  Result<NamedTensors> fetch(const std::vector<std::string>& tensors);

  uint64_t peak() const { return worker_->peak_resident_bytes(); }
  // CPU time that the process used in the calls so far.
  double cpu_seconds() const { return cpu_seconds_; }
  RuntimeIdentity identity() const { return worker_->identity(); }

 private:
  BenchLane(const BenchSubject& subject, std::unique_ptr<Worker> worker)
      : subject_(&subject), worker_(std::move(worker)) {}
  Status open_stage(const BenchStage& stage, const Path& folder, StageTimes& times);
  Result<TimeReply> time(TimeRequest request);
  TimeRequest request() const;

  const BenchSubject* subject_;
  std::unique_ptr<Worker> worker_;
  std::vector<ChainLink> chain_;
  std::chrono::seconds timeout_{0};  // of the worker, for one run
  double cpu_seconds_ = 0;
  double slowest_run_ = 0;  // seen so far, for patience
  bool began_ = false;
};

// The same sessions once more, one after the other in a process of their own and with the provider's measuring switched
// on: cycles of every stage whose target can tell them. `inputs`: of those stages, by tensor.
Status estimate_cycles(const BenchSubject& subject, const NamedTensors& inputs, WorkerOptions options,
                       const Path& folder, BenchSide& side);

// Tensors that stages with a cycle profile read and that a stage before them makes.
std::vector<std::string> tensors_for_cycles(const BenchSubject& subject);

}  // namespace paritas
