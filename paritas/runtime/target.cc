#include "paritas/runtime/target.h"

#include <charconv>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/runtime/find_library.h"
#include "paritas/runtime/sim/integers.h"

namespace paritas {
namespace {

constexpr const char* kCpuProvider = "CPUExecutionProvider";
constexpr const char* kQnnProvider = "QNNExecutionProvider";

bool is_session_entry(const std::string& key) { return key.rfind("session.", 0) == 0 || key.rfind("ep.", 0) == 0; }

// Takes options one by one and knows at the end which ones nobody took.
class Options {
 public:
  explicit Options(const TargetSpec& spec) : subject_(spec.text), left_(spec.options) {}

  const std::string& subject() const { return subject_; }

  std::optional<std::string> take(const std::string& key) {
    known_.insert(key);
    auto found = left_.find(key);
    if (found == left_.end()) return std::nullopt;
    std::string value = std::move(found->second);
    left_.erase(found);
    return value;
  }

  void take_session_entries(Target& target) {
    for (auto it = left_.begin(); it != left_.end();) {
      if (is_session_entry(it->first)) {
        target.session_entries.insert(*it);
        it = left_.erase(it);
      } else {
        ++it;
      }
    }
  }

  // opaque.ID: what LiteRT hands to the vendor's library.
  void take_opaque(Target& target) {
    static const std::string kPrefix = "opaque.";
    for (auto it = left_.begin(); it != left_.end();) {
      if (it->first.rfind(kPrefix, 0) == 0 && it->first.size() > kPrefix.size()) {
        target.notes.push_back(
            fmt::format("{} was passed on as given; LiteRT does not tell whether it was taken", it->first));
        target.provider_options.insert(*it);
        it = left_.erase(it);
      } else {
        ++it;
      }
    }
  }

  std::map<std::string, std::string> take_rest() { return std::exchange(left_, {}); }

  Status none_left() const {
    if (left_.empty()) return {};
    return usage_error(subject_, fmt::format("unknown option \"{}\"", left_.begin()->first),
                       fmt::format("known are {}, and keys that start with session. or ep.", fmt::join(known_, ", ")));
  }

 private:
  std::string subject_;
  std::map<std::string, std::string> left_;
  std::set<std::string> known_;
};

Status take_thread_count(Options& options, const char* key, int& threads) {
  const auto text = options.take(key);
  if (!text) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), threads);
  if (error != std::errc() || end != text->data() + text->size() || threads < 1 || threads > 1024)
    return usage_error(options.subject(), fmt::format("{}={} is not a number from 1 to 1024", key, *text));
  return {};
}

Status take_threads(Options& options, Target& target) { return take_thread_count(options, "threads", target.threads); }

Status take_choice(Options& options, const char* key, const std::vector<std::string>& choices, std::string& value) {
  const auto text = options.take(key);
  if (!text) return {};
  for (const std::string& choice : choices) {
    if (*text == choice) {
      value = choice;
      return {};
    }
  }
  return usage_error(options.subject(), fmt::format("{}={} is not known", key, *text),
                     fmt::format("choose {}", fmt::join(choices, ", ")));
}

// How an application may run its sessions.
Status take_execution(Options& options, Target& target) {
  PARITAS_TRY(take_threads(options, target));
  PARITAS_TRY(take_thread_count(options, "inter", target.inter_threads));
  std::string mode = "sequential";
  PARITAS_TRY(take_choice(options, "mode", {"sequential", "parallel"}, mode));
  target.parallel = mode == "parallel";
  if (target.inter_threads > 1 && !target.parallel)
    return usage_error(options.subject(),
                       fmt::format("inter={} has no effect in sequential mode", target.inter_threads),
                       "add mode=parallel, or leave it out");
  return {};
}

Status take_optimisation(Options& options, Target& target) {
  return take_choice(options, "opt", {"none", "basic", "extended", "all"}, target.optimisation);
}

Status no_variant(const TargetSpec& spec) {
  if (spec.variant.empty()) return {};
  return usage_error(spec.text, fmt::format("{} has no variants, \":{}\" was given", spec.name, spec.variant));
}

