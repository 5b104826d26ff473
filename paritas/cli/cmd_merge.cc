#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/compare/stored.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> parts;
  std::string csv, junit;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_output_file(o.csv, o.common.force));
  PARITAS_TRY(check_output_file(o.junit, o.common.force));
  PARITAS_TRY(check_distinct({o.csv, o.junit, o.common.json}));
  std::vector<CompareResult> parts;
  for (const std::string& file : o.parts) {
    PARITAS_ASSIGN(CompareResult part, load_compare_result(file));
    parts.push_back(std::move(part));
  }
  PARITAS_ASSIGN(const CompareResult whole, merge_parts(std::move(parts), o.parts));
  if (!o.csv.empty()) PARITAS_TRY(write_text_atomically(o.csv, csv(whole), o.common.force));
  if (!o.junit.empty()) PARITAS_TRY(write_text_atomically(o.junit, junit(whole), o.common.force));
  PARITAS_TRY(
      emit(o.common, terminal(whole, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(whole)));
  return exit_code(whole.verdict);
}

}  // namespace

Action add_merge(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("merge", "Join results of compare --samples into that of the whole");
  command->add_option("parts", o->parts, "Results (JSON) of all parts, in any order")->required();
  command->add_option("--csv", o->csv, "Write a table of all tensors")->type_name("FILE");
  command->add_option("--junit", o->junit, "Write JUnit XML, a test case a tensor")->type_name("FILE");
  add_common(*command, o->common);
  command->footer(
      "The whole is the same to the bit as if one command had compared all samples.\n\n"
      "Example:\n"
      "  paritas compare ref dev --samples 0:500 --json a.json\n"
      "  paritas compare ref dev --samples 500: --json b.json\n"
      "  paritas merge a.json b.json --json whole.json");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
