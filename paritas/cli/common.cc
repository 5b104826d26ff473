#include "paritas/cli/common.h"

#include <unistd.h>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/base/threads.h"
#include "paritas/cli/commands.h"
#include "paritas/report/visible.h"
#include "paritas/tensor/npy.h"
#include "paritas/tensor/safetensors.h"

namespace paritas::cli {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// <prefix>/lib/python3*/{site,dist}-packages
void add_site_folders(const Path& prefix, std::vector<Path>& folders) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", code)) {
    if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const char* leaf : {"site-packages", "dist-packages"})
      if (fs::is_directory(entry.path() / leaf, code)) folders.push_back(entry.path() / leaf);
  }
}

// The prefix of the python3 that a shell would run.
Path python_on_path() {
  std::string path = environment("PATH");
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    const Path candidate = Path(path.substr(start, end - start)) / "python3";
    std::error_code code;
    if (end > start && fs::exists(candidate, code)) {
      // A virtual environment's python3 is a link into the base installation: its own folder counts, not the target's.
      if (fs::exists(candidate.parent_path().parent_path() / "pyvenv.cfg", code))
        return candidate.parent_path().parent_path();
      const Path real = fs::canonical(candidate, code);
      return code ? Path() : real.parent_path().parent_path();
    }
    start = end + 1;
  }
  return {};
}

Result<Tensor> load_input_file(const std::string& name, const Path& path) {
  if (path.extension() == ".npy") return read_npy(path);
  if (path.extension() == ".safetensors") {
    PARITAS_ASSIGN(SafetensorsFile file, read_safetensors(path));
    if (const Tensor* tensor = file.find(name)) return *tensor;
    if (file.tensors.size() == 1) return file.tensors.front().second;
    return input_error(path.string(), fmt::format("holds no tensor \"{}\"", name));
  }
  std::error_code code;
  if (!fs::exists(path, code)) return input_error(path.string(), "no such file", "check the path");
  return input_error(path.string(), "inputs are read from .npy and .safetensors files", "convert it first");
}

}  // namespace

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_option("--json", options.json, "Write the result as JSON to FILE ('-': standard output)")
      ->type_name("FILE");
  command.add_flag("-q,--quiet", options.quiet, "Print nothing but errors");
  command.add_flag("-v,--verbose", options.verbose, "Print everything, not only the most interesting");
  command.add_flag("--force", options.force, "Overwrite existing output");
  command.add_option("-j,--jobs", options.jobs, "Threads for reading and comparing (default: all cores)")
      ->check(CLI::Range(1, 256));
}

int jobs(const CommonOptions& options) { return options.jobs > 0 ? options.jobs : available_cores(); }

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("-i,--input", options.inputs, "Input tensor NAME=FILE (.npy or .safetensors), once per input")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command.add_option("--dim", options.dims, "Value of a free dimension (default: from the given inputs)")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  command
      .add_option("--ort", options.ort, "ONNX Runtime library (default: PARITAS_ORT, then the Python environment's)")
      ->type_name("PATH");
  command.add_option("--memory", options.memory, "Bytes of tensors that workers may hold at a time")
      ->capture_default_str();
  command.add_option("--timeout", options.timeout, "Seconds after which a run that does not answer is ended")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
}

RuntimeSearch runtime_search(const std::string& ort_flag) {
  RuntimeSearch search;
  search.ort = ort_flag.empty() ? environment("PARITAS_ORT") : ort_flag;
  search.tflite = environment("PARITAS_TFLITE");
  std::error_code code;
  if (search.tflite.empty() && fs::is_directory(PARITAS_TFLITE_FOLDER, code)) search.tflite = PARITAS_TFLITE_FOLDER;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = environment(variable); !prefix.empty())
      add_site_folders(prefix, search.python_site_folders);
  if (const Path prefix = python_on_path(); !prefix.empty()) add_site_folders(prefix, search.python_site_folders);
  if (const std::string built_with = PARITAS_PYTHON_ENV; !built_with.empty())
    add_site_folders(built_with, search.python_site_folders);
  return search;
}

void add_library_option(CLI::App& command, std::vector<std::string>& libraries) {
  command
      .add_option("--library", libraries,
                  "PROVIDER=PATH: the library of a package's plug-in provider; a package names none itself")
      ->type_name("PROVIDER=PATH")
      ->allow_extra_args(false);
}

Status add_libraries(const std::vector<std::string>& libraries, RuntimeSearch& search) {
  for (const std::string& text : libraries) {
    PARITAS_ASSIGN(auto library,
                   split_assignment(text, "--library", "QNNExecutionProvider=libonnxruntime_providers_qnn.so"));
    search.provider_libraries[library.first] = library.second;
  }
  return {};
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t sign = text.find('=');
    if (sign != std::string::npos && sign > 0) all.emplace(text.substr(0, sign), text.substr(sign + 1));
  }
  return all;
}

Path scratch_root() {
  std::error_code code;
  const std::string chosen = environment("TMPDIR");
  return chosen.empty() ? Path("/tmp") : Path(chosen);
}

Style terminal_style(const CommonOptions& options) {
  Style style;
  style.colour = ::isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.verbose = options.verbose;
  return style;
}

Result<uint64_t> parse_bytes(const std::string& text) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (code != std::errc() || shift < 0 || value == 0 || value > (uint64_t{1} << 44 >> shift))
    return usage_error("--memory " + text, "is not a size", "write bytes, or a number with K, M or G");
  return value << shift;
}

