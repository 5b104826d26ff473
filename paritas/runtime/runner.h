// A worker bound to one target: opens sessions on edited models and runs them. What differs between targets (the
// simulator's graph edit, provider options) is settled here, so that callers only deal in models and tensors.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "paritas/onnx/model.h"
#include "paritas/runtime/worker.h"

namespace paritas {

class Runner;
class SessionShelf;

// An open session; closing is automatic. Must not outlive its Runner.
class Session {
 public:
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  const SessionInfo& info() const { return info_; }
  // Only then are profiles complete. Nothing may be asked of the session afterwards.
  Status close();
  Result<RunReply> run(const std::vector<std::pair<std::string, Tensor>>& inputs,
                       const std::vector<std::string>& fetch = {});
  // Adds differences at Perturb nodes (make_perturbable).
  Result<RunReply> run_with_errors(const std::vector<std::pair<std::string, Tensor>>& inputs,
                                   const std::vector<std::string>& fetch,
                                   const std::vector<std::pair<std::string, Tensor>>& differences);
  // RunRequest::steps.
  Result<RunReply> run_steps(const std::vector<std::pair<std::string, Tensor>>& inputs, uint64_t steps,
                             const std::vector<std::string>& fetch = {});

 private:
  friend class Runner;
  Result<RunReply> send(const RunRequest& request);
  Session(Worker* worker, SessionInfo info) : worker_(worker), info_(std::move(info)) {}
  Worker* worker_;
  SessionInfo info_;
  std::shared_ptr<SessionShelf> shelf_;  // where it goes instead of being closed; null: nowhere
  std::string graph_;                    // its key there
  bool failed_ = false;                  // a run failed: not to be used again
};

class Runner {
 public:
  static Result<Runner> start(const Target& target, const WorkerOptions& options);
  // In a folder of its own, `folder`/`role`, whatever options.scratch says.
  static Result<Runner> start_in(const Path& folder, const std::string& role, const Target& target,
                                 WorkerOptions options);

  const Target& target() const { return target_; }
  Worker& worker() { return *worker_; }

  // The model is edited for the target if need be, written to scratch and opened; the files go when the session is
  // open. `profile_folder`: see SessionRequest.
  Result<Session> open(const onnx_model::Model& model, bool op_trace = false, const Path& profile_folder = {});

  // The file as it lies there, external data beside it: what is shipped is what runs. The simulator has to edit it.
  // `fetch`: what runs hand out unless told otherwise; empty: the outputs. TFLite sessions hand out intermediates too.
  Result<Session> open_file(const Path& file, const std::vector<std::string>& fetch = {});

  // From now on up to `most` sessions stay open when they are given up, and open() hands one out again when the same
  // graph is asked for (by content, weights included): many samples of one model then open each graph once. Sessions
  // with a profile folder are left out, and so are those of which a run failed.
  void keep_sessions(size_t most);
  // Sessions that were really opened so far.
  int sessions_opened() const { return opened_; }

  // Targets of which parts can be switched off inside one graph: the simulator.
  bool makes_hybrids() const { return target_.simulate.has_value(); }
  // As open(); the nodes with these first outputs compute as the reference does. Only where makes_hybrids().
  Result<Session> open_hybrid(const onnx_model::Model& model, const std::unordered_set<std::string>& exact);

 private:
  Result<Session> open_with(const onnx_model::Model& model, bool op_trace, const Path& profile_folder,
                            const std::unordered_set<std::string>& exact);
  Runner(Target target, std::unique_ptr<Worker> worker, Path scratch)
      : target_(std::move(target)), worker_(std::move(worker)), scratch_(std::move(scratch)) {}
  Target target_;
  std::unique_ptr<Worker> worker_;
  Path scratch_;
  std::shared_ptr<SessionShelf> shelf_;
  int written_ = 0;  // models, for the names of their folders
  int opened_ = 0;
};

// What to tell the user about a session with SessionInfo::unoptimised_because.
std::string unoptimised_note(const Target& target, const std::string& because);

}  // namespace paritas
