#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/delivery/verify.h"
#include "paritas/report/delivery_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string package, ort, memory = "1G";
  std::string gates_file, cpu_gates_file;
  std::vector<std::string> gates, profiles, cpu_gates, cpu_profiles;
  int timeout = 600;
  std::vector<std::string> libraries;
};

Result<std::optional<GateSet>> given_gates(const std::string& file, const std::vector<std::string>& profiles,
                                           const std::vector<std::string>& gates) {
  if (file.empty() && profiles.empty() && gates.empty()) return std::optional<GateSet>();
  PARITAS_ASSIGN(GateSet set,
                 load_gates(GateSources{file.empty() ? std::nullopt : std::optional<Path>(file), profiles, gates}));
  return std::optional(std::move(set));
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  VerifyRequest request;
  request.package = o.package;
  PARITAS_ASSIGN(request.gates, given_gates(o.gates_file, o.profiles, o.gates));
  PARITAS_ASSIGN(request.cpu_gates, given_gates(o.cpu_gates_file, o.cpu_profiles, o.cpu_gates));
  RunOptions run;
  run.ort = o.ort;
  run.timeout = o.timeout;
  request.search = runtime_search(o.ort);
  PARITAS_TRY(add_libraries(o.libraries, request.search));
  PARITAS_ASSIGN(request.worker, worker_options(run, request.search));
  request.scratch_root = scratch_root();
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.memory));
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  Result<VerifyResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return verify(request);
  }();
  PARITAS_TRY(result);
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  return result->verdict == Verdict::kPass ? kExitPass : kExitDeviates;
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("verify", "Prove a package anew, from its files alone: hashes, sessions, placement, results");
  command->add_option("package", o->package, "Folder that paritas split wrote")->required()->type_name("DIR");
  command->add_option("--gates", o->gates_file, "Gates file for the chain, instead of the package's")
      ->type_name("FILE");
  command->add_option("--gate", o->gates, "Gate for the chain, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  command->add_option("--profile", o->profiles, "Ready-made gates for the chain")->allow_extra_args(false);
  command->add_option("--cpu-gates", o->cpu_gates_file, "The same for the CPU parts alone")->type_name("FILE");
  command->add_option("--cpu-gate", o->cpu_gates, "Gate for the CPU parts")->type_name("GATE")->allow_extra_args(false);
  command->add_option("--cpu-profile", o->cpu_profiles, "Ready-made gates for the CPU parts")->allow_extra_args(false);
  command->add_option("--ort", o->ort, "ONNX Runtime library (default: PARITAS_ORT, then the Python environment's)")
      ->type_name("PATH");
  add_library_option(*command, o->libraries);
  command->add_option("--memory", o->memory, "Bytes of tensors that workers may hold at a time")->capture_default_str();
  command->add_option("--timeout", o->timeout, "Seconds after which a run that does not answer is ended")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, and nothing else; 1 deviates, invalid or not judged; 2 a file was changed, added or "
      "removed;\n"
      "3 nothing can be run here. docs/package.md says what each check shows.\n\n"
      "Examples:\n"
      "  paritas verify package\n"
      "  paritas verify package --json verify.json");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