Result<std::map<std::string, int64_t>> parse_dims(const std::vector<std::string>& dims) {
  std::map<std::string, int64_t> parsed;
  for (const std::string& text : dims) {
    const auto equals = text.rfind('=');
    int64_t value = 0;
    const char* first = text.data() + (equals == std::string::npos ? 0 : equals + 1);
    const auto [end, code] = std::from_chars(first, text.data() + text.size(), value);
    if (equals == std::string::npos || equals == 0 || code != std::errc() || end != text.data() + text.size() ||
        value < 0)
      return usage_error("--dim " + text, "is not NAME=N", "for example: --dim batch=1");
    parsed[text.substr(0, equals)] = value;
  }
  return parsed;
}

Result<std::vector<NamedTensors>> load_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::pair<std::string, std::vector<Tensor>>> by_name;
  for (const std::string& text : inputs) {
    // Names may hold "=": the file is what follows the last one that leaves an existing file, else the first one.
    auto equals = text.find('=');
    std::error_code code;
    for (auto at = equals; at != std::string::npos; at = text.find('=', at + 1))
      if (fs::exists(text.substr(at + 1), code)) equals = at;
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return usage_error("--input " + text, "is not NAME=FILE", "for example: --input images=images.npy");
    const std::string name = text.substr(0, equals);
    PARITAS_ASSIGN(Tensor tensor, load_input_file(name, text.substr(equals + 1)));
    auto it = std::find_if(by_name.begin(), by_name.end(), [&](const auto& entry) { return entry.first == name; });
    if (it == by_name.end())
      by_name.push_back({name, {std::move(tensor)}});
    else
      it->second.push_back(std::move(tensor));
  }
  size_t samples = 1;
  for (const auto& [name, tensors] : by_name) samples = std::max(samples, tensors.size());
  std::vector<NamedTensors> loaded(samples);
  for (const auto& [name, tensors] : by_name) {
    if (tensors.size() != 1 && tensors.size() != samples)
      return usage_error("--input " + name,
                         fmt::format("was given {} times, another input {} times", tensors.size(), samples),
                         "give each input once, or once per sample");
    for (size_t i = 0; i < samples; ++i)
      loaded[i].emplace_back(name, tensors.size() == 1 ? tensors.front() : tensors[i]);
  }
  return loaded;
}

Result<Path> this_program() {
  std::error_code code;
  Path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return runtime_error("", "the path of this program is not known", "is /proc mounted?");
  return program;
}

Result<WorkerOptions> worker_options(const RunOptions& options, const RuntimeSearch& search, RuntimeKind runtime) {
  WorkerOptions worker;
  PARITAS_ASSIGN(worker.executable, this_program());
  if (runtime == RuntimeKind::kOnnxRuntime) {
    PARITAS_ASSIGN(OrtLibrary library, find_onnxruntime(search));
    worker.onnxruntime = library.path;
  }
  worker.timeout = std::chrono::seconds(options.timeout);
  return worker;
}

Progress::Progress(bool enabled) : enabled_(enabled && ::isatty(STDERR_FILENO) == 1), start_(now()) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\x1b[K");
}

void Progress::stage(const std::string& text) {
  if (!enabled_) return;
  const double seconds = now() - start_;
  if (seconds < 1 && !shown_) return;
  std::fprintf(stderr, "\r\x1b[K%5.1f s  %s", seconds, visible(text).c_str());
  std::fflush(stderr);
  shown_ = true;
}

int fail(const Error& error) {
  std::fprintf(stderr, "paritas: %s\n", visible(error.message()).c_str());
  if (!error.details.empty()) std::fprintf(stderr, "%s\n", visible(error.details, {.lines = true}).c_str());
  return error.kind == ErrorKind::kRuntime ? kExitRuntime : kExitUsage;
}

int exit_code(Verdict verdict) {
  return verdict == Verdict::kPass || verdict == Verdict::kNotJudged ? kExitPass : kExitDeviates;
}

Status check_output_file(const std::string& file, bool force) {
  std::error_code code;
  if (file.empty() || file == "-") return {};
  if (const Path parent = Path(file).parent_path(); !parent.empty() && !fs::is_directory(parent, code))
    return input_error(file, fmt::format("the folder {} does not exist", parent.string()), "create it first");
  if (force || !fs::exists(file, code)) return {};
  return input_error(file, "exists already", "choose another name or pass --force");
}

Status check_json_target(const CommonOptions& options) { return check_output_file(options.json, options.force); }

Result<std::pair<std::string, std::string>> split_assignment(const std::string& text, const char* option,
                                                             const char* example) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return usage_error(fmt::format("{} {}", option, text), "is not NAME=VALUE",
                       fmt::format("for example: {} {}", option, example));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Status emit(const CommonOptions& options, const std::string& text, const Json& json) {
  if (options.json == "-") {
    const std::string dumped = dump_json(json) + "\n";
    std::fwrite(dumped.data(), 1, dumped.size(), stdout);
  } else {
    // Reports are made of names that come from files: whatever they hold, it moves no cursor.
    const std::string shown = visible(text, {.lines = true, .colours = terminal_style(options).colour});
    if (!options.quiet) std::fwrite(shown.data(), 1, shown.size(), stdout);
    if (!options.json.empty()) PARITAS_TRY(write_text_atomically(options.json, dump_json(json) + "\n", options.force));
  }
  if (std::fflush(stdout) != 0)
    return input_error("standard output", fmt::format("cannot be written: {}", errno_text(errno)));
  return {};
}

}  // namespace paritas::cli
