#include <CLI/CLI.hpp>

#include "paritas/base/files.h"
#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/locate/locate.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  RunOptions run;
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
  bool probe_checks = false;
  std::vector<std::string> groups;
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

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  if (!o.save_cuts.empty()) PARITAS_TRY(check_output_file(o.save_cuts, o.common.force));
  LocateRequest request;
  request.model = o.model;
  PARITAS_ASSIGN(request.gates,
                 load_gates(o.gates_file.empty() ? std::nullopt : std::optional<Path>(o.gates_file), o.gates));
  const RuntimeSearch search = runtime_search(o.run.ort);
  PARITAS_ASSIGN(TargetSpec reference, TargetSpec::parse(o.reference));
  PARITAS_ASSIGN(TargetSpec device, TargetSpec::parse(o.device));
  PARITAS_ASSIGN(auto samples, load_inputs(o.run.inputs));
  if (samples.size() != 1 && !o.search)
    return usage_error("--input", "locate takes one sample", "give each input once, or search over all with --search");
  request.inputs = samples.front();
  if (o.search) {
    request.search = LocateRequest::Search{{samples.begin() + 1, samples.end()}, o.search_sessions, o.search_seconds};
  }
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  PARITAS_ASSIGN(request.reference, resolve_target(reference, search));
  PARITAS_ASSIGN(request.device, resolve_target(device, search));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, search));
  PARITAS_ASSIGN(request.cuts, cut_request(o));
  request.islands = parse_islands(o.islands);
  request.probe_checks = o.probe_checks;
  for (const std::string& text : o.groups) {
    PARITAS_ASSIGN(auto groups, parse_groups(text));
    request.groups.push_back(std::move(groups));
  }
  request.scratch_root = scratch_root();
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  if (o.injection_seconds >= 0) request.injection_seconds = o.injection_seconds;
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
  return exit_code(result->verdict);
}

}  // namespace

Action add_locate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("locate", "Find where a device stops computing what the reference computes");
  command->add_option("model", o->model, "ONNX model")->required();
  add_run_options(*command, o->run);
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
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 pass, or not judged when no gate covers an output; 1 deviates or invalid; 2 an input is wrong;\n"
      "3 a run failed, or the device took no node.\n\n"
      "Examples:\n"
      "  paritas locate model.onnx --input images=images.npy --device sim:fp16 --gate 'scores: cosine>=0.99'\n"
      "  paritas locate model.onnx --input images=images.npy --device qnn:htp,soc_model=77,htp_arch=73 --json "
      "locate.json\n"
      "  paritas locate model.onnx --input images=images.npy --device sim:fp16 --cut encoder=map0,map1 --only-cuts");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
