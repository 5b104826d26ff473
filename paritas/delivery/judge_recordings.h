// Two recordings judged by what a package declares. Internal to delivery.
#pragma once

#include "paritas/package/package.h"
#include "paritas/project/plan.h"

namespace paritas {

struct Declared {
  std::vector<ProjectTask> tasks;
  std::map<std::string, std::vector<int64_t>> labels;  // by task
  std::vector<ProjectOutput> outputs;                  // roles; boundary tensors are features
};
// Tasks, labels and roles of a package; commands are never among them.
Result<Declared> declared_in(const Package& package);

// A gates file of the package, with the hash that the manifest gives; no gates where it declares none.
Result<GateSet> package_gates(const Package& package, const PackageGates& declared);

struct JudgeRequest {
  std::string subject;  // of errors and reports
  Path reference, device;
  Declared declared;
  GateSet gates;
  int threads = 1;
  Path scratch;
  std::function<void(const std::string& stage)> progress;
};
// As `paritas check` judges two recordings.
Result<CheckResult> judge_recordings(const JudgeRequest& request);

// The part of `declared` and `gates` that can be applied where only `tensors` exist: tasks that read others, and gates
// that match nothing any more, are left out and told in `left_out`.
using TypedNames = std::vector<std::pair<std::string, DType>>;
void restrict_to(const TypedNames& tensors, Declared& declared, GateSet& gates, std::vector<std::string>& left_out);

}  // namespace paritas
