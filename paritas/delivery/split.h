// `paritas split`: a model taken apart at validated cuts, its parts built for where they run, and delivered as a
// package only when that package was verified from its own files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paritas/delivery/build_part.h"
#include "paritas/delivery/split_types.h"
#include "paritas/locate/cross_matrix.h"
#include "paritas/onnx/cut.h"
#include "paritas/project/project.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

// What the package declares about the model: contract, tasks, gates.
struct SplitContract {
  std::map<std::string, std::string> roles;     // output -> role
  std::map<std::string, std::string> meanings;  // input or output -> meaning
  std::map<std::string, Json> pictures;         // input -> steps from picture to tensor
  Json tasks = Json::array();                   // [[task]] of a project file; no commands
  std::map<std::string, Path> label_files;      // of classification tasks
  GateSet chain_gates, cpu_gates;
};

struct SplitPartTarget {
  std::string name;
  Target target;
};

struct SplitRequest {
  Path model;
  std::vector<NamedTensors> samples;
  std::map<std::string, int64_t> dims;
  std::vector<onnx_model::CutSpec> cuts;  // in the order of the parts
  int automatic = 0;                      // instead: propose so many, take the cheapest that holds
  std::vector<SplitPartTarget> parts;     // one more than cuts
  std::vector<std::string> boundary;      // names of the boundary tensors
  std::map<std::string, Path> contexts;   // part -> context compiled elsewhere
  std::map<std::string, Path> port_maps;  // part -> mapping file of that context
  SplitContract contract;
  JudgeTasks judge_tasks;  // of automatic cuts, on the first sample; may be empty
  Target reference;
  RuntimeSearch search;
  WorkerOptions worker;
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;
  int threads = 1;
  Path output;
  bool overwrite = false;
  std::vector<std::string> command;
  std::vector<TriedBefore> tried;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// Errors: what was asked for cannot be done at all (a name that is not there, an input that does not fit). What was
// done and refused is a result.
Result<SplitResult> split(const SplitRequest& request);

// Proposed cuts on the first sample, the cheapest that the cross matrix allows marked; for `--auto-cuts`.
Result<std::vector<CutCost>> cost_of_cuts(const SplitRequest& request, std::vector<std::string>* notes);

Json to_json(const SplitResult& result);  // schema paritas.split/1

}  // namespace paritas
