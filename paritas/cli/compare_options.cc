#include "paritas/cli/compare_options.h"

#include <CLI/CLI.hpp>

#include "paritas/cli/common.h"
#include "paritas/judge/profiles.h"

namespace paritas::cli {

void add_compare_flags(CLI::App& command, CompareFlags& f) {
  std::vector<std::string> known;
  for (const Profile& profile : profiles()) known.push_back(profile.name);
  command.add_option("--gates", f.gates_file, "Gates file (TOML)")->type_name("FILE");
  command.add_option("--gate", f.gates, "Gate, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  command.add_option("--profile", f.profiles, "Ready-made gates (docs/gates.md says where the numbers come from)")
      ->type_name("NAME")
      ->check(CLI::IsMember(known))
      ->allow_extra_args(false);
  command.add_option("--names", f.names, "How names are paired: exact, or normalised by the rules of docs/compare.md")
      ->check(CLI::IsMember({"exact", "normalised"}))
      ->capture_default_str();
  command.add_option("--aliases", f.aliases, "TOML file with [aliases] \"reference name\" = \"device name\"")
      ->type_name("FILE");
  command.add_option("--role", f.roles, "What a tensor means, for gates on roles, e.g. pred_logits=scores")
      ->type_name("NAME=ROLE")
      ->allow_extra_args(false);
  command
      .add_option("--input-quantisation", f.quantisations,
                  "How an input was quantised, e.g. image=scale=0.0078,zero_point=128,rounding=away")
      ->type_name("NAME=RULE")
      ->allow_extra_args(false);
  command.add_option("--ranked", f.ranked, "Ids ranked by scores: ids of equal scores may come in any order")
      ->type_name("SCORES=IDS")
      ->allow_extra_args(false);
  command.add_flag("--inputs-unverified", f.inputs_unverified, "Judge although inputs are not recorded on both sides");
  command.add_flag("--allow-extra", f.allow_extra, "Outputs that only the device has are allowed");
  command.add_flag("--quantiles", f.quantiles, "Also p50, p90, p99, p99.9 of the absolute difference");
}

Result<CompareOptions> compare_options(const CompareFlags& f, int threads) {
  CompareOptions options;
  PARITAS_ASSIGN(options.gates,
                 load_gates(GateSources{f.gates_file.empty() ? std::nullopt : std::optional<Path>(f.gates_file),
                                        f.profiles, f.gates}));
  options.gates.allow_extra_outputs |= f.allow_extra;
  options.pairing.normalised = f.names == "normalised";
  if (!f.aliases.empty()) {
    PARITAS_ASSIGN(options.pairing.aliases, load_aliases(f.aliases));
  }
  for (const std::string& text : f.roles) {
    PARITAS_ASSIGN(auto role, split_assignment(text, "--role", "pred_logits=scores"));
    options.roles.insert(std::move(role));
  }
  for (const std::string& text : f.quantisations) {
    PARITAS_ASSIGN(const auto rule,
                   split_assignment(text, "--input-quantisation", "image=scale=0.0078,zero_point=128"));
    PARITAS_ASSIGN(options.input_rules[rule.first],
                   parse_quantisation_rule(rule.second, "--input-quantisation " + text));
  }
  for (const std::string& text : f.ranked) {
    PARITAS_ASSIGN(auto ranked, split_assignment(text, "--ranked", "scores=labels"));
    options.ranked.push_back({std::move(ranked.first), std::move(ranked.second)});
  }
  options.inputs_unverified = f.inputs_unverified;
  options.quantiles = f.quantiles;
  options.threads = threads;
  return options;
}

}  // namespace paritas::cli
