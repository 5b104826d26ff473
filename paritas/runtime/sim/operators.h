// Our own ONNX operators (domain "paritas.ops", version 1), each with one input and one output of the same type:
//
//   Round    attributes format ("float16", "bfloat16", "float8e4m3fn", "float8e5m2"), overflow ("inf" or "saturate").
//            float64, float32, float16 and bfloat16 tensors are rounded to the format; any other type passes unchanged,
//            so that it may stand behind a tensor whose type nobody knows (bodies of If, Loop and Scan).
//   Perturb  attribute key. Hands its input on, unless the run activates the key: then a replacement, or the input plus
//   a
//            given difference (float types).
//   FakeQuantise  attributes scale (float), zero_point, lowest, highest (integers). float32 values become the nearest
//            of the integer format's (sim/integers.h); any other type is an error.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "paritas/base/error.h"
#include "paritas/tensor/tensor.h"

struct OrtCustomOpDomain;

namespace paritas::sim {

inline constexpr const char* kDomain = "paritas.ops";
inline constexpr const char* kRound = "Round";
inline constexpr const char* kPerturb = "Perturb";
inline constexpr const char* kFakeQuantise = "FakeQuantise";
inline constexpr const char* kFormatAttribute = "format";
inline constexpr const char* kOverflowAttribute = "overflow";
inline constexpr const char* kKeyAttribute = "key";
inline constexpr const char* kScaleAttribute = "scale";
inline constexpr const char* kZeroPointAttribute = "zero_point";
inline constexpr const char* kLowestAttribute = "lowest";
inline constexpr const char* kHighestAttribute = "highest";

// The domain with all operators, for SessionOptions::Add; made on first use after ONNX Runtime was loaded, and kept
// for the life of the process, since sessions refer to it. May throw Ort::Exception.
OrtCustomOpDomain* operator_domain();

// What active Perturb keys hand on. One table for the process: a worker runs one request at a time.
struct Perturbation {
  enum class Mode { kReplace, kAdd };
  Mode mode = Mode::kReplace;
  TensorView value;  // type and shape of the tensor that it meets
};

class ActivePerturbations {
 public:
  using Table = std::map<std::string, Perturbation>;
  explicit ActivePerturbations(Table table);
  ~ActivePerturbations();
  ActivePerturbations(const ActivePerturbations&) = delete;
  ActivePerturbations& operator=(const ActivePerturbations&) = delete;

 private:
  Table table_;
};

}  // namespace paritas::sim
