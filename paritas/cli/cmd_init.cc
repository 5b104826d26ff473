#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/project/init.h"

namespace paritas::cli {
namespace {

struct Options {
  std::string model, dump, output = "paritas.toml";
  bool force = false, quiet = false;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_output_file(o.output, o.force));
  InitRequest request;
  request.model = o.model;
  if (!o.dump.empty()) request.dump = o.dump;
  request.output = o.output;
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_root()));
  request.scratch = scratch.path();
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
  command->add_flag("--force", o->force, "Overwrite an existing file");
  command->add_flag("-q,--quiet", o->quiet, "Print nothing but errors");
  command->footer(
      "Examples:\n"
      "  paritas init model.onnx\n"
      "  paritas init model.onnx dumps/board -o paritas.toml");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
