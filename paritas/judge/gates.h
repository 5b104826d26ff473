// Gates: thresholds declared before a run. From a TOML file
//
//   nonfinite = "same-inf"          # or "forbid", "equal"; the default is "same-inf"
//   [[gate]]
//   tensor = "scores"               # exact name, or a pattern with * and ?
//   metric = "cosine"
//   op = ">="
//   value = 0.99
//
// or inline: 'scores: cosine>=0.99', 'logits*: outside<=0, atol=1e-5, rtol=1e-5', 'y: max_abs<=2 steps or
// cosine>=0.999'. docs/gates.md describes all of it.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/base/json.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/recording/provenance.h"

namespace paritas {

enum class GateOp { kLess, kLessEqual, kGreaterEqual, kGreater, kEqual };
std::string_view name(GateOp op);  // "<", "<=", ...

// What a threshold on a metric in the tensor's own unit is measured in.
enum class GateUnit {
  kAbsolute,
  kRange,    // largest minus smallest finite value of the reference
  kEpsilon,  // epsilon of the coarser float type, times the reference's largest magnitude
  kSteps,    // quantisation steps
  kStorage,  // storage baseline: what storing the reference in the device's type alone costs
};
std::string_view name(GateUnit unit);  // "", "range", "epsilon", "steps", "storage"

// What a figure can be, whatever is compared; NaN apart.
struct ValueRange {
  double lowest = 0;
  double highest = std::numeric_limits<double>::infinity();
};
// By name of the metric or figure; nullopt: not known.
using RangeLookup = std::function<std::optional<ValueRange>(const std::string& name)>;

struct Condition {
  std::string metric;  // see metric_table.h; of a task: the name of its figure
  GateOp op = GateOp::kLessEqual;
  double value = 0;
  GateUnit unit = GateUnit::kAbsolute;
  std::optional<double> atol;  // for `outside`
  std::optional<double> rtol;

  std::string text() const;                          // "cosine >= 0.99"
  bool always_holds(const ValueRange& range) const;  // for every value in it: "max_abs >= 0"
};

// What a gate may apply to.
struct GateSubject {
  // An output of which only the name is known.
  GateSubject(std::string tensor_name) : name(std::move(tensor_name)) {}  // NOLINT(google-explicit-constructor)
  GateSubject(const char* tensor_name) : name(tensor_name) {}             // NOLINT(google-explicit-constructor)
  GateSubject(std::string tensor_name, Role tensor_role, std::string declared, std::optional<DType> type)
      : name(std::move(tensor_name)), role(tensor_role), declared_role(std::move(declared)), dtype(type) {}
  std::string name;
  Role role = Role::kOutput;
  std::string declared_role;   // "scores", "boxes", ...: what the user says it means; empty without
  std::optional<DType> dtype;  // of the reference; unknown when it is missing
};

struct Gate {
  // Which tensors: all that are given must fit. A gate on a task has `task` alone.
  std::string tensor;  // pattern; empty: any
  std::string role;    // "output", "intermediate", "input", or a declared role; empty: any
  std::string type;    // "float" or "integer"; empty: any
  std::string task;    // name of a task check, as a pattern
  // Any of these alternatives, each of which demands all of its conditions.
  std::vector<std::vector<Condition>> any;
  bool optional = false;  // may match nothing
  std::string origin;     // "--gate", or "gates.toml, gate 2"

  std::string selector() const;  // "scores", "role=scores", "task=detections"
  std::string text() const;      // "scores: cosine >= 0.99"
  bool matches(const GateSubject& subject) const;
  bool names_exactly(const std::string& tensor_name) const;
  // Whatever is compared passes it, so that passing it proves nothing. Gates on tensors by the table of metrics, those
  // on tasks by the ranges of the task's figures.
  bool cannot_fail() const;
  bool cannot_fail(const RangeLookup& ranges) const;
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
  bool allow_extra_outputs = false;  // outputs that only the device has
  bool exact_dtypes = false;         // both sides must have the same element type
  std::string sha256;  // of the file's bytes, of profiles and inline texts joined by newlines; empty without gates

  bool empty() const { return gates.empty(); }
  // Gates that apply to a tensor, in declared order.
  std::vector<const Gate*> for_tensor(const GateSubject& subject) const;
  std::vector<const Gate*> for_task(const std::string& task) const;
  // A threshold for this tensor is measured in this unit.
  bool uses(const GateSubject& subject, GateUnit unit) const;
  // Sets the metric options that the gates for this tensor need (tolerances, quantiles). An error when
  // two conditions on "outside" apply to the tensor with different tolerances: the fused pass measures one.
  Status configure(const GateSubject& subject, MetricOptions& options) const;
};

Result<Gate> parse_gate(const std::string& text);
Result<GateSet> parse_gates_toml(const std::string& text, const std::string& subject);
// The same content as JSON (a project file's part): keys nonfinite, extra_outputs, dtypes, profiles, gate.
Result<GateSet> gates_from_json(const Json& json, const std::string& subject);

struct GateSources {
  std::optional<Path> file;
  std::vector<std::string> profiles;  // names, see profiles.h
  std::vector<std::string> inline_gates;
};
// The file is read before any tensor is.
Result<GateSet> load_gates(const GateSources& sources);
Result<GateSet> load_gates(const std::optional<Path>& file, const std::vector<std::string>& inline_gates);

// An error when a gate on tensors matches none of `subjects`: a misspelt gate must never pass in silence. Gates that
// may match nothing and do not, and gates that cannot fail, are returned as notes, which begin with kGateNote.
// `role_remedy`: how roles are declared to the command at hand.
inline constexpr std::string_view kGateNote = "the gate \"";
inline constexpr const char* kDeclareRole = "declare it with --role NAME=ROLE or in the project file";
inline constexpr const char* kNoRolesHere =
    "name the tensor in the gate, or declare roles in a project file (paritas init)";
Result<std::vector<std::string>> check_gates_match(const GateSet& gates, const std::vector<GateSubject>& subjects,
                                                   const std::string& role_remedy = kDeclareRole);

// Of a gate that cannot fail: "cosine lies between -1 and 1".
std::string why_it_cannot_fail(const Gate& gate, const RangeLookup& ranges);

struct GateOutcome {
  const Gate* gate = nullptr;
  // nullopt: it cannot be decided, since a figure that it needs does not exist. Else the value of the deciding
  // condition.
  std::optional<double> value;
  bool passed = false;
  bool cannot_fail = false;  // whatever a pair of this size holds: passing proves nothing
  std::string text;  // "cosine 0.8696 < 0.99", "cosine 0.9999 >= 0.99", "max_abs 3 >= 0 (this gate cannot fail)"
};
GateOutcome evaluate(const Gate& gate, const PairMetrics& metrics);

// The figures of a task check by name; nullopt for one that could not be computed.
using FigureLookup = std::function<std::optional<double>(const std::string& name)>;
GateOutcome evaluate_figures(const Gate& gate, const FigureLookup& figures);

}  // namespace paritas
