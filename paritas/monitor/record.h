// What stays of one sample when the next one begins: figures and words, no tensors. As JSON it is what a killed run
// leaves for its continuation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/task/classification.h"

namespace paritas {

struct LayerRecord {
  std::string problem;  // why it was not compared; empty: it was
  std::map<std::string, double> metrics;
  std::string flag;        // the first limit of the monitor profile that fails
  bool undecided = false;  // a limit of the profile had no figure
  bool nonfinite = false;  // on one side only
  bool gated = false;
  Verdict verdict = Verdict::kNotJudged;
  std::string rule;
  std::string baseline;
};

struct ChannelSums {
  double low = 0, high = 0, sum = 0, squares = 0;
  uint64_t count = 0;
};
struct InputRecord {
  std::string name;
  std::vector<ChannelSums> channels;
  bool constant = false, saturated = false;
};

struct MonitorRecord {
  std::string id, file;
  std::vector<LayerRecord> layers;  // in the order of the pairing
  std::vector<InputRecord> inputs;
  std::vector<ClassificationSample> tasks;  // in the project's order
};

Json to_json(const MonitorRecord& record);
Result<MonitorRecord> monitor_record_from_json(const Json& json, const std::string& subject);

}  // namespace paritas
