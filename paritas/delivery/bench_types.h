// What `paritas bench` is asked and what it yields. Times are seconds unless a field says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/delivery/bench_statistics.h"
#include "paritas/delivery/judge_recordings.h"
#include "paritas/judge/finding.h"
#include "paritas/judge/gates.h"
#include "paritas/onnx/model.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

// One session of what is timed. Tensors have names of their own, which tie the stages together.
struct BenchStage {
  std::string name;  // "model", or what the package calls the part
  Path file;         // opened as it lies there
  // Set when the file cannot be opened as it is (free dimensions on a device that takes none, the simulator): this copy
  // is opened instead, and `edited` says why.
  std::shared_ptr<const onnx_model::Model> copy;
  std::string edited;
  Target target;
  std::vector<std::pair<std::string, std::string>> inputs;   // session's name, tensor
  std::vector<std::pair<std::string, std::string>> outputs;  // session's name, tensor
};

// One thing to be timed: a model, or a package of several parts.
struct BenchSubject {
  std::string name;    // as the user wrote it
  std::string kind;    // "model", "package"
  std::string sha256;  // of the model file, or of the package's manifest
  std::vector<BenchStage> stages;
  NamedTensors inputs;               // by tensor
  std::vector<std::string> outputs;  // tensors that leave it
  // What the outputs are held against, made afterwards in another process: this model on BenchRequest::reference;
  // empty: `reference_outputs`, and without those nothing.
  Path reference_model;
  NamedTensors reference_outputs;
  std::map<std::string, std::string> roles;  // declared roles of outputs
  std::optional<GateSet> gates;              // its own, where the user declares none
  std::optional<Declared> declared;          // by a package: tasks and roles
  std::vector<std::string> notes;
};

struct BenchRequest {
  std::vector<BenchSubject> subjects;  // one, or two whose rounds alternate
  Target reference;
  bool with_reference = true;
  GateSet gates;
  int warm_up = 3;
  int runs = 20;
  double endure = 0;                    // seconds; 0: not asked for
  Path history;                         // CSV that is added to; empty: none
  std::map<std::string, int64_t> dims;  // of the reference model
  WorkerOptions worker;                 // scratch is set by bench()
  Path scratch_root;
  int threads = 1;  // for comparing
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;
};

// What times depend on beside what is timed. Two rounds may be set against each other only where all of it is equal.
struct BenchConditions {
  std::string target;         // of each stage, as given, joined by "; "
  std::string threads;        // intra-op, of each stage
  std::string inter_threads;  // inter-op, of each stage
  std::string mode;           // "sequential" or "parallel", of each stage
  std::string performance;    // performance mode of each stage, "htp_performance_mode=burst"; "-" without one
  std::string optimisation;   // of each stage
  std::string runtime;        // version and SHA-256 of ONNX Runtime
  std::string provider;       // SHA-256 of the providers' libraries; empty: none
  std::string host, cpu;      // system and processor
  std::string tool_version;
  std::string inputs_sha256;
  bool emulated = false;  // a stage computes what a device would, at the speed of this host
};

struct BenchPlacement {
  std::string requested;
  uint64_t on_requested = 0, total = 0;  // nodes of the optimised graph; 0: not known
};

// The provider's own count for one stage, from a session of its own that measures; never a time.
struct CycleEstimate {
  uint64_t accelerator = 0;  // of one run, over all partitions; 0: not told
  uint64_t operations = 0;   // the same, added over operations
  uint64_t runs = 0;         // that were measured
};

struct StageTimes {
  std::string name, file, target;
  std::string edited;   // why a copy was opened; empty: the file itself
  double session = 0;   // making the session: for a compiled context, loading it
  double provider = 0;  // loading the provider's library
  TimeFigures run;      // Run() alone
  BenchPlacement placement;
  std::map<std::string, std::string> options;  // provider options and session entries in force
  std::optional<CycleEstimate> cycles;
  std::string unoptimised_because;
  bool emulated = false;
};

// What became of results, memory and time while the sessions went on running.
struct Endurance {
  double seconds = 0;  // asked for
  uint64_t runs = 0;
  uint64_t differing = 0;                   // runs whose outputs are not those of the first measured run, to the bit
  std::optional<uint64_t> first_differing;  // number of the run, from 1
  std::vector<std::pair<double, uint64_t>> resident;  // seconds since the start, resident bytes; about 100 points
  double bytes_per_hour = 0;                          // least-squares slope of them, without the first tenth
  int64_t grown = 0;                                  // bytes: last point minus the one after the first tenth
  TimeFigures first_tenth, last_tenth;                // of the runs
  bool time_assessed = false;                         // each tenth has enough runs
};

struct BenchSide {
  std::string name, kind, sha256;
  BenchConditions conditions;
  double start = 0;      // process, ONNX Runtime's library and environment
  double ready = 0;      // from the start of the process until all sessions were open
  double first_run = 0;  // the very first run, which allocates and compiles what is left; not among the runs
  std::vector<StageTimes> stages;
  TimeFigures chain;      // from the first stage's Run() to the end of the last one's
  TimeFigures hand_over;  // chain minus its stages, run by run
  std::vector<std::vector<TimedRun>> rounds;
  MachineUse use;
  Noise noise;
  uint64_t peak_after_load = 0, peak = 0;  // resident bytes of the process
  bool repeats = true;                     // the last run's outputs are the first's, to the bit
  std::optional<Endurance> endurance;
  std::optional<CompareResult> comparison;  // of the last run's outputs with the reference's
  Verdict verdict = Verdict::kNotJudged;
  std::vector<std::string> reasons;
  std::vector<std::string> notes;
};

// Time of the second over time of the first.
struct BenchRatio {
  std::string of, to;                // what they are: names, or dates
  std::optional<double> value;       // of the medians; nullopt: refused
  double lowest = 0, highest = 0;    // over rounds
  std::vector<std::string> refused;  // what differs or is missing
};

struct BenchResult {
  int warm_up = 0, runs = 0;
  std::string date;       // ISO 8601, UTC
  std::string reference;  // target; empty: none
  std::vector<BenchSide> sides;
  std::optional<BenchRatio> ratio;  // of two subjects
  std::vector<BenchRatio> earlier;  // of each side to its last line in the history, where there is one
  std::string history;
  std::vector<std::string> gate_texts;
  Verdict verdict = Verdict::kNotJudged;
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  double seconds = 0;  // the whole command
};

}  // namespace paritas
