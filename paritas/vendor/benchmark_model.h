// Reader of the operator profile of TFLite's benchmark_model (--enable_op_profiling=true): the tables that it prints,
// or writes with --profiling_output_csv_file. Read are the tables "Run Order" of the primary graph and, where there is
// one, of what a delegate says of its inside; columns are found by their titles. Written from the format's description:
// no file of the real tool was at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/files.h"

namespace paritas {

struct ProfiledOp {
  std::string type;         // "CONV_2D"; a delegate's kernel carries the delegate's name
  std::string name;         // "[scores]": the tensors that it makes
  std::optional<int> node;  // index in the graph: operators of the model first, then delegates' kernels; what is no
                            // node ("AllocateTensors/0") has none
  uint64_t calls = 0;       // per run of the model, rounded down
  double first_ms = 0, average_ms = 0;
};

struct OpProfile {
  std::vector<ProfiledOp> ops;           // in the order in which they ran; each node once
  std::vector<ProfiledOp> in_delegates;  // what delegates report of their inside
  uint64_t runs = 0;                     // of the model; 0: not told
  uint64_t subgraphs = 0;                // further graphs that ran (control flow); their operators are left out
};

// Errors: no such table; a row that is not whole; fewer or more rows than the file says that there were; a node twice.
Result<OpProfile> read_op_profile(const Path& path);
Result<OpProfile> parse_op_profile(std::string_view text, const std::string& subject);

}  // namespace paritas
