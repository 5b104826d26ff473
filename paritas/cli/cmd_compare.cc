#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/cli/compare_packages_command.h"
#include "paritas/cli/compare_weights_command.h"
#include "paritas/cli/import_options.h"
#include "paritas/compare/many.h"
#include "paritas/compare/stored.h"
#include "paritas/package/record_package.h"
#include "paritas/project/sides.h"
#include "paritas/recording/input_roles.h"
#include "paritas/recording/recording.h"
#include "paritas/recording/sample_range.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  CompareFlags compare;
  ImportFlags import;
  std::vector<std::string> recordings;
  std::string judge, baseline, csv, junit, format = "terminal", samples;
  bool verify_hashes = false;
  std::string ort;
  std::vector<std::string> libraries;
};

Status check_files(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_output_file(o.csv, o.common.force));
  PARITAS_TRY(check_output_file(o.junit, o.common.force));
  return check_distinct({o.csv, o.junit, o.common.json});
}

// A package is run on the inputs of what it is compared with, the first of the other recordings.
Result<std::unique_ptr<SampleStream>> run_package(const Options& o, const std::string& path, size_t number,
                                                  SampleStream* inputs, const Path& scratch) {
  PARITAS_ASSIGN(const Package package, open_package(path));
  RecordPackageRequest request;
  request.package = &package;
  RunOptions run;
  run.ort = o.ort;
  request.search = runtime_search(o.ort);
  PARITAS_TRY(add_libraries(o.libraries, request.search));
  PARITAS_ASSIGN(request.worker, worker_options(run, request.search));
  request.output = scratch / fmt::format("package-{}", number);
  request.scratch_root = scratch;
  request.tool_version = PARITAS_VERSION;
  if (inputs == nullptr)
    return usage_error(path, "is a package, and so is all that it is compared with",
                       "name a recording of the reference, whose inputs it can be fed with");
  PARITAS_TRY(record_on_inputs_of(request, *inputs));
  OpenSide side;
  side.path = request.output;
  side.subject = path;  // what the user typed, not where it was recorded
  PARITAS_TRY(open_side(side));
  return view(side, {}, {});
}

// Recordings, and what other tools wrote. What the options declare of dumps must be of use to one of them.
Result<std::vector<std::unique_ptr<SampleStream>>> open_all(const Options& o, const std::vector<std::string>& paths,
                                                            const std::set<std::string>& inputs, const Path& scratch) {
  PARITAS_ASSIGN(ImportOptions options, import_options(o.import, false));
  options.verify_hashes = o.verify_hashes;
  options.scratch = scratch;
  TakenDeclarations taken;
  options.taken = &taken;
  std::vector<std::unique_ptr<SampleStream>> streams;
  SampleStream* recorded = nullptr;
  for (const std::string& path : paths) {
    streams.emplace_back();
    if (is_package(path)) continue;
    PARITAS_ASSIGN(auto stream, open_any(path, options));
    streams.back() = with_inputs(std::move(stream), inputs);
    if (recorded == nullptr) recorded = streams.back().get();
  }
  for (size_t i = 0; i < paths.size(); ++i)
    if (!streams[i]) {
      PARITAS_ASSIGN(streams[i], run_package(o, paths[i], i, recorded, scratch));
    }
  PARITAS_TRY(check_taken(options, taken));
  return streams;
}

Result<CompareResult> compare_two(const Options& o, std::unique_ptr<SampleStream>& reference,
                                  std::unique_ptr<SampleStream>& device, CompareOptions options) {
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
  const bool hashed = is_recording(reference->subject()) || is_recording(device->subject());
  if (hashed && !o.verify_hashes) result.notes.emplace_back("contents not re-hashed (--verify-hashes does)");
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
      flags.names != "exact" || flags.inputs_unverified || !o.samples.empty() || o.import.any() ||
      !o.import.model.empty())
    return usage_error("--judge", "judges what was compared: only gates can be given with it",
                       "compare again for the rest");
  PARITAS_ASSIGN(const CompareOptions options, compare_options(flags, jobs(o.common)));
  if (options.gates.empty())
    return usage_error("--judge", "no gates were given", "paritas compare --judge RESULT.json GATES.toml");
  PARITAS_ASSIGN(const CompareResult stored, load_compare_result(o.judge));
  PARITAS_ASSIGN(const CompareResult result, judge_again(stored, options.gates));
  return report(o, result);
}

