#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/compare/many.h"
#include "paritas/compare/stored.h"
#include "paritas/recording/sample_range.h"
#include "paritas/report/reports.h"
#include "paritas/vendor/import.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  CompareFlags compare;
  std::vector<std::string> recordings;
  std::string judge, baseline, csv, junit, format = "terminal", samples, model;
  bool verify_hashes = false;
};

Status check_files(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_output_file(o.csv, o.common.force));
  PARITAS_TRY(check_output_file(o.junit, o.common.force));
  for (const auto& [a, b] :
       {std::pair(&o.csv, &o.junit), std::pair(&o.csv, &o.common.json), std::pair(&o.junit, &o.common.json)})
    if (!a->empty() && *a == *b) return usage_error(*a, "was given for two outputs", "choose two names");
  return {};
}

// Recordings, and what other tools wrote as far as it tells names, types and shapes by itself.
Result<std::unique_ptr<SampleStream>> open(const Options& o, const std::string& path, const Path& scratch) {
  ImportOptions options;
  if (!o.model.empty()) options.model = o.model;
  options.verify_hashes = o.verify_hashes;
  options.scratch = scratch;
  return open_any(path, options);
}

Result<CompareResult> compare_two(const Options& o, const std::string& a, const std::string& b,
                                  CompareOptions options) {
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_root()));
  PARITAS_ASSIGN(auto reference, open(o, a, scratch.path()));
  PARITAS_ASSIGN(auto device, open(o, b, scratch.path()));
  if (!o.samples.empty()) {
    PARITAS_ASSIGN(const SampleRange range, parse_sample_range(o.samples));
    const uint64_t most = std::max(reference->sample_count(), device->sample_count());
    if (range.first >= most || (range.end != ~uint64_t{0} && range.end > most))
      return usage_error("--samples " + o.samples, fmt::format("the recordings have {} samples", most));
    options.part = Part{range.first, reference->sample_count(), device->sample_count()};
    reference = samples_in_range(std::move(reference), range);
    device = samples_in_range(std::move(device), range);
  }
  Progress progress(!o.common.quiet);
  options.progress = [&](uint64_t done, uint64_t total) {
    progress.stage(std::to_string(done) + " of " + std::to_string(total) + " tensors");
  };
  PARITAS_ASSIGN(CompareResult result, compare_streams(*reference, *device, options));
  if (!o.verify_hashes) result.notes.emplace_back("contents not re-hashed (--verify-hashes does)");
  return result;
}

// Everything that one result of two recordings can be written as.
Result<int> report(const Options& o, const CompareResult& result) {
  Json json = o.common.json.empty() ? Json() : to_json(result);
  std::string text = o.format == "github" ? github(result) : terminal(result, terminal_style(o.common));
  if (!o.baseline.empty()) {
    PARITAS_ASSIGN(const CompareResult before, load_compare_result(o.baseline));
    const BaselineComparison since = compare_with_baseline(result, before, o.baseline);
    if (o.format == "terminal") text += terminal(since, terminal_style(o.common));
    if (!o.common.json.empty()) json["baseline"] = to_json(since);
  }
  if (!o.csv.empty()) PARITAS_TRY(write_text_atomically(o.csv, csv(result), o.common.force));
  if (!o.junit.empty()) PARITAS_TRY(write_text_atomically(o.junit, junit(result), o.common.force));
  PARITAS_TRY(emit(o.common, text, json));
  return exit_code(result.verdict);
}

