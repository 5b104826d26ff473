// What several commands share: options, environment, output.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/base/error.h"
#include "paritas/base/json.h"
#include "paritas/judge/verdict.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/report/style.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace CLI {
class App;
}

namespace paritas::cli {

// Options that every command has.
struct CommonOptions {
  std::string json;  // file, or "-"
  bool quiet = false;
  bool verbose = false;
  bool force = false;
  int jobs = 0;  // 0: all cores
};
void add_common(CLI::App& command, CommonOptions& options);
int jobs(const CommonOptions& options);

// Options of commands that run models.
struct RunOptions {
  std::vector<std::string> inputs;  // NAME=FILE
  std::vector<std::string> dims;    // NAME=N
  std::string ort;
  std::string memory = "1G";
  int timeout = 600;
};
void add_run_options(CLI::App& command, RunOptions& options);

// The environment is read here and nowhere else.
RuntimeSearch runtime_search(const std::string& ort_flag);
// --library PROVIDER=PATH, for packages.
void add_library_option(CLI::App& command, std::vector<std::string>& libraries);
Status add_libraries(const std::vector<std::string>& libraries, RuntimeSearch& search);
// All of it, for what may be handed to a user's command.
std::map<std::string, std::string> own_environment();
Path scratch_root();
Style terminal_style(const CommonOptions& options);

Result<uint64_t> parse_bytes(const std::string& text);  // "1073741824", "512M", "1G"
Result<std::map<std::string, int64_t>> parse_dims(const std::vector<std::string>& dims);
// NAME=FILE... ; a name given several times makes several samples. FILE is .npy, or .safetensors with a tensor of that
// name (or a single tensor).
Result<std::vector<NamedTensors>> load_inputs(const std::vector<std::string>& inputs);
Result<Path> this_program();
// An error without ONNX Runtime, unless `runtime` is another.
Result<WorkerOptions> worker_options(const RunOptions& options, const RuntimeSearch& search,
                                     RuntimeKind runtime = RuntimeKind::kOnnxRuntime);

// Progress on stderr for anything over a second; nothing when stderr is not a terminal.
class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();
  void stage(const std::string& text);

 private:
  bool enabled_;
  bool shown_ = false;
  double start_;
};

// Prints the error to stderr; returns the exit code that goes with its kind.
int fail(const Error& error);
int exit_code(Verdict verdict);  // exploratory commands: pass and "not judged" are 0

// Text to stdout (unless --quiet, or JSON goes there), JSON where it was asked for. A JSON file that exists already is
// refused before anything runs: call check_json_target first.
Status check_json_target(const CommonOptions& options);
Status check_output_file(const std::string& file, bool force);  // the same for any file; empty and "-" are fine
// "NAME=VALUE" of an option.
Result<std::pair<std::string, std::string>> split_assignment(const std::string& text, const char* option,
                                                             const char* example);
Status emit(const CommonOptions& options, const std::string& text, const Json& json);

}  // namespace paritas::cli
