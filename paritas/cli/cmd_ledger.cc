#include <CLI/CLI.hpp>

#include "paritas/base/sha256.h"
#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/report/ledger_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> files;
  std::string model;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  std::string model = o.model;
  std::error_code code;
  if (std::filesystem::is_regular_file(model, code)) {
    PARITAS_ASSIGN(model, sha256_of_file(o.model));
  }
  PARITAS_ASSIGN(const LedgerView view, view_ledgers({o.files.begin(), o.files.end()}, model));
  PARITAS_TRY(emit(o.common, terminal(view, terminal_style(o.common)), to_json(view)));
  return kExitPass;
}

}  // namespace

Action add_ledger(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("ledger", "Show which experiments were made on a model, and what came of them");
  command->add_option("file", o->files, "Ledgers (paritas-ledger.jsonl)")->required()->type_name("FILE");
  command->add_option("--model", o->model, "Only this model: its file, or its SHA-256 or the beginning of it");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 shown; 2 a file cannot be read. Damaged lines are told and skipped.\n\n"
      "Examples:\n"
      "  paritas ledger results/paritas-ledger.jsonl\n"
      "  paritas ledger */paritas-ledger.jsonl --model model.onnx");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
