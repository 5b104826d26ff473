// What each source says about nodes, still side by side. Internal to the audit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/placement/audit.h"
#include "paritas/placement/name_map.h"

namespace paritas {

struct Claim {
  EvidenceSource source = EvidenceSource::kAssignment;
  std::string provider;  // empty: "not on `not_on`", whoever has it
  std::string not_on;
  std::string partition;  // within the source; empty: none told
};

struct Claims {
  std::vector<std::vector<Claim>> of;  // per node of the index
  std::vector<EvidenceUse> uses;
  std::vector<std::string> unmapped;
  std::vector<std::string> ambiguous;  // names that several nodes of the model have: nothing is claimed by them
  uint64_t made_up = 0;
  std::vector<Contradiction> contradictions;  // between a source and the model
  // Filled beside the claims, per node of the index.
  std::vector<std::vector<std::string>> seen_as;
  std::vector<std::vector<std::string>> device_ops;
  std::vector<std::optional<uint64_t>> cycles;
  std::vector<bool> cycles_shared;
  std::vector<std::optional<uint64_t>> microseconds;
};

// The provider that op traces, cycles and contexts are of when nothing else tells.
inline constexpr const char* kQnnProvider = "QNNExecutionProvider";
inline constexpr const char* kCpuProvider = "CPUExecutionProvider";

Result<Claims> collect_claims(const PlacementEvidence& evidence, const onnx_model::Model& model,
                              const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                              const std::string& device);

// Contradictions between the claims of two sources, and between what they count.
std::vector<Contradiction> cross_check(const PlacementEvidence& evidence, const Claims& claims,
                                       const onnx_model::GraphIndex& index, const std::string& device);

// A node of the profile that stands for a whole partition: its operator is a name that the provider made.
bool is_partition(const ProfiledNode& node);

}  // namespace paritas
