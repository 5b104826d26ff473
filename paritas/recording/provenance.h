// What is known about how a recording came to be. Plain data; read from and written to run.json (schema paritas.run/1,
// documented in docs/recording.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/json.h"
#include "paritas/base/shape.h"

namespace paritas {

enum class Role { kInput, kOutput, kIntermediate };
std::string_view name(Role role);
std::optional<Role> role_from_name(std::string_view text);

// real = (q - zero_point) * scale; one entry per tensor, or one per index of `axis`.
struct Quantisation {
  std::vector<double> scale;
  std::vector<int64_t> zero_point;
  std::optional<int> axis;
};

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::optional<DType> storage_type;  // type in which the device keeps it, when it differs or is known
  Role role = Role::kOutput;
  std::string node;  // producing node, and its op; empty when unknown
  std::string op;
  std::optional<Quantisation> quantisation;
};

// Requested and realised placement, always both.
struct PlacementCounts {
  std::string requested;                                // provider that was asked for
  std::vector<std::pair<std::string, uint64_t>> nodes;  // provider -> nodes of the optimised graph
  uint64_t partitions = 0;                              // of the requested provider
  std::vector<std::string> evidence;                    // "session assignment", "op trace"; empty: not known
  uint64_t total() const;
  uint64_t on(const std::string& provider) const;
  double device_share() const;  // share of nodes on the requested provider; 0 when nothing is known
};

struct LibraryRecord {
  std::string version;  // empty when the library does not tell
  std::string path;
  std::string sha256_before;  // before the first session
  std::string sha256_after;   // after the last run
};

// Nodes that one place runs as one: a delegate's or provider's partition.
struct PlannedPart {
  std::string where;               // provider or delegate
  std::vector<std::string> nodes;  // in the order of the model
};

struct RunInfo {
  std::string tool_version;
  std::string model_path;
  std::string model_sha256;
  std::string model_sha256_after;  // after the last run; empty: not known
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;
  std::string producer;
  std::string target;  // as given
  std::string provider;
  std::map<std::string, std::string> options;  // provider options and session entries in force
  std::string optimisation;
  int threads = 1;
  LibraryRecord runtime;
  LibraryRecord provider_library;
  std::string marks;                // "none", "all", or the patterns
  std::vector<std::string> pinned;  // "batch=1"
  std::vector<std::string> notes;
  std::vector<std::string> sample_names;  // what the samples are called where they come from; empty: they have no names
  std::string host;                       // system, machine and core count
  std::string start;                      // ISO 8601, UTC
  double seconds = 0;
  std::optional<PlacementCounts> placement;
  std::vector<PlannedPart> plan;  // partitions, then what is left, by place; empty: not known
  // Calls of a network that keeps a state, in every sample: first axes hold them one behind the other. 0: one call.
  uint64_t steps = 0;
  std::vector<TensorInfo> tensors;

  const TensorInfo* find(const std::string& name) const;
};

Json to_json(const PlacementCounts& placement);
Json to_json(const RunInfo& info);  // without the sample list, which the writer adds
Result<RunInfo> run_info_from_json(const Json& json, const std::string& subject);

}  // namespace paritas
