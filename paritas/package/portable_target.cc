#include "paritas/package/portable_target.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace paritas {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool looks_like_a_file(const std::string& value) {
  const std::string v = lower(value);
  for (const char* mark : {"/", "\\", ".so", ".dll", ".dylib", "@"})
    if (v.find(mark) != std::string::npos) return true;
  return false;
}

// Options of QNN that choose how it computes, and neither load nor write anything.
bool harmless_for_qnn(const std::string& key) {
  static const std::set<std::string> keys = {"soc_model",
                                             "htp_arch",
                                             "vtcm_mb",
                                             "device_id",
                                             "htp_performance_mode",
                                             "htp_graph_finalization_optimization_mode",
                                             "enable_htp_fp16_precision",
                                             "enable_htp_fp16_clamp_overflow",
                                             "htp_bf16_enable",
                                             "qnn_context_priority",
                                             "rpc_control_latency",
                                             "offload_graph_io_quantization",
                                             "enable_htp_spill_fill_buffer",
                                             "enable_htp_shared_memory_allocator",
                                             "enable_htp_graph_splitting",
                                             "enable_vtcm_backup_buffer_sharing",
                                             "disable_file_mapped_weights",
                                             "extended_udma",
                                             "skip_qnn_version_check"};
  return keys.count(key) != 0;
}

// Session entries and options of unknown providers, by the words that such keys are made of.
bool names_a_file(const std::string& key) {
  static constexpr std::array kWords = {"library",  "path", "dir",  "file", "folder", "package",
                                        "affinity", "dump", "save", "log",  "profil", "cache"};
  const std::string k = lower(key);
  return std::any_of(kWords.begin(), kWords.end(), [&](const char* word) { return k.find(word) != std::string::npos; });
}

bool is_portable(const TargetSpec& spec, const std::string& key, const std::string& value) {
  if (looks_like_a_file(value)) return false;
  for (const char* ours : {"threads", "opt", "inter", "mode", "overflow"})
    if (key == ours) return true;
  if (key.starts_with("ep.")) return false;  // contexts and the like are written where these say
  if (key.starts_with("session.")) return !names_a_file(key);
  return spec.name == "qnn" ? harmless_for_qnn(key) : !names_a_file(key);
}

// Providers that a plug-in target registers carry their name in the variant; others are known by the target's name.
const Path* library_for(const TargetSpec& spec, const RuntimeSearch& search) {
  const std::string provider = spec.name == "qnn" ? "QNNExecutionProvider" : spec.variant;
  const auto it = search.provider_libraries.find(provider);
  return it == search.provider_libraries.end() ? nullptr : &it->second;
}

}  // namespace

Status check_portable(const TargetSpec& spec, const std::string& option) {
  for (const auto& [key, value] : spec.options)
    if (key != "library" && key != "backend_path" && !is_portable(spec, key, value))
      return usage_error(option,
                         fmt::format("the option {}={} of {} cannot be part of a package", key, value, spec.text),
                         "leave it out: a package's targets name no files, and nothing that writes any");
  return {};
}

std::map<std::string, std::string> portable_options(const Target& target) {
  std::map<std::string, std::string> options = target.provider_options;
  options.insert(target.session_entries.begin(), target.session_entries.end());
  for (auto& [key, value] : options)
    if (value.find('/') != std::string::npos) value = Path(value).filename().string();
  return options;
}

std::string portable_text(const TargetSpec& spec) {
  std::string text = spec.name;
  if (!spec.variant.empty()) text += ":" + spec.variant;
  for (const auto& [key, value] : spec.options) {
    if (!is_portable(spec, key, value)) continue;
    text += value.find(',') == std::string::npos ? fmt::format(",{}={}", key, value)
                                                 : fmt::format(",{}=\"{}\"", key, value);
  }
  return text;
}

Result<TargetSpec> parse_portable(const std::string& text, const RuntimeSearch& search, const std::string& subject) {
  PARITAS_ASSIGN(TargetSpec spec, TargetSpec::parse(text));
  for (const auto& [key, value] : spec.options)
    if (!is_portable(spec, key, value))
      return input_error(
          subject,
          fmt::format("the target \"{}\" has the option {}={}, which a package must not have", text, key, value),
          "nothing that a package names is loaded or written; name libraries yourself with --library");
  if (const Path* library = library_for(spec, search)) spec.options["library"] = library->string();
  return spec;
}

}  // namespace paritas
