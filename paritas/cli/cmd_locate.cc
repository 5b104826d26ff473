#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/base/files.h"
#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/compare_options.h"
#include "paritas/cli/ledger_options.h"
#include "paritas/cli/locate_samples.h"
#include "paritas/delivery/locate_package.h"
#include "paritas/locate/locate.h"
#include "paritas/package/record_package.h"
#include "paritas/report/delivery_report.h"
#include "paritas/report/reports.h"
#include "paritas/report/samples_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  LedgerOptions ledger;
  RunOptions run;
  SamplesFlags samples;
  std::string model, reference = "cpu", device, gates_file;
  std::vector<std::string> gates, cuts;
  std::string cuts_file, save_cuts;
  int auto_cuts = 0;
  bool only_cuts = false;
  double injection_seconds = -1;
  bool search = false;
  int search_sessions = 60;
  double search_seconds = 600;
  std::string islands = "fused";
  bool probe_checks = false, consistency = false, full = false;
  int marks = 0;
  std::vector<std::string> groups;
  std::vector<std::string> libraries;
};

Result<CutRequest> cut_request(const Options& o) {
  CutRequest request;
  for (const std::string& text : o.cuts) {
    PARITAS_ASSIGN(auto spec, onnx_model::parse_cut(text, "--cut"));
    request.given.push_back(std::move(spec));
  }
  if (!o.cuts_file.empty()) request.file = o.cuts_file;
  request.automatic = o.auto_cuts;
  request.only = o.only_cuts;
  if (!request.any() && (o.only_cuts || !o.save_cuts.empty()))
    return usage_error(o.only_cuts ? "--only-cuts" : "--save-cuts", "there is no cut",
                       "name one with --cut, --cuts or --auto-cuts");
  return request;
}

Result<int> locate_many(const Options& o, LocateRequest base, SampleSource& samples,
                        std::optional<LocateRequest::Search> search) {
  if (!o.save_cuts.empty())
    return usage_error("--save-cuts", "cuts are written from one sample", "choose it with --samples, e.g. 0:1");
  SamplesRequest request;
  request.base = std::move(base);
  request.search = std::move(search);
  request.samples = &samples;
  if (!o.samples.resume.empty()) request.state = o.samples.resume;
  Result<SamplesResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.base.progress = [&](const std::string& stage) { progress.stage(stage); };
    return locate_samples(request);
  }();
  PARITAS_TRY(result);
  const Json json = o.common.json.empty() ? Json() : to_json(*result);
  PARITAS_TRY(emit(o.common, terminal(*result, terminal_style(o.common)), json));
  PARITAS_TRY(write_ledger(o.ledger, o.common, ledger_entries(*result), {}));
  return exit_code(result->verdict);
}

// Parts of a package are what can be looked at: options that ask for more are refused.
Result<int> locate_in_package(const Options& o, const Path& folder) {
  if (!o.cuts.empty() || !o.cuts_file.empty() || !o.save_cuts.empty() || o.auto_cuts > 0 || o.only_cuts || o.search ||
      o.probe_checks || o.consistency || o.full || o.marks > 0 || !o.groups.empty() || o.islands != "fused" ||
      !o.samples.inputs.empty() || !o.samples.resume.empty() || !o.samples.samples.empty())
    return usage_error("--device " + o.device, "a package has parts, and no nodes to look into",
                       "give inputs, gates and reference only; locate its model on the part's target for the rest");
  PackageLocateRequest request;
  request.model = o.model;
  request.package = folder;
  PARITAS_ASSIGN(request.gates,
                 load_gates(o.gates_file.empty() ? std::nullopt : std::optional<Path>(o.gates_file), o.gates));
  PARITAS_ASSIGN(auto samples, load_inputs(o.run.inputs));
  if (samples.size() != 1) return usage_error("--input", "one sample is located in a package", "give each input once");
  request.inputs = std::move(samples.front());
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  request.search = runtime_search(o.run.ort);
  PARITAS_TRY(add_libraries(o.libraries, request.search));
  PARITAS_ASSIGN(const TargetSpec reference, TargetSpec::parse(o.reference));
  PARITAS_ASSIGN(request.reference, resolve_target(reference, request.search));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, request.search));
  request.scratch_root = scratch_root();
  request.threads = jobs(o.common);
  Result<PackageLocateResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return locate_package(request);
  }();
  PARITAS_TRY(result);
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  return exit_code(result->verdict);
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_ledger(o.ledger, o.common));
  if (const auto folder = package_of_target(o.device)) return locate_in_package(o, *folder);
  if (!o.save_cuts.empty()) PARITAS_TRY(check_output_file(o.save_cuts, o.common.force));
  PARITAS_TRY(check_distinct({o.save_cuts, o.common.json}));
  LocateRequest request;
  request.model = o.model;
  PARITAS_ASSIGN(request.gates,
                 load_gates(o.gates_file.empty() ? std::nullopt : std::optional<Path>(o.gates_file), o.gates));
  const RuntimeSearch search = runtime_search(o.run.ort);
  PARITAS_ASSIGN(TargetSpec reference, TargetSpec::parse(o.reference));
  PARITAS_ASSIGN(TargetSpec device, TargetSpec::parse(o.device));
  PARITAS_ASSIGN(const auto source, sample_source(o.samples, o.run, o.model));
  std::optional<LocateRequest::Search> restore;
  if (o.search) restore = LocateRequest::Search{source->id(0), {}, o.search_sessions, o.search_seconds};
  if (!many(o.samples, *source)) {
    PARITAS_ASSIGN(request.inputs, source->inputs(0));
    request.search = restore;
  }
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  PARITAS_ASSIGN(request.reference, resolve_target(reference, search));
  PARITAS_ASSIGN(request.device, resolve_target(device, search));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, search));
  PARITAS_ASSIGN(request.cuts, cut_request(o));
  request.islands = parse_islands(o.islands);
  request.probe_checks = o.probe_checks || o.full;
  request.consistency = o.consistency || o.full;
  request.few_marks = request.inject_largest = o.full;
  request.marks_per_session = o.marks;
  if (request.cuts.only && (o.full || o.consistency))
    return usage_error("--only-cuts",
                       fmt::format("{} is part of the rest of the diagnosis", o.full ? "--full" : "--consistency"),
                       "leave away one of them");
  for (const std::string& text : o.groups) {
    PARITAS_ASSIGN(auto groups, parse_groups(text));
    request.groups.push_back(std::move(groups));
  }
  request.scratch_root = scratch_root();
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  if (o.injection_seconds >= 0) request.injection_seconds = o.injection_seconds;
  if (many(o.samples, *source)) return locate_many(o, std::move(request), *source, std::move(restore));
  Result<LocateResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return locate(request);
  }();
  PARITAS_TRY(result);
  if (!o.save_cuts.empty())
    PARITAS_TRY(write_text_atomically(o.save_cuts, result->cross_matrices->cut_file, o.common.force));
  const Json json = o.common.json.empty() ? Json() : to_json(*result);
  PARITAS_TRY(emit(o.common, terminal(*result, terminal_style(o.common)), json));
  PARITAS_TRY(write_ledger(o.ledger, o.common, ledger_entries(*result), request.inputs));
  return exit_code(result->verdict);
}

}  // namespace

