#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/import_options.h"
#include "paritas/inspect/tflite.h"
#include "paritas/locate/preflight.h"
#include "paritas/package/package.h"
#include "paritas/report/package_report.h"
#include "paritas/report/range_report.h"
#include "paritas/report/reports.h"
#include "paritas/report/tflite_report.h"
#include "paritas/tflite/model.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  RunOptions run;
  ImportFlags import;
  std::string path, reference = "cpu", format = "fp16";
  bool range = false;
};

Result<int> execute_range(const Options& o) {
  PreflightRequest request;
  request.model = o.path;
  PARITAS_ASSIGN(request.format, parse_range_format(o.format));
  const RuntimeSearch search = runtime_search(o.run.ort);
  PARITAS_ASSIGN(request.samples, load_inputs(o.run.inputs));
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  PARITAS_ASSIGN(const TargetSpec reference, TargetSpec::parse(o.reference));
  PARITAS_ASSIGN(request.reference, resolve_target(reference, search));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, search));
  request.scratch_root = scratch_root();
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  Result<PreflightResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return preflight(request);
  }();
  PARITAS_TRY(result);
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  return kExitPass;  // a forecast has no verdict on the network
}

// A model, a recording, or whatever import reads.
Result<Inspection> look_into(const Options& o) {
  if (Path(o.path).extension() == ".onnx") {
    if (!o.import.model.empty() || o.import.any())
      return usage_error(o.path, "is a model, and options for a dump were given",
                         "leave them out: it tells types and shapes itself");
    return inspect(o.path);
  }
  PARITAS_ASSIGN(ImportOptions options, import_options(o.import, false));
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_root()));
  options.scratch = scratch.path();
  PARITAS_ASSIGN(const std::string kind, format_of(o.path, options));
  PARITAS_ASSIGN(const auto stream, open_any(o.path, options));
  return inspect(*stream, kind);
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  if (o.range) return execute_range(o);
  if (!o.run.inputs.empty()) return usage_error("--input", "inspect alone runs nothing", "add --range");
  if (is_package(o.path)) {
    PARITAS_ASSIGN(const Package package, open_package(o.path));
    PARITAS_TRY(emit(o.common, terminal(package, terminal_style(o.common)), to_json(package)));
    return kExitPass;
  }
  if (tflite::is_tflite(o.path)) {
    PARITAS_ASSIGN(const TfliteInspection inspection, inspect_tflite(o.path));
    PARITAS_TRY(emit(o.common, terminal(inspection, terminal_style(o.common)), to_json(inspection)));
    return kExitPass;
  }
  PARITAS_ASSIGN(const Inspection inspection, look_into(o));
  PARITAS_TRY(emit(o.common, terminal(inspection, terminal_style(o.common)), to_json(inspection)));
  return kExitPass;
}

}  // namespace

Action add_inspect(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model, a recording, a tensor file or a dump holds");
  command
      ->add_option("path", o->path, "ONNX or TFLite model, package, recording, or a file or folder that import reads")
      ->required();
  CLI::Option* range = command->add_flag(
      "--range", o->range, "Run the model on the reference and hold every value against a smaller format");
  command->add_option("--format", o->format, "With --range: fp16, bf16 or int8")->capture_default_str()->needs(range);
  command->add_option("--reference", o->reference, "With --range: target that is right by definition")
      ->capture_default_str()
      ->needs(range);
  command
      ->add_option("-m,--model", o->import.model, "Of a dump: ONNX or TFLite model that gives roles, shapes and types")
      ->type_name("MODEL");
  add_import_flags(*command, o->import);
  add_run_options(*command, o->run);
  add_common(*command, o->common);
  command->footer(
      "Examples:\n  paritas inspect model.onnx\n  paritas inspect recording --verbose\n"
      "  paritas inspect results.npz\n  paritas inspect snpe/ --model model.onnx\n"
      "  paritas inspect model.onnx --range --input images=a.npy --input images=b.npy --format fp16");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
