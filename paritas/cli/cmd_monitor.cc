#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/compare/pairing.h"
#include "paritas/monitor/monitor.h"
#include "paritas/report/monitor_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string project = "paritas.toml", folder, list, input, resume, csv, ort, memory = "1G", aliases, names = "exact";
  std::vector<std::string> marks = {"all"};
  int timeout = 600;
  bool allow_outside = false;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_output_file(o.csv, o.common.force));
  PARITAS_TRY(check_distinct({o.csv, o.common.json}));
  MonitorRequest request;
  request.project = o.project;
  request.allow_outside = o.allow_outside;
  if (!o.folder.empty()) request.folder = o.folder;
  if (!o.list.empty()) request.list = o.list;
  request.input = o.input;
  request.marks = o.marks;
  request.pairing.normalised = o.names == "normalised";
  if (!o.aliases.empty()) {
    PARITAS_ASSIGN(request.pairing.aliases, load_aliases(o.aliases));
  }
  if (!o.resume.empty()) request.resume = o.resume;
  request.search = runtime_search(o.ort);
  PARITAS_ASSIGN(request.worker.executable, this_program());
  request.worker.timeout = std::chrono::seconds(o.timeout);
  request.scratch_root = scratch_root();
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.memory));
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  Result<MonitorResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return monitor(request);
  }();
  PARITAS_TRY(result);
  if (!o.csv.empty()) PARITAS_TRY(write_text_atomically(o.csv, to_csv(*result), o.common.force));
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  return exit_code(result->verdict);
}

}  // namespace

Action add_monitor(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("monitor", "Follow every layer of two models over a set of samples");
  command->add_option("project", o->project, "Project file")->capture_default_str()->type_name("FILE");
  command
      ->add_option("--folder", o->folder,
                   "Samples: every file of this folder, by sorted name, instead of those declared")
      ->type_name("DIR");
  command->add_option("--list", o->list, "Samples: a text file with a path a line, instead of those declared")
      ->type_name("FILE");
  command
      ->add_option("--samples-input", o->input,
                   "Input that --folder or --list is for, when several are read from files")
      ->type_name("NAME");
  command->add_option("--marks", o->marks, "Intermediates to follow: all, none, or patterns")->capture_default_str();
  command->add_option("--aliases", o->aliases, "TOML with a table [aliases] of reference name = device name")
      ->type_name("FILE");
  command->add_option("--names", o->names, "How names are paired: exact, or normalised by the rules of docs/compare.md")
      ->check(CLI::IsMember({"exact", "normalised"}))
      ->capture_default_str();
  command
      ->add_option("--resume", o->resume, "Keep the figures of each sample here, and go on from those that are there")
      ->type_name("DIR");
  command->add_option("--csv", o->csv, "Write layer, metric, median, p99, worst, sample")->type_name("FILE");
  command->add_flag("--allow-outside", o->allow_outside, "Paths may lead out of the project file's folder");
  command->add_option("--ort", o->ort, "ONNX Runtime library (default: PARITAS_ORT, then the Python environment's)")
      ->type_name("PATH");
  command->add_option("--memory", o->memory, "Bytes of tensors that workers may hold at a time")->capture_default_str();
  command->add_option("--timeout", o->timeout, "Seconds after which a run that does not answer is ended")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass or not judged (no gates); 1 deviates or invalid; 2 the project or an input is wrong; 3 a run\n"
      "failed. docs/monitor.md describes every figure and rule.\n\n"
      "Examples:\n"
      "  paritas monitor --folder calibration --resume state --csv layers.csv\n"
      "  paritas monitor classifier/paritas.toml --list samples.txt --json monitor.json");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
