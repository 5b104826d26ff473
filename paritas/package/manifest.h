// What a package says of itself: manifest.json (schema paritas.package/1, docs/package.md). Plain data; reading it
// opens no other file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/files.h"
#include "paritas/base/json.h"
#include "paritas/base/shape.h"
#include "paritas/recording/provenance.h"

namespace paritas {

inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kManifestSchema = "paritas.package/1";

// Letters, digits, "_", "-" and ".", not first: a part's name becomes a file's.
bool is_part_name(const std::string& name);

// What a graph input or output of the whole model means to an application.
struct ContractPort {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::string role;             // outputs: "scores", "boxes", ...; empty: not declared
  std::string meaning;          // "xyxy in pixels", "[width, height] of the picture"; empty: not declared
  std::optional<Json> picture;  // inputs made from pictures: the steps, as in a project file
};

// An input or output of a part. Names tie parts together, never their order.
struct PackagePort {
  std::string name;    // in the session
  std::string tensor;  // in the package: a graph input, a boundary tensor or a graph output
  DType dtype = DType::kF32;
  Shape shape;
};

struct PackageFile {
  std::string path;  // relative to the package, with "/"
  std::string sha256;
  uint64_t bytes = 0;
};

// Read from the EPContext node that a provider wrote.
struct ContextFacts {
  std::string provider;     // "QNN", as the node says
  std::string partition;    // name of the compiled graph
  std::string sdk_version;  // empty: not told
  bool embedded = true;     // the binary lies inside the ONNX file
};

// The op trace of the compilation. It is not written again when a context is loaded, so it counts only for the context
// that it was written with.
struct CompileTrace {
  std::string file;
  std::string context_sha256;  // of the part's file
  uint64_t source_ops = 0;     // operations of the optimised graph that the trace names
};

struct PackagePart {
  std::string name;  // "encoder"
  std::string file;  // "encoder_ctx.onnx"
  std::string sha256;
  std::vector<std::string> weights;  // further files that it needs
  bool on_device = false;            // was meant for the device; else for the CPU
  bool compiled = false;             // holds a context; else an ordinary ONNX model
  std::string target;                // as given: what to resolve on the machine that runs it
  std::string provider;
  std::map<std::string, std::string> options;  // in force when it was built; files by name only
  std::string optimisation;
  int threads = 1;
  std::vector<PackagePort> inputs, outputs;  // in the session's order
  PlacementCounts placement;                 // when it was compiled
  uint64_t nodes = 0;                        // of the source model that depend on the inputs
  std::optional<ContextFacts> context;
  std::optional<CompileTrace> trace;
  double build_seconds = 0, reload_seconds = 0;  // opening the session: compiled, and from the shipped file; one each

  const PackagePort* output_of(const std::string& tensor) const;
};

// A tensor that one part hands to others.
struct BoundaryTensor {
  std::string name;    // in the package: "feature_0"
  std::string source;  // in the model
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t elements = 0, bytes = 0;
  // What it was in the model, so that another export can be held against it: see locate/cuts.h.
  std::string op;
  std::vector<std::string> made_from, read_by;
};

struct PackageCut {
  std::string name;
  std::vector<BoundaryTensor> tensors;
};

// The whole model's run on the reference, as a recording inside the package. Boundary tensors have their package names.
struct PackageReference {
  std::string folder;  // "reference"
  std::string target;
  uint64_t samples = 0;
};

struct PackageLibrary {
  std::string name;  // file name
  std::string version;
  std::string sha256;
};

struct PackageEnvironment {
  std::string host;
  std::vector<PackageLibrary> libraries;      // ONNX Runtime first
  std::map<std::string, std::string> device;  // "soc_model", "htp_arch", "vtcm_mb", "sdk_version", as far as known
};

// A gates file of the package (docs/gates.md, as JSON).
struct PackageGates {
  std::string file;  // empty: none
  std::string sha256;
};

struct TriedBefore {
  std::string date, kind, change, verdict, outcome;
};

struct Manifest {
  std::string tool_version;
  std::string created;               // ISO 8601, UTC
  std::vector<std::string> command;  // that made it
  std::string source_name;           // file name of the model
  std::string source_sha256;
  std::map<std::string, int64_t> opsets;
  std::string producer;
  std::vector<std::string> pinned;  // "batch=1"
  std::vector<ContractPort> inputs, outputs;
  std::vector<PackageCut> cuts;
  std::vector<PackagePart> parts;  // in the order in which they run
  PackageReference reference;
  PackageGates chain_gates, cpu_gates;
  Json tasks = Json::array();  // [[task]] of a project file
  PackageEnvironment environment;
  std::string premise;             // how the parts were shown to equal the whole
  Json verification = Json();      // schema paritas.verify/1; null: not verified yet
  Json timings = Json::array();    // rounds of paritas bench, each with its conditions
  std::vector<TriedBefore> tried;  // and not delivered
  std::vector<PackageFile> files;  // every file but the manifest and SHA256SUMS, sorted by path
  std::vector<std::string> notes;

  const PackageFile* file(const std::string& path) const;
  const BoundaryTensor* boundary(const std::string& name) const;
};

Json to_json(const Manifest& manifest);
// Checks that it hangs together: files that are named are listed, ports are made by an earlier part or are graph
// inputs, every graph output is made once, traces belong to their context.
Result<Manifest> manifest_from_json(const Json& json, const std::string& subject);

}  // namespace paritas
