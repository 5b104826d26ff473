// What a TFLite file holds, without running anything.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/base/error.h"
#include "paritas/base/files.h"
#include "paritas/recording/provenance.h"

namespace paritas {

struct TfliteTensor {
  std::string id;    // as recordings call it
  std::string name;  // in the file, where it differs
  std::string type, shape;
  std::string kind;  // "input", "output", "intermediate", "constant", "variable"
  std::string op;    // "17:CONV_2D" that makes it; empty: none
  std::optional<Quantisation> quantisation;
};

struct TfliteSignature {
  std::string key;
  int graph = 0;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // name, tensor
};

struct TfliteGraph {
  std::string name;
  uint64_t ops = 0, tensors = 0;
};

struct TfliteInspection {
  std::string path;
  uint32_t version = 0;
  std::string description;
  uint64_t file_bytes = 0, constant_bytes = 0;
  uint64_t outside_buffers = 0;  // constants behind the flatbuffer
  bool stateful = false, random = false;
  std::vector<std::string> metadata;
  std::vector<TfliteGraph> graphs;
  std::vector<TfliteSignature> signatures;
  std::map<std::string, uint64_t> ops;  // of the main graph
  std::vector<TfliteTensor> tensors;    // of the main graph
  std::vector<std::string> plan;        // "17:CONV_2D" in the order of the file
};

Result<TfliteInspection> inspect_tflite(const Path& path);

}  // namespace paritas
