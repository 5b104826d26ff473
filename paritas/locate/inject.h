// Injection: an error is put into the reference run at named tensors, and what becomes of the outputs is measured. It
// tells a large harmless error from a small fatal one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paritas/locate/locate.h"
#include "paritas/locate/prepare.h"

namespace paritas {

enum class InjectionMode {
  kLocal,        // the device's own result of the island, fed with reference inputs, takes the tensor's place
  kDifference,   // reference + factor * (that result - reference)
  kAccumulated,  // reference + factor * (the device's whole-graph result - reference)
  kRound,        // the tensor rounded to a format
  kNoise,        // Gaussian noise of a given NMSE
  kOffset,       // a constant added
};

struct Injection {
  std::string tensors;  // name of a tensor or node, a suffix that fits one only, or a pattern with * and ?
  InjectionMode mode = InjectionMode::kLocal;
  double amount = 1;  // factor, NMSE or offset
  DType format = DType::kF16;
  uint64_t seed = 1;
  std::string text;  // as given

  bool needs_device() const { return mode <= InjectionMode::kAccumulated; }
};

// "TENSOR: local", "TENSOR: difference*10", "TENSOR: accumulated", "TENSOR: round(float16)", "TENSOR: noise(1e-4)",
// "TENSOR: noise(1e-4, seed 7)", "TENSOR: offset(0.5)". The last ": " parts tensor and mode.
Result<Injection> parse_injection(const std::string& text);

// The value-dependent float tensors that an Injection means, in graph order. An error lists near names.
Result<std::vector<std::string>> resolve_injected(const std::string& pattern, const Prepared& prepared,
                                                  const std::unordered_map<std::string, Tensor>& reference);

struct InjectRequest {
  LocateRequest base;  // `device` is used only when `with_device`
  bool with_device = false;
  std::vector<Injection> injections;
  bool each = false;            // every tensor is an experiment of its own; else all are injected at once
  bool feed_decisions = false;  // the reference's decisions stay as they were
};

// One tensor's injected error.
struct InjectedTensor {
  std::string tensor;
  std::string node;
  std::string mode;        // as given
  double nmse = 0;         // of the error, relative to the tensor
  double max_abs = 0;      // largest error
  uint64_t nonfinite = 0;  // elements that became NaN or infinite
};

struct InjectionExperiment {
  std::vector<InjectedTensor> injected;
  std::vector<OutputRow> outputs;         // reference with errors against reference without
  std::vector<DecisionReport> decisions;  // how the decisions moved; empty when they were fed
  Verdict verdict = Verdict::kNotJudged;  // by the gates, of these outputs
  bool equal = false;                     // every output is equal to the bit
};

struct InjectResult {
  std::string model, reference, device;
  RunInfo reference_info;
  std::vector<std::string> gate_texts;
  std::string gates_sha256;
  bool fed_decisions = false;
  std::vector<OutputRow> observed;  // what the device itself makes of the outputs; empty without a device
  std::vector<InjectionExperiment> experiments;
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  double seconds = 0;
};

Result<InjectResult> inject(const InjectRequest& request);

}  // namespace paritas
