// A worker process: the only place where vendor code is loaded. The main process talks to it in JSON lines over a
// descriptor of its own (QNN prints to the terminal); tensors go through files in a scratch folder.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/runtime/target.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

struct WorkerOptions {
  Path executable;   // the paritas binary; started as `paritas worker --control READ WRITE`
  Path scratch;      // folder for tensors and captured output; private to this worker
  Path onnxruntime;  // library to load, unless `runtime` is another
  RuntimeKind runtime = RuntimeKind::kOnnxRuntime;
  Path library;                       // of another runtime
  std::chrono::seconds timeout{600};  // for one request; a worker that does not answer is killed
};

struct PortInfo {
  std::string name;
  std::optional<DType> dtype;  // nullopt: not a tensor or a type that we do not handle
  std::vector<int64_t> dims;   // -1: free
};

// One entry per node that the session assigned (optimised graph).
struct AssignedNode {
  std::string name;
  std::string op;  // op type; "domain::op" outside ai.onnx
  std::string provider;
  int partition = 0;  // index of the provider's sub-graph
};

struct SessionRequest {
  Path model;                 // edited copy in scratch, or the user's file
  Path external_data_folder;  // empty: beside the model
  Target target;
  std::vector<std::string> fetch;  // outputs to fetch; empty: all
  bool op_trace = false;           // ask the provider for its op trace, when the target can
  // Opened as an application would: memory arena, memory pattern and spinning threads as ONNX Runtime has them by
  // default. Else as diagnosis needs it, where graphs have thousands of outputs and run a few times at most.
  bool as_application = false;
  // Existing folder into which the runtime, and a provider that can, write what they measured of each node (complete
  // only when the session is closed); empty: nothing is measured.
  Path profile_folder;
};

struct SessionInfo {
  int id = 0;
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<AssignedNode> assignment;  // empty when the runtime cannot tell
  int partitions = 0;                    // sub-graphs on the requested provider
  std::vector<Path> op_traces;           // files that the provider wrote
  // Why the runtime's optimiser was switched off against the target's wish: with it the session could not be opened.
  std::string unoptimised_because;
  // What the runtime itself says; nullopt: it says nothing.
  std::optional<bool> fully_accelerated;
  double seconds = 0;           // making the session
  double provider_seconds = 0;  // loading the provider's library, when this session was the first to need it
};

struct RunRequest {
  int session = 0;
  std::vector<std::pair<std::string, Tensor>> inputs;  // file-backed or in memory (then written to scratch first)
  std::vector<std::string> fetch;                      // empty: all outputs of the session
  // > 0: so many calls in order, on a fresh state. Inputs hold them one behind the other along their first axis, and so
  // do the outputs. 0: one call.
  uint64_t steps = 0;
  // Keys of Perturb operators (sim/simulate.h) that are active in this run, and what they hand on instead of their
  // input: same type and shape, else the run fails. Every other Perturb hands its input on. Injection at Perturb nodes
  // (make_perturbable), by key: the tensor is replaced by `perturb`, or `add` is added to it.
  std::vector<std::pair<std::string, Tensor>> perturb;
  std::vector<std::pair<std::string, Tensor>> add;
};

struct RunReply {
  std::vector<std::pair<std::string, Tensor>>
      outputs;         // file-backed, in scratch; the file lives as long as the tensors
  double seconds = 0;  // the runtime's Run() alone
  // Operators that ran, by place, where the runtime counted them during its first call.
  std::vector<std::pair<std::string, uint64_t>> calls;
};

// One session of a chain. Tensors have names of their own, which tie outputs to inputs; sessions may call them
// otherwise.
struct ChainLink {
  int session = 0;
  std::vector<std::pair<std::string, std::string>> inputs;   // session's name, tensor
  std::vector<std::pair<std::string, std::string>> outputs;  // session's name, tensor; only these are asked for
};

// Runs a chain of open sessions again and again inside the worker; what one hands to the next stays in memory.
struct TimeRequest {
  std::vector<ChainLink> chain;
  std::vector<std::pair<std::string, Tensor>> inputs;  // by tensor; read before the first run begins
  std::vector<std::string> fetch;  // tensors of the chain that come back from the first and last run
  int warm_up = 0;                 // runs before those that are measured
  int runs = 1;                    // measured; at most kMostTimedRuns
  double seconds = 0;              // > 0: no further run begins after so many
  // Tensors with which those of every run are compared bit by bit, outside of what is timed; empty: nothing is.
  std::vector<std::pair<std::string, Tensor>> against;
  std::chrono::seconds patience{0};  // beyond the worker's timeout
};
inline constexpr int kMostTimedRuns = 100000;

struct TimedRun {
  double chain = 0;            // seconds from the first session's start to the last one's end, hand-over included
  std::vector<double> stages;  // seconds of Run() alone, in the chain's order
};

struct TimeReply {
  std::vector<TimedRun> runs;                               // measured ones, in order
  std::vector<std::pair<std::string, Tensor>> first, last;  // what was fetched of the first and the last of them
  uint64_t differing = 0;                                   // runs that were not equal to `against`
  std::optional<uint64_t> first_differing;                  // index among `runs`
  uint64_t resident_bytes = 0;                              // of the worker after the last run
  double cpu_seconds = 0;                                   // of the worker's threads, warm-up included
};

struct RuntimeIdentity {
  std::string version;  // "1.32.0"
  Path path;
  std::string sha256;
  std::string provider_library_sha256;  // filled by the first session that loads one
};

class Worker {
 public:
  static Result<std::unique_ptr<Worker>> start(const WorkerOptions& options);
  ~Worker();  // closes the channel, waits briefly, then kills: no worker is left behind
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const RuntimeIdentity& identity() const;
  Result<SessionInfo> open(const SessionRequest& request);
  Result<RunReply> run(const RunRequest& request);
  // Errors: a tensor that nothing makes, or twice; a session's own refusal.
  Result<TimeReply> time(const TimeRequest& request);
  Status close(int session);
  // Tail of what the worker and its libraries printed.
  std::string captured_output(size_t limit = 4000) const;
  uint64_t peak_resident_bytes() const;  // of the worker so far
  // Why the worker runs no more: it crashed, ended, did not answer in time, or answered nonsense. nullopt: it runs.
  // Waits for a request in progress.
  std::optional<Error> died() const;

 private:
  struct Impl;
  explicit Worker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Body of the hidden `paritas worker` command. Returns the exit code.
int worker_main(int control_read, int control_write);

}  // namespace paritas
