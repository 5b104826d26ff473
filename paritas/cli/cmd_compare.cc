#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/compare/compare.h"
#include "paritas/recording/recording.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string reference, device, gates_file;
  std::vector<std::string> gates;
  bool quantiles = false;
  bool verify_hashes = false;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  CompareOptions options;
  // Gates first: nothing may be decided after the tensors were seen.
  PARITAS_ASSIGN(options.gates,
                 load_gates(o.gates_file.empty() ? std::nullopt : std::optional<Path>(o.gates_file), o.gates));
  options.threads = jobs(o.common);
  options.quantiles = o.quantiles;
  const OpenOptions open{o.verify_hashes};
  PARITAS_ASSIGN(auto reference, open_samples(o.reference, open));
  PARITAS_ASSIGN(auto device, open_samples(o.device, open));
  Result<CompareResult> result = [&] {
    Progress progress(!o.common.quiet);
    options.progress = [&](uint64_t done, uint64_t total) {
      progress.stage(std::to_string(done) + " of " + std::to_string(total) + " tensors");
    };
    return compare_streams(*reference, *device, options);
  }();
  PARITAS_TRY(result);
  if (!o.verify_hashes) result->notes.push_back("contents not re-hashed (--verify-hashes does)");
  const Json json = o.common.json.empty() ? Json() : to_json(*result);
  PARITAS_TRY(emit(o.common, terminal(*result, terminal_style(o.common)), json));
  return exit_code(result->verdict);
}

}  // namespace

Action add_compare(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compare", "Compare two recordings, tensor by tensor");
  command->add_option("reference", o->reference, "Recording, or a .npy or .safetensors file")->required();
  command->add_option("device", o->device, "The same of the device")->required();
  command->add_option("--gates", o->gates_file, "Gates file (TOML)")->type_name("FILE");
  command->add_option("--gate", o->gates, "Gate, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  command->add_flag("--quantiles", o->quantiles, "Also p50, p90, p99, p99.9 of the absolute difference");
  command->add_flag("--verify-hashes", o->verify_hashes, "Hash the recordings' contents again");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, or not judged when no gate covers an output; 1 deviates or invalid; 2 an input is wrong.\n\n"
      "Examples:\n"
      "  paritas compare reference device --gate 'scores: cosine>=0.99'\n"
      "  paritas compare a.npy b.npy --gate 'data: outside<=0, atol=1e-5, rtol=1e-5'");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
