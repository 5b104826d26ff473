#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/import_options.h"
#include "paritas/project/init.h"

namespace paritas::cli {
namespace {

struct Options {
  ImportFlags import;
  std::string model, dump, output = "paritas.toml";
  bool force = false, quiet = false;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_output_file(o.output, o.force));
  if (o.dump.empty() && o.import.any())
    return usage_error("init", "options for a dump were given, and no dump", "paritas init MODEL DUMP");
  InitRequest request;
  PARITAS_ASSIGN(request.import, import_options(o.import, true));
  request.model = o.model;
  if (!o.dump.empty()) request.dump = o.dump;
  request.output = o.output;
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_root()));
  request.import.scratch = scratch.path();
  PARITAS_ASSIGN(const std::string text, make_project(request));
  PARITAS_TRY(write_text_atomically(o.output, text, o.force));
  CommonOptions common;
  common.quiet = o.quiet;
  PARITAS_TRY(emit(common,
                   fmt::format("Wrote {}: declare roles, gates and tasks in it, then run paritas check{}\n", o.output,
                               o.output == "paritas.toml" ? "" : " " + o.output),
                   Json()));
  return kExitPass;
}

}  // namespace

Action add_init(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("init", "Write a commented project file for a model");
  command->add_option("model", o->model, "ONNX model")->required()->type_name("MODEL");
  command->add_option("dump", o->dump, "Recording of the device, or what another tool wrote there")->type_name("DUMP");
  command->add_option("-o,--output", o->output, "Project file to write; its paths are relative to its folder")
      ->capture_default_str()
      ->type_name("FILE");
  add_import_flags(*command, o->import);
  add_names_and_format(*command, o->import);
  command->add_flag("--force", o->force, "Overwrite an existing file");
  command->add_flag("-q,--quiet", o->quiet, "Print nothing but errors");
  command->footer(
      "The options from --dtype to --format say how the dump is read; they are written into the file.\n\n"
      "Examples:\n"
      "  paritas init model.onnx\n"
      "  paritas init model.onnx dumps/board -o paritas.toml\n"
      "  paritas init model.onnx snpe/ --dtype labels=float32");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
