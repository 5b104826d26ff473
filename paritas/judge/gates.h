// Gates: thresholds declared before a run. From a TOML file
//
//   nonfinite = "same-inf"          # or "forbid", "equal"; the default is "same-inf"
//   [[gate]]
//   tensor = "scores"               # exact name, or a pattern with * and ?
//   metric = "cosine"
//   op = ">="
//   value = 0.99
//
// or inline: 'scores: cosine>=0.99', 'logits*: outside<=0, atol=1e-5, rtol=1e-5'.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas {

enum class GateOp { kLess, kLessEqual, kGreaterEqual, kGreater, kEqual };
std::string_view name(GateOp op);  // "<", "<=", ...

struct Gate {
  std::string tensor;  // pattern
  std::string metric;  // see metric_table.h
  GateOp op = GateOp::kLessEqual;
  double value = 0;
  std::optional<double> atol;  // for `outside`
  std::optional<double> rtol;
  std::string origin;  // "--gate", or "gates.toml, gate 2"

  std::string text() const;  // "scores: cosine >= 0.99"
  bool matches(const std::string& tensor_name) const;
};

// What non-finite values of the reference mean.
enum class NonfinitePolicy {
  kForbid,   // any NaN or infinity in a gated reference tensor makes the verdict invalid
  kSameInf,  // infinities of the same sign at the same place agree; NaN in the reference is invalid
  kEqual,    // additionally NaN at the same place agrees
};

struct GateSet {
  std::vector<Gate> gates;
  NonfinitePolicy nonfinite = NonfinitePolicy::kSameInf;
  std::string sha256;  // of the file's bytes, or of the inline texts joined by newlines; empty without gates

  bool empty() const { return gates.empty(); }
  // Gates that apply to a tensor, in declared order.
  std::vector<const Gate*> for_tensor(const std::string& name) const;
  // Sets the metric options that the gates for this tensor need (tolerances, quantiles). An error when two gates on
  // "outside" match the tensor with different tolerances: the fused pass measures one.
  Status configure(const std::string& name, MetricOptions& options) const;
};

Result<Gate> parse_gate(const std::string& text);
Result<GateSet> parse_gates_toml(const std::string& text, const std::string& subject);
// Either may be empty. The file is read before any tensor is.
Result<GateSet> load_gates(const std::optional<Path>& file, const std::vector<std::string>& inline_gates);

// An error when a gate matches none of `names`: a misspelt gate must never pass in silence.
Status check_gates_match(const GateSet& gates, const std::vector<std::string>& names);

struct GateOutcome {
  const Gate* gate = nullptr;
  std::optional<double> value;  // nullopt: this pair has no such metric
  bool passed = false;
  std::string text;  // "cosine 0.8696 < 0.99", "cosine 0.9999 >= 0.99"
};
GateOutcome evaluate(const Gate& gate, const PairMetrics& metrics);

}  // namespace paritas