Action add_locate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("locate", "Find where a device stops computing what the reference computes");
  command->add_option("model", o->model, "ONNX model")->required();
  add_run_options(*command, o->run);
  add_samples_flags(*command, o->samples);
  command->add_option("--reference", o->reference, "Target that is right by definition")->capture_default_str();
  command->add_option("-d,--device", o->device, "Target that is checked: sim:fp16, qnn:htp, ... (paritas targets)")
      ->required();
  command->add_option("--gates", o->gates_file, "Gates file (TOML)")->type_name("FILE");
  command->add_option("--gate", o->gates, "Gate on an output, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  command
      ->add_option("--injection-seconds", o->injection_seconds, "Budget for injecting local errors into the reference")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e6));
  command
      ->add_option("--islands", o->islands,
                   "What is probed together: fused (the device's groups), nodes, blocks (by module path), patterns "
                   "(Softmax and normalisations taken apart), or module paths or nodes that match")
      ->type_name("KIND|PATTERN")
      ->capture_default_str();
  command->add_flag(
      "--probe-checks", o->probe_checks,
      "Local probes in depth: modules, kernel remainders, Softmax sums, normalisations, sums of products");
  command->add_flag("--consistency", o->consistency,
                    "First measure how far each side moves by itself; a difference inside that noise is no verdict");
  command->add_option("--marks", o->marks, "Take accumulated figures with at most N tensors marked a session")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--full", o->full,
                    "--consistency and --probe-checks, outputs with few marks, and the largest local errors injected");
  command
      ->add_option(
          "--groups", o->groups,
          "Errors of a tensor by heads, tokens, channels ...: 'TENSOR: axes=1,2 names=head,token' (repeatable)")
      ->type_name("TENSOR: axis=N")
      ->allow_extra_args(false);
  command->add_flag("--search", o->search,
                    "Search the islands that the reference must compute for the gates to hold, on every sample");
  command->add_option("--search-sessions", o->search_sessions, "Device sessions that the search may open")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--search-seconds", o->search_seconds, "Time that the search may take")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str();
  command
      ->add_option("--cut", o->cuts,
                   "Cut the model at tensors, by name, unique ending or regular expression; each half then runs on "
                   "both sides (repeatable)")
      ->type_name("[NAME=]TENSOR,...")
      ->allow_extra_args(false);
  command->add_option("--auto-cuts", o->auto_cuts, "Propose N cuts, spread over the network")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  command->add_option("--cuts", o->cuts_file, "Cuts of a file that --save-cuts wrote; each is validated anew")
      ->type_name("FILE");
  command->add_option("--save-cuts", o->save_cuts, "Write the cuts of this call")->type_name("FILE");
  command->add_flag("--only-cuts", o->only_cuts, "Leave the rest of the diagnosis away");
  add_ledger_options(*command, o->ledger);
  add_library_option(*command, o->libraries);
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, or not judged when no gate covers an output; 1 deviates or invalid; 2 an input is wrong;\n"
      "3 a run failed, or the device took no node.\n\n"
      "Examples:\n"
      "  paritas locate model.onnx --input images=images.npy --device sim:fp16 --gate 'scores: cosine>=0.99'\n"
      "  paritas locate model.onnx --inputs recording --device sim:fp16 --gate 'scores: cosine>=0.99' --resume state\n"
      "  paritas locate model.onnx --input images=images.npy --device qnn:htp,soc_model=77,htp_arch=73 --json "
      "locate.json\n"
      "  paritas locate model.onnx --input images=images.npy --device sim:fp16 --cut encoder=map0,map1 --only-cuts");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
