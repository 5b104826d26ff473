#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string path;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_ASSIGN(Inspection inspection, inspect(o.path));
  PARITAS_TRY(emit(o.common, terminal(inspection, terminal_style(o.common)), to_json(inspection)));
  return kExitPass;
}

}  // namespace

Action add_inspect(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model, a recording or a tensor file holds");
  command->add_option("path", o->path, "ONNX model, recording folder, .npy or .safetensors file")->required();
  add_common(*command, o->common);
  command->footer("Examples:\n  paritas inspect model.onnx\n  paritas inspect recording --verbose");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