Result<int> judge_stored(const Options& o) {
  CompareFlags flags = o.compare;
  if (o.recordings.size() > 1 || (!o.recordings.empty() && !flags.gates_file.empty()))
    return usage_error("--judge", "takes a stored result and one gates file, no recordings");
  if (!o.recordings.empty()) flags.gates_file = o.recordings[0];
  if (!flags.roles.empty() || !flags.ranked.empty() || !flags.quantisations.empty() || !flags.aliases.empty() ||
      flags.names != "exact" || flags.inputs_unverified || !o.samples.empty())
    return usage_error("--judge", "judges what was compared: only gates can be given with it",
                       "compare again for the rest");
  PARITAS_ASSIGN(const CompareOptions options, compare_options(flags, jobs(o.common)));
  if (options.gates.empty())
    return usage_error("--judge", "no gates were given", "paritas compare --judge RESULT.json GATES.toml");
  PARITAS_ASSIGN(const CompareResult stored, load_compare_result(o.judge));
  PARITAS_ASSIGN(const CompareResult result, judge_again(stored, options.gates));
  return report(o, result);
}

Result<int> compare_many(const Options& o, const CompareOptions& options) {
  for (const std::string* single : {&o.baseline, &o.csv, &o.junit, &o.samples})
    if (!single->empty())
      return usage_error("compare", "--baseline, --csv, --junit and --samples go with two recordings",
                         "compare the recordings in pairs for them");
  std::vector<CompareResult> pairs;
  for (size_t a = 0; a < o.recordings.size(); ++a)
    for (size_t b = a + 1; b < o.recordings.size(); ++b) {
      PARITAS_ASSIGN(CompareResult pair, compare_two(o, o.recordings[a], o.recordings[b], options));
      pairs.push_back(std::move(pair));
    }
  const ManyResult result = conclude_many(o.recordings, std::move(pairs));
  std::string text;
  if (o.format == "github")
    for (const CompareResult& pair : result.pairs) text += github(pair);
  else
    text = terminal(result, terminal_style(o.common));
  PARITAS_TRY(emit(o.common, text, o.common.json.empty() ? Json() : to_json(result)));
  return exit_code(result.verdict);
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_files(o));
  if (!o.judge.empty()) return judge_stored(o);
  if (o.recordings.size() < 2)
    return usage_error("compare", "needs at least two recordings", "paritas compare REFERENCE DEVICE");
  PARITAS_ASSIGN(const CompareOptions options, compare_options(o.compare, jobs(o.common)));
  if (o.recordings.size() > 2) return compare_many(o, options);
  PARITAS_ASSIGN(const CompareResult result, compare_two(o, o.recordings[0], o.recordings[1], options));
  return report(o, result);
}

}  // namespace

Action add_compare(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compare", "Compare recordings, tensor by tensor");
  command->add_option("recordings", o->recordings,
                      "REFERENCE DEVICE [MORE...]: recordings, or dumps of other tools (paritas import --help)");
  add_compare_flags(*command, o->compare);
  command
      ->add_option("-m,--model", o->model, "ONNX model: gives roles, shapes and types to dumps that do not tell them")
      ->type_name("MODEL");
  command->add_option("--samples", o->samples, "Only samples FIRST to END - 1 (a part; paritas merge joins parts)")
      ->type_name("FIRST:END");
  command->add_option("--judge", o->judge, "Judge a stored result by other gates; the tensors are not read again")
      ->type_name("RESULT");
  command->add_option("--baseline", o->baseline, "Also show what became worse since this earlier result")
      ->type_name("RESULT");
  command->add_option("--csv", o->csv, "Write a table of all tensors")->type_name("FILE");
  command->add_option("--junit", o->junit, "Write JUnit XML, a test case a tensor")->type_name("FILE");
  command->add_option("--format", o->format, "Text on standard output: terminal, or github (workflow commands)")
      ->check(CLI::IsMember({"terminal", "github"}))
      ->capture_default_str();
  command->add_flag("--verify-hashes", o->verify_hashes, "Hash the recordings' contents again");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, or not judged when no gate covers an output; 1 deviates or invalid; 2 an input is wrong.\n\n"
      "Examples:\n"
      "  paritas compare reference device --gate 'scores: cosine>=0.99'\n"
      "  paritas compare a.npy b.npy --inputs-unverified --gate 'data: outside<=0, atol=1e-5, rtol=1e-5'\n"
      "  paritas compare host-ref board-cpu board-npu --profile w8a8-steps\n"
      "  paritas compare --judge result.json gates.toml");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
