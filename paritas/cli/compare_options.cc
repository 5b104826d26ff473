#include "paritas/cli/compare_options.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/common.h"
#include "paritas/judge/profiles.h"
#include "paritas/project/project.h"

namespace paritas::cli {
namespace {

constexpr const char* kInputRole = "input";

}  // namespace

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
  command
      .add_option(
          "--role", f.roles,
          "What a tensor means, for gates on roles, e.g. pred_logits=scores; input: what both sides were fed with")
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

Status check_distinct(const std::vector<std::string>& files) {
  std::vector<Path> seen;
  for (const std::string& file : files) {
    if (file.empty() || file == "-") continue;
    std::error_code failed;
    const Path path = std::filesystem::weakly_canonical(file, failed);
    if (std::find(seen.begin(), seen.end(), path) != seen.end())
      return usage_error(file, "was given for two outputs", "choose two names");
    seen.push_back(path);
  }
  return {};
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
    std::vector<std::string> roles = {kInputRole};
    roles.insert(roles.end(), known_roles().begin(), known_roles().end());
    if (std::find(roles.begin(), roles.end(), role.second) == roles.end())
      return usage_error("--role " + text, fmt::format("\"{}\" is not a role", role.second),
                         fmt::format("roles are {}", fmt::join(roles, ", ")));
    const auto [it, added] = options.roles.insert(role);
    if (!added && it->second != role.second)
      return usage_error("--role " + text, fmt::format("\"{}\" was declared to be {} already", role.first, it->second),
                         "declare one role");
  }
  for (const std::string& text : f.quantisations) {
    PARITAS_ASSIGN(const auto rule,
                   split_assignment(text, "--input-quantisation", "image=scale=0.0078,zero_point=128"));
    if (options.input_rules.count(rule.first) != 0)
      return usage_error("--input-quantisation", fmt::format("\"{}\" is given two rules", rule.first),
                         "give each input one");
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

std::set<std::string> declared_inputs(const CompareOptions& options) {
  std::set<std::string> inputs;
  for (const auto& [name, role] : options.roles)
    if (role == kInputRole) inputs.insert(name);
  return inputs;
}

}  // namespace paritas::cli
