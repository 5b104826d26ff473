// Targets: how a user names a way to run a model, and what that resolves to on this machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/error.h"
#include "paritas/base/files.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {

namespace sim {
struct Integers;
}

// `name[:variant][,key=value...]`. Keys that start with "session." or "ep." are runtime session entries; a value may be
// quoted with "..." to hold commas.
struct TargetSpec {
  std::string text;  // as given
  std::string name;
  std::string variant;
  std::map<std::string, std::string> options;

  static Result<TargetSpec> parse(const std::string& text);
};

inline constexpr const char* kXnnpackName = "TfLiteXNNPackDelegate";  // as it calls itself
inline constexpr const char* kExternalDelegate = "TfLiteExternalDelegate";
// LiteRT tells which operators its interpreter ran and which a delegate ran, not which delegate it was.
inline constexpr const char* kLitertInterpreter = "LiteRtInterpreter";
inline constexpr const char* kLitertDelegate = "LiteRtDelegate";

// What a target can do. Code asks this record, never the provider's name.
struct Capabilities {
  bool mark_intermediates = true;  // any tensor may become a graph output
  bool integer_inputs = true;      // value-dependent integers may be fed
  bool op_trace = false;           // writes which source nodes each device operation came from
  bool fallback_switch = false;    // session.disable_cpu_ep_fallback works
  bool contexts = false;           // writes what it compiled as a model with a context (ep.context_enable)
  bool cycle_profile = false;      // writes the cycles of each device operation
  bool op_affinity = false;        // nodes can be pinned to the CPU by operator type
  bool cpu_backend = false;        // the provider's own back end computes on the CPU
  bool free_dimensions = true;     // takes graphs with free dimensions
  bool device = false;             // a provider other than the CPU's is asked for: it must take nodes
  bool steps = false;              // keeps a state from call to call, on a fresh one for every sample
  bool emulated = false;           // computes what the device would, at the speed of the host
  // Runs networks as they lie in their files, with marks at most: what it does to a tensor is bound to that file, so
  // single nodes, halves and copies with other constants cannot run on it.
  bool whole_networks_only = false;
  std::optional<DType> storage_type;  // type in which it keeps float32 tensors; nullopt: as declared
  // Provider options that ask for the highest clock; empty: it has none. For timing only.
  std::map<std::string, std::string> fastest;
};

struct SimulatedFormat {
  DType format = DType::kF16;
  Overflow overflow = Overflow::kInfinity;                  // float formats
  std::shared_ptr<const sim::Integers> integers = nullptr;  // integer formats: how values get their codes
};

// The library that runs a model. One a worker.
enum class RuntimeKind { kOnnxRuntime, kTflite, kLitert };

// Everything that a worker needs to open sessions. Plain data: goes over the control channel as JSON.
struct Target {
  TargetSpec spec;
  RuntimeKind runtime = RuntimeKind::kOnnxRuntime;
  std::string runtime_library;  // where the runtime is not ONNX Runtime, which each worker is given
  // TFLite: "reference", "builtin", or "default", the library's own choice. LiteRT: "delegate" (XNNPACK) or "builtin".
  std::string kernels;
  std::string accelerator;  // LiteRT: "cpu", "npu" or "gpu"
  bool xnnpack = false;     // TFLite: behind the external delegate, if there is one, whose library is the provider's
  std::string host_kernels() const;  // TFLite: what the interpreter's own kernels are called in placements
  std::string provider;              // "CPUExecutionProvider", "QNNExecutionProvider"
  std::string provider_library;      // plug-in provider's path; empty for the CPU
  std::map<std::string, std::string> provider_options;
  std::map<std::string, std::string> session_entries;
  int threads = 1;                    // intra-op
  int inter_threads = 1;              // inter-op; they matter when `parallel` only
  bool parallel = false;              // execution mode: branches of the graph side by side
  std::string optimisation = "none";  // none, basic, extended, all
  // The graph is edited (Round or FakeQuantise behind float tensors), then runs on the CPU.
  std::optional<SimulatedFormat> simulate;
  Capabilities capabilities;
  std::vector<std::string> notes;  // licence, emulation and the like, shown in results
};

// Where libraries are looked for. The cli fills it from flags and the environment; the library itself reads neither.
struct RuntimeSearch {
  std::string ort;     // --ort or PARITAS_ORT: a library file or a folder that holds one; may be empty
  std::string tflite;  // PARITAS_TFLITE: the same for TensorFlow Lite's C library
  std::vector<Path> python_site_folders;  // site-packages of the active Python environment(s), in order
  // For the parts of packages, which name no library: provider -> the user's own.
  std::map<std::string, Path> provider_libraries;
};

struct OrtLibrary {
  Path path;
  std::string found_by;  // "--ort", "Python environment", "loader path"
};
Result<OrtLibrary> find_onnxruntime(const RuntimeSearch& search);

// Fills in defaults and checks options: unknown keys are an error that lists the known ones.
Result<Target> resolve_target(const TargetSpec& spec, const RuntimeSearch& search);

// For `paritas targets`.
struct TargetListing {
  std::string pattern;  // "qnn:htp"
  std::string description;
  bool available = false;
  std::string reason;  // why not
  std::string remedy;  // what to install
};
std::vector<TargetListing> list_targets(const RuntimeSearch& search);

}  // namespace paritas