Result<Target> resolve_cpu(const TargetSpec& spec) {
  PARITAS_TRY(no_variant(spec));
  Target target;
  target.provider = kCpuProvider;
  Options options(spec);
  PARITAS_TRY(take_execution(options, target));
  PARITAS_TRY(take_optimisation(options, target));
  options.take_session_entries(target);
  PARITAS_TRY(options.none_left());
  return target;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

void add_integer_notes(const sim::Integers& integers, Target& target) {
  target.notes.push_back(fmt::format("ranges of {} over {} {}, recorded on {}", integers.recording, integers.samples,
                                     integers.samples == 1 ? "sample" : "samples", integers.recorded_on));
  target.notes.push_back(
      fmt::format("weights of Conv, ConvTranspose, Gemm and MatMul are rounded to int8 {}; biases, "
                  "all other constants and the sums inside kernels stay in float",
                  integers.per_channel ? "per channel" : "per tensor"));
  if (!integers.in_float.empty())
    target.notes.push_back(fmt::format("left in float as declared: {}", fmt::join(integers.in_float, ", ")));
}

// sim:int8 and sim:w8a16.
Result<Target> resolve_integers(const TargetSpec& spec) {
  const bool wide = spec.variant == "w8a16";
  auto integers = std::make_shared<sim::Integers>();
  Target target;
  target.provider = kCpuProvider;
  target.capabilities.emulated = true;
  target.capabilities.whole_networks_only = true;
  Options options(spec);
  PARITAS_TRY(take_threads(options, target));
  std::string type = wide ? "int16" : "int8", activations = "asymmetric", weights = "per-channel";
  PARITAS_TRY(take_choice(
      options, "type", wide ? std::vector<std::string>{"int16", "uint16"} : std::vector<std::string>{"int8", "uint8"},
      type));
  PARITAS_TRY(take_choice(options, "activations", {"asymmetric", "symmetric"}, activations));
  PARITAS_TRY(take_choice(options, "weights", {"per-channel", "per-tensor"}, weights));
  integers->activations = *dtype_from_name(type);
  integers->symmetric = activations == "symmetric";
  integers->per_channel = weights == "per-channel";
  if (const auto left = options.take("float")) integers->in_float = split_at_commas(*left);
  if (integers->symmetric && !is_signed_integer(integers->activations))
    return usage_error(spec.text, fmt::format("symmetric codes are signed, and {} is not", type),
                       wide ? "leave type out, or choose int16" : "leave type out, or choose int8");
  const auto ranges = options.take("ranges");
  options.take_session_entries(target);
  PARITAS_TRY(options.none_left());
  if (!ranges || ranges->empty())
    return usage_error(spec.text, "ranges=RECORDING is missing: what values a tensor takes decides its scale",
                       "record calibration samples: paritas run MODEL --input ... --marks all -o RECORDING");
  PARITAS_TRY(sim::read_ranges(*ranges, *integers));
  add_integer_notes(*integers, target);
  SimulatedFormat format;
  format.format = integers->activations;
  format.integers = std::move(integers);
  target.simulate = std::move(format);
  return target;
}

Result<Target> resolve_simulator(const TargetSpec& spec) {
  if (spec.variant == "int8" || spec.variant == "w8a16") return resolve_integers(spec);
  SimulatedFormat format;
  if (spec.variant == "bf16") {
    format.format = DType::kBF16;
  } else if (spec.variant != "fp16") {
    return usage_error(spec.text, fmt::format("the simulator has no format \"{}\"", spec.variant),
                       "choose sim:fp16, sim:bf16, sim:int8 or sim:w8a16");
  }
  Target target;
  target.provider = kCpuProvider;
  target.capabilities.storage_type = format.format;
  target.capabilities.emulated = true;
  Options options(spec);
  PARITAS_TRY(take_threads(options, target));
  std::string overflow = "inf";
  PARITAS_TRY(take_choice(options, "overflow", {"inf", "saturate"}, overflow));
  format.overflow = overflow == "inf" ? Overflow::kInfinity : Overflow::kSaturate;
  target.simulate = format;
  options.take_session_entries(target);
  PARITAS_TRY(options.none_left());
  return target;
}

// Options of the QNN provider that Qualcomm and ONNX Runtime document (onnxruntime-qnn 2.7.0). Others are passed on
// too, with a note: the provider grows faster than this list.
const std::set<std::string>& documented_qnn_options() {
  static const std::set<std::string> options = {"backend_type",
                                                "backend_path",
                                                "device_id",
                                                "disable_file_mapped_weights",
                                                "dump_json_qnn_graph",
                                                "dump_qnn_ir_dlc",
                                                "dump_qnn_ir_dlc_dir",
                                                "enable_framework_op_trace",
                                                "enable_htp_fp16_clamp_overflow",
                                                "enable_htp_fp16_precision",
                                                "enable_htp_graph_splitting",
                                                "enable_htp_shared_memory_allocator",
                                                "enable_htp_spill_fill_buffer",
                                                "enable_vtcm_backup_buffer_sharing",
                                                "extended_udma",
                                                "framework_op_trace_dir",
                                                "htp_arch",
                                                "htp_bf16_enable",
                                                "htp_graph_finalization_optimization_mode",
                                                "htp_performance_mode",
                                                "json_qnn_graph_dir",
                                                "offload_graph_io_quantization",
                                                "op_affinity",
                                                "op_packages",
                                                "profiling_file_path",
                                                "profiling_level",
                                                "qnn_context_priority",
                                                "qnn_ir_backend_path",
                                                "qnn_saver_path",
                                                "rpc_control_latency",
                                                "skip_qnn_version_check",
                                                "soc_model",
                                                "vtcm_mb"};
  return options;
}

// Whatever the target is called: its options decide which of QNN's back ends computes.
bool runs_on_qnn_cpu(const std::map<std::string, std::string>& options) {
  if (auto type = options.find("backend_type"); type != options.end()) return type->second == "cpu";
  const auto path = options.find("backend_path");
  return path != options.end() && Path(path->second).filename().string().find("QnnCpu") != std::string::npos;
}

Result<Target> resolve_qnn(const TargetSpec& spec, const RuntimeSearch& search) {
  if (spec.variant != "htp" && spec.variant != "cpu")
    return usage_error(spec.text, fmt::format("the QNN provider has no back end \"{}\" here", spec.variant),
                       "choose qnn:htp or qnn:cpu");
  const bool htp = spec.variant == "htp";
  Target target;
  target.provider = kQnnProvider;
  target.optimisation = "all";  // with optimisation off the provider fails unless all constants were folded before
  Options options(spec);
  PARITAS_ASSIGN(const Path library, find_qnn(search, options.take("library"), spec.text));
  target.provider_library = library.string();
  PARITAS_TRY(take_execution(options, target));
  PARITAS_TRY(take_optimisation(options, target));
  options.take_session_entries(target);
  target.provider_options = options.take_rest();
  for (const auto& [key, value] : target.provider_options) {
    if (documented_qnn_options().count(key) == 0)
      target.notes.push_back(fmt::format("{} is not a documented QNN option; it was passed on as given", key));
  }
  if (target.provider_options.count("backend_type") == 0 && target.provider_options.count("backend_path") == 0) {
    const Path backend = library.parent_path() / (htp ? "libQnnHtp.so" : "libQnnCpu.so");
    std::error_code code;
    if (!std::filesystem::exists(backend, code))
      return runtime_error(spec.text, fmt::format("the QNN back end {} is absent", backend.string()),
                           "give backend_path=PATH, or choose qnn:htp with onnxruntime-qnn 2.7.0");
    target.provider_options["backend_path"] = backend.string();
  }
  target.capabilities.device = true;
  target.capabilities.free_dimensions = false;
  target.capabilities.fallback_switch = true;
  target.capabilities.op_trace = true;
  target.capabilities.op_affinity = true;
  target.capabilities.cycle_profile = true;
  target.capabilities.cpu_backend = runs_on_qnn_cpu(target.provider_options);
  if (!htp) return target;
  target.provider_options.try_emplace("soc_model", "77");
  target.provider_options.try_emplace("htp_arch", "73");
  target.capabilities.storage_type = DType::kF16;
  target.capabilities.fastest = {{"htp_performance_mode", "burst"}};
  target.capabilities.contexts = true;
#if defined(__x86_64__)
  target.capabilities.emulated = true;
  target.notes.push_back("x86-64 emulation of the HTP: results, not speed");
#endif
  return target;
}

Status take_delegate(Options& options, Target& target) {
  const auto path = options.take("path");
  if (!path || path->empty())
    return usage_error(options.subject(), "path=LIBRARY of the delegate is missing",
                       "for example tflite:delegate,path=/opt/vendor/libdelegate.so");
  std::error_code code;
  if (!std::filesystem::is_regular_file(*path, code))
    return usage_error(options.subject(), fmt::format("the delegate {} is absent", *path), "check path=LIBRARY");
  target.provider_library = std::filesystem::absolute(*path).string();
  std::string xnnpack = "no";
  PARITAS_TRY(take_choice(options, "xnnpack", {"yes", "no"}, xnnpack));
  target.xnnpack = xnnpack == "yes";
  return {};
}

// TensorFlow Lite and its kernels; delegates by their libraries.
Result<Target> resolve_tflite(const TargetSpec& spec, const RuntimeSearch& search) {
  static const std::map<std::string, std::string> kKernels = {{"ref", "reference"},
                                                              {"builtin", "builtin"},
                                                              {"xnnpack", "builtin"},
                                                              {"delegate", "builtin"},
                                                              {"default", "default"}};
  const auto kernels = kKernels.find(spec.variant);
  if (kernels == kKernels.end())
    return usage_error(spec.text, fmt::format("TensorFlow Lite has no kernels \"{}\" here", spec.variant),
                       "choose tflite:ref, tflite:builtin, tflite:xnnpack, tflite:delegate,path=LIBRARY or "
                       "tflite:default");
  Target target;
  target.runtime = RuntimeKind::kTflite;
  target.kernels = kernels->second;
  target.optimisation = "none";  // the interpreter runs the operators of the file
  target.capabilities.steps = true;
  Options options(spec);
  PARITAS_ASSIGN(const Path library, find_tflite(search, options.take("library"), spec.text));
  target.runtime_library = library.string();
  PARITAS_TRY(take_threads(options, target));
  if (spec.variant == "xnnpack") target.xnnpack = true;
  if (spec.variant == "delegate") {
    PARITAS_TRY(take_delegate(options, target));
    target.provider_options = options.take_rest();
  }
  target.provider = spec.variant == "delegate" ? kExternalDelegate
                    : target.xnnpack           ? kXnnpackName
                                               : target.host_kernels();
  target.capabilities.device = spec.variant == "delegate" || target.xnnpack;
  PARITAS_TRY(options.none_left());
  if (spec.variant == "default")
    target.notes.push_back(
        "the library's own choice of kernels and delegates: what ran where is known only as far as it shows its plan");
  return target;
}

// A folder of vendor libraries, made absolute: workers run elsewhere.
Status take_folder(Options& options, const char* key, Target& target) {
  const auto given = options.take(key);
  if (!given) return {};
  std::error_code code;
  if (!std::filesystem::is_directory(*given, code))
    return usage_error(options.subject(), fmt::format("{}={} is no folder", key, *given),
                       "give the folder that holds the vendor's library");
  target.provider_options[key] = std::filesystem::absolute(*given).string();
  return {};
}

Status take_litert_kernels(Options& options, Target& target) {
  target.kernels = "delegate";
  const auto text = options.take("kernels");
  if (text == "reference" || text == "ref")
    return usage_error(options.subject(),
                       "LiteRT takes \"reference\" and runs its optimised kernels all the same (2.2.0 and 2.3.0)",
                       "the reference kernels are those of tflite:ref; kernels=builtin are LiteRT's optimised ones");
  if (text && *text != "delegate" && *text != "builtin")
    return usage_error(options.subject(), fmt::format("kernels={} is not known", *text), "choose delegate or builtin");
  if (text) target.kernels = *text;
  return {};
}

// LiteRT's CompiledModel. Vendors' libraries and options are the user's own.
Result<Target> resolve_litert(const TargetSpec& spec, const RuntimeSearch& search) {
  if (spec.variant != "cpu" && spec.variant != "npu" && spec.variant != "gpu")
    return usage_error(spec.text, fmt::format("LiteRT has no accelerator \"{}\" here", spec.variant),
                       "choose litert:cpu, litert:npu or litert:gpu");
  Target target;
  target.runtime = RuntimeKind::kLitert;
  target.accelerator = spec.variant;
  target.optimisation = "none";
  target.capabilities.steps = true;
  Options options(spec);
  PARITAS_ASSIGN(const Path library, find_litert(search, options.take("library"), spec.text));
  target.runtime_library = library.string();
  PARITAS_TRY(take_threads(options, target));
  if (spec.variant == "cpu") {
    PARITAS_TRY(take_litert_kernels(options, target));
  } else {
    PARITAS_TRY(take_folder(options, "plugin", target));
    PARITAS_TRY(take_folder(options, "dispatch", target));
    target.notes.push_back("which device computes behind the delegate is not known: LiteRT does not tell");
  }
  options.take_opaque(target);
  PARITAS_TRY(options.none_left());
  target.capabilities.device = target.kernels != "builtin";
  target.provider = target.capabilities.device ? kLitertDelegate : kLitertInterpreter;
  return target;
}

Result<Target> resolve_plugin(const TargetSpec& spec) {
  const std::string example = "for example ort:GGMLExecutionProvider,library=/path/to/libonnxruntime_ggml.so";
  if (spec.variant.empty()) return usage_error(spec.text, "the provider's name is missing", example);
  Target target;
  target.provider = spec.variant;
  target.optimisation = "all";
  Options options(spec);
  const auto library = options.take("library");
  if (!library || library->empty()) return usage_error(spec.text, "library=PATH is missing", example);
  std::error_code code;
  if (!std::filesystem::is_regular_file(*library, code))
    return usage_error(spec.text, fmt::format("the provider library {} is absent", *library), "check library=PATH");
  target.provider_library = std::filesystem::absolute(*library).string();
  PARITAS_TRY(take_execution(options, target));
  PARITAS_TRY(take_optimisation(options, target));
  options.take_session_entries(target);
  target.provider_options = options.take_rest();
  target.capabilities.device = true;
  target.capabilities.free_dimensions = false;
  target.capabilities.fallback_switch = true;
  return target;
}

// "a=1,b="x,y"" from `at` on.
Status parse_options(const std::string& text, size_t at, std::map<std::string, std::string>& options) {
  while (at < text.size()) {
    const size_t equals = text.find('=', at);
    const size_t comma = text.find(',', at);
    if (equals == std::string::npos || equals == at || comma < equals)
      return usage_error(text, fmt::format("\"{}\" is not key=value", text.substr(at, comma - at)));
    const std::string key = text.substr(at, equals - at);
    std::string value;
    size_t end;
    if (text.compare(equals + 1, 1, "\"") == 0) {
      const size_t quote = text.find('"', equals + 2);
      if (quote == std::string::npos) return usage_error(text, fmt::format("the quote after {}= is not closed", key));
      value = text.substr(equals + 2, quote - equals - 2);
      end = quote + 1;
      if (end < text.size() && text[end] != ',')
        return usage_error(text, fmt::format("a comma is missing behind {}=\"{}\"", key, value));
    } else {
      end = std::min(comma, text.size());
      value = text.substr(equals + 1, end - equals - 1);
    }
    if (!options.emplace(key, value).second) return usage_error(text, fmt::format("\"{}\" is given twice", key));
    if (end + 1 == text.size()) return usage_error(text, "ends with a comma");
    at = end + 1;
  }
  return {};
}

}  // namespace

