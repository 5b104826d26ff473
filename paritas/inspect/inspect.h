// What a file or folder holds, without running anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/onnx/edit.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

struct InspectedTensor {
  std::string name;
  std::string dtype;
  std::string shape;
  std::string role;  // recordings
  std::string node;  // producing node; models: op and node of every tensor
  std::string op;
};

struct Inspection {
  std::string path;
  std::string kind;  // "ONNX model", or a format: "recording", "npy", "npz", "net-run", ...
  // Models
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;
  std::string producer;
  uint64_t nodes = 0;
  std::map<std::string, uint64_t> ops;  // op type -> count
  uint64_t weight_bytes = 0;
  std::vector<InspectedTensor> inputs, outputs;
  // Recordings and files; for models every node output
  std::vector<InspectedTensor> tensors;
  uint64_t samples = 0;
  std::optional<RunInfo> run;
};

// A model, a recording, or a single .npy or .safetensors file.
Result<Inspection> inspect(const Path& path);
// Anything that yields samples; `kind` is its format. The first sample is looked into.
Result<Inspection> inspect(SampleStream& stream, const std::string& kind);

}  // namespace paritas
