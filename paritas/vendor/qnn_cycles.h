// Reader of the profile that the QNN execution provider writes with profiling_level=detailed (profiling_file_path): CSV
// (RFC 4180), one event a line. Columns read: Time, Unit of Measurement, Event Level, Event Identifier, Message, and
// where there is one "ONNX Source Ops" (with enable_framework_op_trace): node names joined by ";".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/files.h"

namespace paritas {

struct DeviceCycles {
  std::string name;                  // of the device operation: "/post/Mul_2"
  std::vector<std::string> sources;  // node names of ONNX Runtime's optimised graph, as far as the file tells; a name
                                     // that holds ";" is in pieces
  uint64_t calls = 0;
  uint64_t cycles = 0;  // of all calls together; 0: the back end charged the work elsewhere (fused)
};

struct QnnCycles {
  std::vector<DeviceCycles> ops;    // in order of their first call
  uint64_t other_cycles = 0;        // rows without an operation's name: graph inputs and outputs, the back end's own
  uint64_t accelerator_cycles = 0;  // what the accelerator counted for whole executions; 0: not told
  uint64_t executions = 0;          // of a graph (partition); one run of the model executes every partition

  uint64_t op_cycles() const;
};

Result<QnnCycles> read_qnn_cycles(const Path& path);
Result<QnnCycles> parse_qnn_cycles(std::string_view text, const std::string& subject);

}  // namespace paritas