Result<TargetSpec> TargetSpec::parse(const std::string& text) {
  TargetSpec spec;
  spec.text = text;
  const size_t comma = text.find(',');
  const std::string head = text.substr(0, comma);
  const size_t colon = head.find(':');
  spec.name = head.substr(0, colon);
  if (colon != std::string::npos) spec.variant = head.substr(colon + 1);
  if (spec.name.empty() || head.find('=') != std::string::npos)
    return usage_error(text.empty() ? "target" : text, "a target is written name[:variant][,key=value...]",
                       "for example cpu, sim:fp16 or qnn:htp,soc_model=77");
  if (comma == std::string::npos) return spec;
  if (comma + 1 == text.size()) return usage_error(text, "ends with a comma");
  PARITAS_TRY(parse_options(text, comma + 1, spec.options));
  return spec;
}

std::string Target::host_kernels() const {
  return kernels == "reference" ? "TfLiteReference" : kernels == "builtin" ? "TfLiteBuiltin" : "TfLiteDefault";
}

Result<Target> resolve_target(const TargetSpec& spec, const RuntimeSearch& search) {
  auto resolved = [&]() -> Result<Target> {
    if (spec.name == "cpu") return resolve_cpu(spec);
    if (spec.name == "sim") return resolve_simulator(spec);
    if (spec.name == "qnn") return resolve_qnn(spec, search);
    if (spec.name == "ort") return resolve_plugin(spec);
    if (spec.name == "tflite") return resolve_tflite(spec, search);
    if (spec.name == "litert") return resolve_litert(spec, search);
    if (spec.name == "package")
      return usage_error(
          spec.text, "a package is no target of this command",
          "run, compare, verify and bench take its folder; check and locate take package:DIR as the device");
    if (spec.name == "exec")
      return usage_error(spec.text, "a board runs whole models with a command: nothing can be fed into its middle",
                         "paritas run and paritas check take it; compare its recording");
    return usage_error(
        spec.text, fmt::format("there is no target \"{}\"", spec.name),
        "choose cpu, sim:fp16, sim:bf16, qnn:htp, ort:PROVIDER,library=PATH, tflite:ref, builtin, xnnpack, "
        "delegate, or litert:cpu, npu, gpu");
  }();
  if (resolved) resolved->spec = spec;
  return resolved;
}