Result<int> compare_many(const Options& o, const CompareOptions& options,
                         std::vector<std::unique_ptr<SampleStream>>& streams) {
  for (const std::string* single : {&o.baseline, &o.csv, &o.junit, &o.samples})
    if (!single->empty())
      return usage_error("compare", "--baseline, --csv, --junit and --samples go with two recordings",
                         "compare the recordings in pairs for them");
  std::vector<CompareResult> pairs;
  CompareOptions ungated = options;  // gates judge the pairs with the first; the others are measured
  ungated.gates = {};
  ungated.gates.nonfinite = options.gates.nonfinite;
  for (size_t a = 0; a < o.recordings.size(); ++a)
    for (size_t b = a + 1; b < o.recordings.size(); ++b) {
      PARITAS_ASSIGN(CompareResult pair, compare_two(o, streams[a], streams[b], a == 0 ? options : ungated));
      pairs.push_back(std::move(pair));
    }
  const ManyResult result = conclude_many(o.recordings, std::move(pairs));
  std::string text;
  if (o.format == "github")
    for (size_t b = 1; b < o.recordings.size(); ++b) text += github(result.pairs[b - 1]);  // what gates judge
  else
    text = terminal(result, terminal_style(o.common));
  PARITAS_TRY(emit(o.common, text, o.common.json.empty() ? Json() : to_json(result)));
  return exit_code(result.verdict);
}

// Everything but what all commands have says how tensors of recordings are compared.
Status only_common_options(const Options& o, const char* cause, const char* remedy) {
  const CompareFlags& flags = o.compare;
  if (!flags.gates_file.empty() || !flags.gates.empty() || !flags.profiles.empty() || !flags.roles.empty() ||
      !flags.ranked.empty() || !flags.quantisations.empty() || !flags.aliases.empty() || flags.names != "exact" ||
      flags.inputs_unverified || flags.allow_extra || flags.quantiles || !o.samples.empty() || !o.baseline.empty() ||
      !o.csv.empty() || !o.junit.empty() || o.format != "terminal" || o.import.any() || !o.import.model.empty())
    return usage_error("compare", cause, remedy);
  return {};
}

Result<int> compare_releases(const Options& o) {
  PARITAS_TRY(
      only_common_options(o, "two packages are described, not judged: gates and options of recordings do not apply",
                          "leave them out; paritas verify judges a package"));
  return compare_two_packages(o.common, o.recordings[0], o.recordings[1]);
}

Result<int> compare_weight_files(const Options& o) {
  PARITAS_TRY(
      only_common_options(o, "of two models the weights are compared: gates and options of recordings do not apply",
                          "leave them out; paritas run and check compare what models compute"));
  return compare_two_models(o.common, o.recordings[0], o.recordings[1]);
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_files(o));
  if (!o.judge.empty()) return judge_stored(o);
  if (o.recordings.size() < 2)
    return usage_error("compare", "needs at least two recordings", "paritas compare REFERENCE DEVICE");
  if (o.recordings.size() == 2 && are_packages(o.recordings[0], o.recordings[1])) return compare_releases(o);
  if (o.recordings.size() == 2 && are_models(o.recordings[0], o.recordings[1])) return compare_weight_files(o);
  PARITAS_ASSIGN(const CompareOptions options, compare_options(o.compare, jobs(o.common)));
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_root()));
  PARITAS_ASSIGN(auto streams, open_all(o, o.recordings, declared_inputs(options), scratch.path()));
  if (o.recordings.size() > 2) return compare_many(o, options, streams);
  PARITAS_ASSIGN(const CompareResult result, compare_two(o, streams[0], streams[1], options));
  return report(o, result);
}

}  // namespace

Action add_compare(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compare", "Compare recordings, tensor by tensor");
  command->add_option("recordings", o->recordings,
                      "REFERENCE DEVICE [MORE...]: recordings, or dumps of other tools (paritas import --help); or two "
                      "packages, or two models");
  add_compare_flags(*command, o->compare);
  command
      ->add_option("-m,--model", o->import.model,
                   "ONNX or TFLite model: gives roles, shapes and types to dumps that do not tell them")
      ->type_name("MODEL");
  add_import_flags(*command, o->import);
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
  add_library_option(*command, o->libraries);
  command->add_flag("--verify-hashes", o->verify_hashes, "Hash the recordings' contents again");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, or not judged (no gate covers an output, or the inputs are not recorded);\n"
      "1 deviates or invalid; 2 an input is wrong; 3 a package could not be run.\n\n"
      "A package beside a recording is run on the recording's inputs.\n\n"
      "Two packages (paritas split): what changed between them is described, not judged. Exit code 0: nothing that "
      "can\n"
      "change what is computed, where, or what an application must do; 1: something that can. Dates, commands, host,\n"
      "timings, the source model's name, and what only moved within a file do not count (docs/package-diff.md).\n\n"
      "Two models (.onnx, .tflite): are the second's weights the first's, rounded to its codes? Exit code 0: each is\n"
      "equal or within half a step; 1: not (docs/quantised.md).\n\n"
      "Examples:\n"
      "  paritas compare reference device --gate 'scores: cosine>=0.99'\n"
      "  paritas compare a.npy b.npy --inputs-unverified --gate 'data: outside<=0, atol=1e-5, rtol=1e-5'\n"
      "  paritas compare ort.npz snpe/ --model model.onnx --dtype labels=float32\n"
      "  paritas compare host-ref board-cpu board-npu --profile w8a8-steps\n"
      "  paritas compare --judge result.json gates.toml\n"
      "  paritas compare package-1.3 package-1.4\n"
      "  paritas compare float.tflite w8a8.tflite");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
