#include "paritas/runtime/run_info.h"

#include <sys/utsname.h>
#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/base/threads.h"
#include "paritas/runtime/qdq_variants.h"
#include "paritas/runtime/sim/integers.h"

namespace paritas {

RunInfo make_run_info(const onnx_model::Model& model, const Target& target, const RuntimeIdentity& identity) {
  RunInfo info = make_run_info(model.path(), target, identity);
  info.ir_version = model.proto().ir_version();
  for (const auto& opset : model.proto().opset_import())
    info.opsets[opset.domain().empty() ? "ai.onnx" : opset.domain()] = opset.version();
  info.producer = model.proto().producer_name();
  if (!model.proto().producer_version().empty()) info.producer += " " + model.proto().producer_version();
  return info;
}

RunInfo make_run_info(const Path& model, const Target& target, const RuntimeIdentity& identity) {
  RunInfo info;
  info.model_path = model.string();
  if (auto hash = sha256_of_file(model)) info.model_sha256 = *hash;
  info.target = target.spec.text;
  info.provider = target.provider;
  info.options = target.provider_options;
  info.options.insert(target.session_entries.begin(), target.session_entries.end());
  if (const auto setting = quant_qdq_setting(target)) info.options[kDisableQuantQdq] = *setting;
  if (target.parallel) {
    info.options["execution_mode"] = "parallel";
    info.options["inter_op_threads"] = std::to_string(target.inter_threads);
  }
  if (target.simulate) {
    info.options["simulate.format"] = name(target.simulate->format);
    if (const auto& integers = target.simulate->integers) {
      info.options["simulate.activations"] = integers->symmetric ? "symmetric" : "asymmetric";
      info.options["simulate.weights"] = integers->per_channel ? "int8 per-channel" : "int8 per-tensor";
      info.options["simulate.ranges"] = integers->recording;
      info.options["simulate.ranges_sha256"] = integers->recording_sha256;
    } else {
      info.options["simulate.overflow"] = target.simulate->overflow == Overflow::kInfinity ? "inf" : "saturate";
    }
  }
  if (target.runtime == RuntimeKind::kTflite) {
    info.options["kernels"] = target.kernels;
    info.options["xnnpack"] = target.xnnpack ? "yes" : "no";
  }
  if (target.runtime == RuntimeKind::kLitert) {
    info.options["accelerator"] = target.accelerator;
    if (target.accelerator == "cpu") info.options["kernels"] = target.kernels;
  }
  info.optimisation = target.optimisation;
  info.threads = target.threads;
  info.runtime = {identity.version, identity.path.string(), identity.sha256, {}};
  if (!target.provider_library.empty())
    info.provider_library = {"", target.provider_library, identity.provider_library_sha256, {}};
  info.notes = target.notes;
  info.host = host_summary();
  return info;
}

void hash_after_run(RunInfo& info) {
  for (LibraryRecord* library : {&info.runtime, &info.provider_library})
    if (!library->path.empty())
      if (auto hash = sha256_of_file(library->path)) library->sha256_after = *hash;
  if (auto hash = sha256_of_file(info.model_path)) info.model_sha256_after = *hash;
}

void forget_folders(RunInfo& info) {
  for (std::string* path : {&info.model_path, &info.runtime.path, &info.provider_library.path})
    *path = Path(*path).filename().string();
  for (auto& [key, value] : info.options)
    if (value.find('/') != std::string::npos) value = Path(value).filename().string();
}

PlacementCounts count_assignment(const Target& target, const std::vector<AssignedNode>& assignment, int partitions) {
  PlacementCounts counts;
  counts.requested = target.provider;
  counts.partitions = static_cast<uint64_t>(std::max(0, partitions));
  for (const AssignedNode& node : assignment) {
    auto it = std::find_if(counts.nodes.begin(), counts.nodes.end(),
                           [&](const auto& entry) { return entry.first == node.provider; });
    if (it == counts.nodes.end())
      counts.nodes.emplace_back(node.provider, 1);
    else
      ++it->second;
  }
  if (counts.total() > 0) counts.evidence.push_back("session assignment");
  return counts;
}

Status require_device_took_part(const Target& target, const PlacementCounts& counts) {
  if (!target.capabilities.device || counts.total() == 0 || counts.on(target.provider) > 0) return {};
  return runtime_error(
      target.spec.text,
      fmt::format("0 of {} nodes ran on {}: this compares the CPU with itself", counts.total(), target.provider),
      "check the provider's options and whether it supports this model");
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string host_summary() {
  struct utsname name {};
  if (::uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {}, {} cores", name.sysname, name.release, name.machine, available_cores());
}

}  // namespace paritas