std::vector<TargetListing> list_targets(const RuntimeSearch& search) {
  const auto runtime = find_onnxruntime(search);
  auto listing = [&](std::string pattern, std::string description, const Error* missing) {
    TargetListing entry{std::move(pattern), std::move(description), missing == nullptr, {}, {}};
    if (missing != nullptr) {
      entry.reason = missing->subject.empty() ? missing->cause : missing->subject + ": " + missing->cause;
      entry.remedy = missing->remedy;
    }
    return entry;
  };
  const Error* no_runtime = runtime ? nullptr : &runtime.error();
  std::vector<TargetListing> list;
  list.push_back(listing(
      "cpu", "ONNX Runtime on the CPU; threads=1, opt=none|basic|extended|all, mode=sequential|parallel, inter=1",
      no_runtime));
  list.push_back(listing("sim:fp16", "every float tensor rounded to float16; overflow=inf|saturate", no_runtime));
  list.push_back(listing("sim:bf16", "every float tensor rounded to bfloat16; overflow=inf|saturate", no_runtime));
  list.push_back(listing("sim:int8,ranges=RECORDING",
                         "float tensors in 8 bits, weights too; weights=per-channel|per-tensor, "
                         "activations=asymmetric|symmetric, type=int8|uint8, float=TENSORS",
                         no_runtime));
  list.push_back(listing("sim:w8a16,ranges=RECORDING",
                         "float tensors in 16 bits, weights in 8; the same options, type=int16|uint16", no_runtime));
  const auto qnn = find_qnn(search, std::nullopt, "qnn:htp");
  const Error* no_qnn = no_runtime != nullptr ? no_runtime : qnn ? nullptr : &qnn.error();
  list.push_back(listing("qnn:htp",
                         "Qualcomm HTP (emulated on x86-64) through ONNX Runtime; any QNN option, "
                         "soc_model=77,htp_arch=73",
                         no_qnn));
  list.push_back(
      listing("ort:PROVIDER,library=PATH", "any ONNX Runtime provider plug-in; its options as key=value", no_runtime));
  const auto tflite = find_tflite(search, std::nullopt, "tflite");
  const Error* no_tflite = tflite ? nullptr : &tflite.error();
  list.push_back(listing("tflite:ref", "TensorFlow Lite's reference kernels; threads=1, library=PATH", no_tflite));
  list.push_back(listing("tflite:builtin", "its optimised kernels, without any delegate", no_tflite));
  list.push_back(listing("tflite:xnnpack", "its XNNPACK delegate", no_tflite));
  list.push_back(listing("tflite:delegate,path=LIBRARY",
                         "an external delegate; its options as key=value, xnnpack=yes behind it", no_tflite));
  list.push_back(listing("tflite:default", "whatever the library chooses itself; for old versions of it", no_tflite));
  const auto litert = find_litert(search, std::nullopt, "litert");
  const Error* no_litert = litert ? nullptr : &litert.error();
  list.push_back(listing(
      "litert:cpu", "LiteRT's CompiledModel on the CPU; kernels=delegate|builtin, threads=1, library=PATH", no_litert));
  list.push_back(
      listing("litert:npu", "its NPU accelerator; plugin=FOLDER, dispatch=FOLDER, opaque.ID=\"TOML\"", no_litert));
  list.push_back(listing("litert:gpu", "its GPU accelerator; opaque.ID=\"TOML\"", no_litert));
  list.push_back(listing("exec:BOARD.toml",
                         "a command of yours that runs the model elsewhere (docs/boards.md); needs --allow-exec",
                         nullptr));
  return list;
}

}  // namespace paritas
