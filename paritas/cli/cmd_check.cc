#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/project/check.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string project = "paritas.toml", ort, memory = "1G", junit;
  int timeout = 600;
  bool allow_exec = false, allow_outside = false;
  std::vector<std::string> libraries;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_output_file(o.junit, o.common.force));
  PARITAS_TRY(check_distinct({o.junit, o.common.json}));
  CheckRequest request;
  request.project = o.project;
  request.allow_exec = o.allow_exec;
  request.allow_outside = o.allow_outside;
  request.environment = own_environment();
  request.search = runtime_search(o.ort);
  PARITAS_TRY(add_libraries(o.libraries, request.search));
  PARITAS_ASSIGN(request.worker.executable, this_program());
  request.worker.timeout = std::chrono::seconds(o.timeout);
  request.scratch_root = scratch_root();
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.memory));
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  Result<CheckResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return check(request);
  }();
  PARITAS_TRY(result);
  if (!o.junit.empty()) PARITAS_TRY(write_text_atomically(o.junit, junit(*result), o.common.force));
  PARITAS_TRY(emit(o.common, terminal(*result, terminal_style(o.common)),
                   o.common.json.empty() ? Json() : complete_json(*result)));
  return result->verdict == Verdict::kPass ? kExitPass : kExitDeviates;
}

}  // namespace

Action add_check(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Carry out what a project file declares, and judge it");
  command->add_option("project", o->project, "Project file")->capture_default_str()->type_name("FILE");
  command->add_flag("--allow-exec", o->allow_exec, "Commands of the project file may run; read them first");
  command->add_flag("--allow-outside", o->allow_outside, "Paths may lead out of the project file's folder");
  command->add_option("--ort", o->ort, "ONNX Runtime library (default: PARITAS_ORT, then the Python environment's)")
      ->type_name("PATH");
  add_library_option(*command, o->libraries);
  command->add_option("--memory", o->memory, "Bytes of tensors that workers may hold at a time")->capture_default_str();
  command->add_option("--timeout", o->timeout, "Seconds after which a run that does not answer is ended")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--junit", o->junit, "Write JUnit XML, a test case a tensor, task and gate on a task")
      ->type_name("FILE");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, and nothing else; 1 deviates, invalid or not judged; 2 the project or an input is wrong;\n"
      "3 a run failed, or the device took no node. docs/project-file.md describes the file; paritas init writes "
      "one.\n\n"
      "Examples:\n"
      "  paritas check\n"
      "  paritas check detector/paritas.toml --json check.json");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
