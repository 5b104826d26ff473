// What Qualcomm's snpe-net-run and qnn-net-run leave: output/Result_N/NAME.raw, one folder per line of input_list.txt.
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

struct InputListEntry {
  std::string name;  // of "name:=path"; empty when the line gives paths only
  std::string path;  // as it stands there
};

struct InputList {
  std::vector<std::string> outputs;                  // of lines that start with % (tensors) or # (layers)
  std::vector<std::vector<InputListEntry>> samples;  // one per line
  std::vector<int> lines;                            // line number of each sample, from 1
};

Result<InputList> parse_input_list(std::string_view text, const std::string& subject);

// `path`: the folder that holds output/ (and input_list.txt), that output folder, one Result_N, or the list itself.
Result<Found> find_net_run(const Path& path, const ImportContext& context);

// The folder of Result_N folders that `path` stands for; nullopt when it is no such dump.
std::optional<Path> result_root(const Path& path);

}  // namespace paritas
