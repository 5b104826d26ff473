#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/delivery/bench.h"
#include "paritas/delivery/bench_subject.h"
#include "paritas/judge/profiles.h"
#include "paritas/package/package.h"
#include "paritas/report/bench_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  RunOptions run;
  std::vector<std::string> subjects, targets, gates, profiles, roles;
  std::string reference = "cpu", gates_file, history, csv;
  int warm_up = 3, runs = 20;
  double endure = 0;
  std::vector<std::string> libraries;
  bool save = false;
};

Result<Target> target_of(const std::string& text, const RuntimeSearch& search) {
  PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(text));
  return resolve_target(spec, search);
}

Result<BenchSubject> subject_of(const Options& o, size_t index, const RuntimeSearch& search, const NamedTensors& inputs,
                                const std::map<std::string, int64_t>& dims) {
  const std::string& path = o.subjects[index];
  if (is_package(path)) {
    if (!o.targets.empty() && o.subjects.size() == 1)
      return usage_error("--target", "a package names its own targets", "leave it out");
    return package_subject(path, search, inputs);
  }
  const std::string text = o.targets.empty() ? "cpu" : o.targets.size() == 1 ? o.targets.front() : o.targets.at(index);
  PARITAS_ASSIGN(const Target target, target_of(text, search));
  PARITAS_ASSIGN(BenchSubject subject, model_subject(path, target, inputs, dims));
  for (const std::string& role : o.roles) {
    PARITAS_ASSIGN(auto pair, split_assignment(role, "--role", "pred_logits=scores"));
    subject.roles.insert(std::move(pair));
  }
  return subject;
}

Result<BenchRequest> make_request(const Options& o) {
  BenchRequest request;
  RuntimeSearch search = runtime_search(o.run.ort);
  PARITAS_TRY(add_libraries(o.libraries, search));
  if (o.targets.size() > 1 && o.targets.size() != o.subjects.size())
    return usage_error("--target",
                       fmt::format("was given {} times for {} subjects", o.targets.size(), o.subjects.size()),
                       "give one, or one for each");
  PARITAS_ASSIGN(request.gates,
                 load_gates(GateSources{o.gates_file.empty() ? std::nullopt : std::optional<Path>(o.gates_file),
                                        o.profiles, o.gates}));
  PARITAS_ASSIGN(auto samples, load_inputs(o.run.inputs));
  if (samples.size() != 1) return usage_error("--input", "bench takes one sample", "give each input once");
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, search));
  request.with_reference = o.reference != "none";
  if (request.with_reference) {
    PARITAS_ASSIGN(request.reference, target_of(o.reference, search));
  }
  for (size_t i = 0; i < o.subjects.size(); ++i) {
    PARITAS_ASSIGN(BenchSubject subject, subject_of(o, i, search, samples.front(), request.dims));
    request.subjects.push_back(std::move(subject));
  }
  request.warm_up = o.warm_up;
  request.runs = o.runs;
  request.endure = o.endure;
  request.history = o.history;
  request.scratch_root = scratch_root();
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  return request;
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_output_file(o.csv, o.common.force));
  PARITAS_TRY(check_distinct({o.common.json, o.csv, o.history}));
  if (o.save && (o.subjects.size() != 1 || !is_package(o.subjects.front())))
    return usage_error("--save", "goes with one package", "leave it out, or time the package alone");
  PARITAS_ASSIGN(BenchRequest request, make_request(o));
  Result<BenchResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return bench(request);
  }();
  PARITAS_TRY(result);
  if (!o.csv.empty()) PARITAS_TRY(write_text_atomically(o.csv, csv(*result), o.common.force));
  if (o.save) PARITAS_TRY(save_timing(o.subjects.front(), to_json(*result)));
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  return exit_code(result->verdict);
}

void add_judging(CLI::App& command, Options& o) {
  std::vector<std::string> known;
  for (const Profile& profile : profiles()) known.push_back(profile.name);
  command.add_option("--reference", o.reference, "What the outputs are held against afterwards; none: nothing")
      ->type_name("TARGET|none")
      ->capture_default_str();
  command.add_option("--gates", o.gates_file, "Gates file (TOML)")->type_name("FILE");
  command.add_option("--gate", o.gates, "Gate, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  command.add_option("--profile", o.profiles, "Ready-made gates (docs/gates.md says where the numbers come from)")
      ->type_name("NAME")
      ->check(CLI::IsMember(known))
      ->allow_extra_args(false);
  command.add_option("--role", o.roles, "What an output means, for gates on roles, e.g. pred_logits=scores")
      ->type_name("NAME=ROLE")
      ->allow_extra_args(false);
}

}  // namespace

Action add_bench(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "bench", "Time a model or a package under recorded conditions, and check that its results are right");
  command->add_option("subject", o->subjects, "ONNX model, or folder of a package; two are timed in alternating rounds")
      ->required()
      ->expected(1, 2);
  command->add_option("-t,--target", o->targets, "Where models run (default: cpu); once, or once for each")
      ->allow_extra_args(false);
  add_run_options(*command, o->run);
  command->add_option("--warm-up,--warmup", o->warm_up, "Runs before those that are measured")
      ->capture_default_str()
      ->check(CLI::Range(0, 100000));
  command->add_option("--runs", o->runs, "Measured runs; one alone is an observation without figures")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_option("--endure", o->endure, "Go on for so many seconds: do results, memory or time drift?")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e6));
  command->add_flag("--save", o->save, "Write the round into the package's manifest, and its sums anew");
  add_library_option(*command, o->libraries);
  add_judging(*command, *o);
  command
      ->add_option("--history", o->history, "CSV to which a line is added; the last line of this name is compared with")
      ->type_name("FILE");
  command->add_option("--csv", o->csv, "Write the time of every run as CSV")->type_name("FILE");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 timed, results pass or are not judged; 1 the results are wrong; 2 an input is wrong; 3 a run "
      "failed.\n\n"
      "Examples:\n"
      "  paritas bench model.onnx --input images=images.npy --target cpu,threads=8 --history times.csv\n"
      "  paritas bench old.onnx new.onnx --input images=images.npy --gate 'scores: cosine>=0.99'\n"
      "  paritas bench package --endure 600");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
