#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/board/record_board.h"
#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/package/record_package.h"
#include "paritas/recording/recording.h"
#include "paritas/report/reports.h"
#include "paritas/report/visible.h"
#include "paritas/runtime/record.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  RunOptions run;
  std::string model, target, output;
  std::vector<std::string> marks;
  std::vector<std::string> libraries;
  bool steps = false;
  bool allow_exec = false;
};

std::string summary(const RunInfo& info, const std::string& output, size_t samples) {
  std::string text = fmt::format("Recorded {} sample{} of {} on {} in {:.1f} s: {}\n", samples, samples == 1 ? "" : "s",
                                 info.model_path, info.target, info.seconds, output);
  if (info.placement && info.placement->total() > 0)
    text += fmt::format("Where it ran   {} of {} nodes on {}{}\n", info.placement->on(info.provider),
                        info.placement->total(), info.provider, simulated_note(info));
  for (const auto& pinned : info.pinned) text += "pinned: " + pinned + "\n";
  for (const auto& note : info.notes) text += "note: " + visible(note) + "\n";
  return text;
}

Result<int> finish(const Options& o, const RunInfo& info, size_t samples) {
  Json index;
  if (!o.common.json.empty()) {
    PARITAS_ASSIGN(index, read_run_index(o.output));
  }
  PARITAS_TRY(emit(o.common, summary(info, o.output, samples), index));
  return kExitPass;
}

Result<int> run_package(const Options& o) {
  if (!o.target.empty() || !o.marks.empty() || !o.run.dims.empty() || o.steps)
    return usage_error(o.model, "a package says itself where its parts run, and what can be recorded",
                       "leave --target, --marks, --dim and --steps out; its boundary tensors are recorded");
  PARITAS_ASSIGN(const Package package, open_package(o.model));
  RecordPackageRequest request;
  request.package = &package;
  PARITAS_ASSIGN(request.samples, load_inputs(o.run.inputs));
  request.search = runtime_search(o.run.ort);
  PARITAS_TRY(add_libraries(o.libraries, request.search));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, request.search));
  request.output = o.output;
  request.overwrite = o.common.force;
  request.scratch_root = scratch_root();
  request.tool_version = PARITAS_VERSION;
  Result<RunInfo> info = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return record_package(request);
  }();
  PARITAS_TRY(info);
  return finish(o, *info, request.samples.size());
}

Result<int> run_board(const Options& o, const std::string& file) {
  if (!is_board_file(file))
    return usage_error(o.target, "boards by name stand in project files, for paritas check",
                       "name a file with the keys of one: exec:BOARD.toml (docs/boards.md)");
  if (!o.marks.empty() || !o.run.dims.empty() || o.steps)
    return usage_error(o.target, "--marks, --dim and --steps mean nothing to a board's command",
                       "leave them out: what it writes is recorded");
  PARITAS_ASSIGN(const Board board, load_board(file));
  RecordBoardRequest request;
  request.board = &board;
  request.allow_exec = o.allow_exec;
  request.model = o.model;
  PARITAS_ASSIGN(request.samples, load_inputs(o.run.inputs));
  request.environment = own_environment();
  request.output = o.output;
  request.overwrite = o.common.force;
  request.scratch_root = scratch_root();
  request.tool_version = PARITAS_VERSION;
  Result<RunInfo> info = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return record_on_board(request);
  }();
  PARITAS_TRY(info);
  return finish(o, *info, request.samples.size());
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  if (is_package(o.model)) return run_package(o);
  if (const auto file = board_of_target(o.target)) return run_board(o, *file);
  RecordRequest request;
  request.model = o.model;
  const RuntimeSearch search = runtime_search(o.run.ort);
  PARITAS_ASSIGN(TargetSpec spec, TargetSpec::parse(o.target.empty() ? "cpu" : o.target));
  PARITAS_ASSIGN(request.target, resolve_target(spec, search));
  PARITAS_ASSIGN(request.samples, load_inputs(o.run.inputs));
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, search, request.target.runtime));
  request.steps = o.steps;
  request.marks = o.marks;
  request.output = o.output;
  request.overwrite = o.common.force;
  request.scratch_root = scratch_root();
  request.tool_version = PARITAS_VERSION;
  Result<RunInfo> info = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return record(request);
  }();
  PARITAS_TRY(info);
  return finish(o, *info, request.samples.size());
}

}  // namespace

Action add_run(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Run a model on a target and record what it does");
  command->add_option("model", o->model, "ONNX or TFLite model, or a package that paritas split wrote")->required();
  add_run_options(*command, o->run);
  command->add_option("-t,--target", o->target,
                      "Where to run: cpu (the default), sim:fp16, qnn:htp, tflite:ref, ... (paritas targets)");
  command->add_option("--marks", o->marks, "Intermediates to record: all, none, or name patterns")
      ->type_name("all|none|PATTERN");
  command->add_flag(
      "--steps", o->steps,
      "Inputs hold the calls of a network that keeps a state, one behind the other along their first axes");
  command->add_flag("--allow-exec", o->allow_exec, "The commands of an exec: target may run; read them first");
  command->add_option("-o,--output", o->output, "Folder of the recording (must not exist)")
      ->required()
      ->type_name("FOLDER");
  add_library_option(*command, o->libraries);
  add_common(*command, o->common);
  command->footer(
      "Giving an input several times makes several samples.\n\n"
      "Examples:\n"
      "  paritas run model.onnx --input images=images.npy --target cpu -o reference\n"
      "  paritas run model.onnx --input images=images.npy --target sim:fp16 --marks all -o simulated\n"
      "  paritas run model.tflite --input images=images.npy --target tflite:xnnpack --marks all -o accelerated\n"
      "  paritas run model.onnx --input images=images.npy --target exec:board.toml --allow-exec -o board\n"
      "  paritas run package --input images=images.npy -o chain");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
