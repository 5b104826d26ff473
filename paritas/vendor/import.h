// Readers of what other tools write: every format becomes a SampleStream. docs/formats.md says for each where names,
// types and shapes come from, and what is refused.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "paritas/recording/sample_stream.h"

namespace paritas {

// Which declarations of ImportOptions were of use.
struct TakenDeclarations {
  std::set<std::string> tensors;  // of dtypes and shapes, as they stand there
  bool input_list = false;
  bool runner = false;
};

struct ImportOptions {
  std::string format;         // a name of import_formats(); empty: detect
  std::optional<Path> model;  // ONNX or TFLite model that gives roles, and shapes and types that files do not tell
  std::map<std::string, DType> dtypes;  // per tensor, by the name in the dump or the one that `names` gives
  std::map<std::string, Shape> shapes;  // the same
  std::optional<DType> dtype;           // of raw files whose type neither sidecar, name nor format tells
  std::optional<Path> names;            // JSON object: name in the dump -> name to give the tensor
  std::optional<Path> input_list;       // of a net-run dump, when it does not lie in the dump's folder
  std::string runner;                   // of several in Polygraphy's results
  bool outputs_only = false;            // leave recorded inputs out (their files may have stayed on the device)
  bool verify_hashes = false;           // of recordings, and checksums of uncompressed archive members
  std::string table;                    // of the project file that declares all this, as in "recordings.device": for
                                        // remedies; empty: options of the command line
  bool with_names_and_format = true;    // the command has import's --names and --format: remedies may name them
  // Declarations that several sources share: each takes what it does not tell itself, leaves the rest alone, and adds
  // here what it took. nullptr: one source, which every declaration must fit.
  TakenDeclarations* taken = nullptr;
  std::optional<Path> scratch;  // folder for decoded tensors of 4 MiB and more; none: they stay in memory
};

struct FormatInfo {
  std::string name;
  std::string what;     // one line
  std::string fixture;  // what proves the reader, e.g. "written by numpy in tests/interop/..."; empty: untested
};
std::vector<FormatInfo> import_formats();

// After all sources that share `options` were opened: a declaration that none of them took is an error.
Status check_taken(const ImportOptions& options, const TakenDeclarations& taken);

// The format that `path` has: the one in `options`, else the detected one.
Result<std::string> format_of(const Path& path, const ImportOptions& options);

// Recordings and loose files as open_samples() reads them, everything else by detection. Formats that fit equally, or
// none, are an error that lists what would fit. Samples are read when asked for.
Result<std::unique_ptr<SampleStream>> open_any(const Path& path, const ImportOptions& options);

}  // namespace paritas
