#include "paritas/cli/ledger_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/base/sha256.h"
#include "paritas/cli/compare_options.h"
#include "paritas/locate/sample_source.h"
#include "paritas/runtime/run_info.h"

namespace paritas::cli {
namespace {

Path ledger_of(const LedgerOptions& options, const CommonOptions& common) {
  if (options.off) return {};
  if (!options.file.empty()) return options.file;
  if (common.json.empty() || common.json == "-") return {};
  return Path(common.json).parent_path() / kLedgerName;
}

}  // namespace

void add_ledger_options(CLI::App& command, LedgerOptions& options) {
  command
      .add_option(
          "--ledger", options.file,
          fmt::format("Add a line for the experiment to FILE (default: {} beside the JSON result)", kLedgerName))
      ->type_name("FILE");
  command.add_flag("--no-ledger", options.off, "Write the experiment down nowhere");
}

Status check_ledger(const LedgerOptions& options, const CommonOptions& common) {
  if (options.off && !options.file.empty())
    return usage_error("--no-ledger", "contradicts --ledger", "leave one of them away");
  PARITAS_TRY(check_output_file(options.file, true));
  const Path ledger = ledger_of(options, common);
  PARITAS_TRY(check_distinct({common.json, ledger.string()}));
  return ledger.empty() ? Status() : check_ledger_file(ledger);
}

Status write_ledger(const LedgerOptions& options, const CommonOptions& common, std::vector<LedgerEntry> entries,
                    const NamedTensors& inputs) {
  const Path ledger = ledger_of(options, common);
  if (ledger.empty() || entries.empty()) return {};
  std::string inputs_sha256, result, result_sha256;
  if (!inputs.empty()) {
    PARITAS_ASSIGN(inputs_sha256, sha256_of_inputs(inputs));
  }
  if (!common.json.empty() && common.json != "-") {
    result = Path(common.json).filename().string();
    PARITAS_ASSIGN(result_sha256, sha256_of_file(common.json));
  }
  for (LedgerEntry& entry : entries) {
    entry.date = utc_now();
    entry.tool_version = PARITAS_VERSION;
    if (entry.inputs_sha256.empty()) entry.inputs_sha256 = inputs_sha256;
    entry.result = result;
    entry.result_sha256 = result_sha256;
  }
  return append_to_ledger(ledger, entries);
}

}  // namespace paritas::cli
