// `paritas monitor`: every layer of two models, over a set of samples. docs/monitor.md describes each figure and rule.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/project/types.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct MonitorRequest {
  Path project;
  bool allow_outside = false;
  // Samples instead of the declared ones: a folder (its files, names sorted) or a text file with a path a line; for
  // `input`, or for the only input that is read from files. At most one of the two.
  std::optional<Path> folder, list;
  std::string input;
  std::vector<std::string> marks = {"all"};
  PairingRules pairing;        // beside the project's
  std::optional<Path> resume;  // state folder; else a scratch one
  RuntimeSearch search;
  WorkerOptions worker;
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;
  int threads = 1;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;
};

// One layer over all samples. Metrics are MetricSummary of mean_abs, mse, cosine, max_abs, sqnr_db, nmse, x_baseline,
// differing; those that a layer has not (no cosine of names) are not there.
struct MonitoredLayer {
  std::string name, device_name, pairing;
  std::string node, op, block;  // of the reference
  Role role = Role::kIntermediate;
  std::string baseline;           // what x_baseline is measured in: "half a step", "float16"; empty: not known
  uint64_t samples = 0;           // compared
  uint64_t flagged = 0;           // samples on which the monitor profile fails
  uint64_t undecided = 0;         // samples on which a limit of the profile had no figure to be held against
  uint64_t nonfinite = 0;         // samples with NaN or infinity on one side only
  std::string flag, flag_sample;  // the first
  bool gated = false;
  Verdict verdict = Verdict::kNotJudged;
  std::string rule, verdict_sample;
  std::vector<std::string> problems;  // why samples were not compared; each text once
  std::vector<MetricSummary> metrics;

  const MetricSummary* find(const std::string& metric) const;
};

struct MonitoredBlock {
  std::string path;
  uint64_t layers = 0, flagged = 0;  // flagged: on any sample
  std::string worst_layer;           // by median NMSE
  double worst_nmse = 0;
};

// What the inputs cover.
struct ChannelRange {
  double low = 0, high = 0, mean = 0, std = 0;  // of what the reference is fed with, over all samples
};
struct InputCoverage {
  std::string input;
  std::string channel_axis;  // "NCHW", "NHWC", or empty: the layout is not declared, one range for all
  std::vector<ChannelRange> channels;
  std::vector<std::string> constant, saturated;  // samples
  std::string normalisation;                     // "fits", "doubtful", or "not judged"
  std::string normalisation_text;
};
struct GroupCount {
  int64_t index = 0;
  uint64_t samples = 0;
};
struct MonitorCoverage {
  std::string groups_by;  // "labels", "the reference's first class", or empty: not known
  std::vector<GroupCount> groups;
  std::vector<InputCoverage> inputs;
};

// A sample on which an error that the outputs usually hide reaches them.
struct Amplified {
  std::string sample, output;
  double nmse = 0, median = 0;              // of the output: here, and over the samples
  double inner_nmse = 0, inner_median = 0;  // of the worst inner layer
  std::string inner_layer;
};

struct MonitorResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;
  uint64_t deciding = 0;
  std::string project, project_sha256, gates_sha256;
  std::string reference, device, reference_model, device_model;
  std::string reference_feed, device_feed;  // "declared", "float", "dequantised"
  uint64_t samples = 0, compared = 0;
  std::vector<std::pair<std::string, std::string>> failed;  // sample, why
  uint64_t reference_layers = 0, paired_layers = 0;
  std::map<std::string, uint64_t> pairing_rules;
  std::vector<std::string> unmatched_reference, unmatched_device;
  std::vector<MonitoredLayer> layers;  // the reference's order
  std::vector<MonitoredBlock> blocks;
  std::vector<std::string> decisions;  // operators that choose, by node
  std::vector<Amplified> amplified;
  MonitorCoverage coverage;
  std::vector<TaskResult> tasks;
  std::map<std::string, std::string> files;  // sample -> file
  std::vector<std::string> notes;
  // Of this run, not of the result.
  uint64_t run_now = 0, taken_over = 0;
  double seconds = 0;
};

// By the rule of docs/monitor.md, that of Amplified.
inline constexpr double kAmplifiedOutput = 10;  // times the median of the output's NMSE
inline constexpr double kAmplifiedInner = 2;    // times the median of the worst inner NMSE, at most

Result<MonitorResult> monitor(const MonitorRequest& request);

Json to_json(const MonitorResult& result);        // schema paritas.monitor/1
std::string to_csv(const MonitorResult& result);  // layer, metric, median, p99, worst, sample

}  // namespace paritas
