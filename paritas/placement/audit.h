// One table from all that is known of where nodes ran: sources are mapped back to the model's nodes, checked against
// each other, and counted. Nothing runs here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/onnx/graph_index.h"
#include "paritas/placement/audit_types.h"
#include "paritas/placement/context_model.h"
#include "paritas/runtime/worker.h"
#include "paritas/vendor/ort_profile.h"
#include "paritas/vendor/qnn_cycles.h"
#include "paritas/vendor/qnn_op_trace.h"

namespace paritas {

template <class T>
struct FromFile {
  std::string file;  // empty: the live session
  T content;
};

struct PlacementEvidence {
  std::vector<AssignedNode> assignment;  // empty: not told
  std::optional<FromFile<OrtProfile>> profile;
  std::optional<FromFile<OpTrace>> op_trace;
  std::optional<FromFile<QnnCycles>> cycles;
  std::optional<FromFile<ContextModel>> context;
};

struct AuditRequest {
  const onnx_model::Model* model = nullptr;
  const onnx_model::GraphIndex* index = nullptr;  // of the model
  std::string requested;                          // provider; empty: the one that the evidence is of
  bool cpu_backend = false;
  std::vector<std::string> planned;              // patterns of node names, or of operators as "op:Softmax"
  std::map<std::string, uint64_t> tensor_bytes;  // what is known beyond the model's declarations
};

// Below this share of names that lead to a node of the model, evidence is taken to be of another model and refused. The
// optimiser renames and fuses: on the networks that this was tried on, at least 0.6 of the names still lead back.
inline constexpr double kOwnNames = 0.25;

// Fails for evidence of another model (says how many names map). Contradictions are no failure but part of the result.
Result<PlacementAudit> audit_placement(const AuditRequest& request, const PlacementEvidence& evidence);

// Bytes of tensors that the model declares with fixed shapes.
std::map<std::string, uint64_t> declared_bytes(const onnx_model::Model& model);

// "op:Softmax", or a pattern of node names.
bool pattern_fits(const std::string& pattern, const std::string& node, const std::string& op);

}  // namespace paritas
