#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/ledger_options.h"
#include "paritas/placement/export.h"
#include "paritas/placement/placement.h"
#include "paritas/placement/placement_json.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  LedgerOptions ledger;
  RunOptions run;
  std::string model, target, reference = "cpu", provider, gates_file;
  std::string profile, op_trace, cycles, context, against, node_data_file, annotated;
  std::vector<std::string> requirements, planned, pins, gates;
};

std::optional<Path> optional_path(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<Path>(text);
}

Status resolve_live(const Options& o, PlacementRequest& request) {
  if (o.target.empty()) return {};
  const RuntimeSearch search = runtime_search(o.run.ort);
  PARITAS_ASSIGN(TargetSpec target, TargetSpec::parse(o.target));
  PARITAS_ASSIGN(request.target, resolve_target(target, search));
  PARITAS_ASSIGN(TargetSpec reference, TargetSpec::parse(o.reference));
  PARITAS_ASSIGN(request.reference, resolve_target(reference, search));
  PARITAS_ASSIGN(request.worker, worker_options(o.run, search));
  return {};
}

Result<PlacementRequest> make_request(const Options& o) {
  PlacementRequest request;
  request.model = o.model;
  request.requirements = o.requirements;
  request.planned = o.planned;
  request.pins = o.pins;
  request.provider = o.provider;
  request.profile = optional_path(o.profile);
  request.op_trace = optional_path(o.op_trace);
  request.cycles = optional_path(o.cycles);
  request.context = optional_path(o.context);
  request.against = optional_path(o.against);
  PARITAS_ASSIGN(request.gates, load_gates(optional_path(o.gates_file), o.gates));
  PARITAS_ASSIGN(auto samples, load_inputs(o.run.inputs));
  if (samples.size() != 1) return usage_error("--input", "placement takes one sample", "give each input once");
  request.inputs = std::move(samples.front());
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  request.scratch_root = scratch_root();
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  PARITAS_TRY(resolve_live(o, request));
  return request;
}

Status write_exports(const Options& o, const PlacementResult& result) {
  if (!o.node_data_file.empty()) {
    PARITAS_ASSIGN(const Json data, node_data(o.model, result.placement));
    PARITAS_TRY(write_text_atomically(o.node_data_file, dump_json(data) + "\n", o.common.force));
  }
  if (!o.annotated.empty()) return write_annotated(o.model, result.placement, o.annotated, o.common.force);
  return {};
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_ledger(o.ledger, o.common));
  PARITAS_TRY(check_output_file(o.node_data_file, o.common.force));
  PARITAS_TRY(check_output_file(o.annotated, o.common.force));
  PARITAS_ASSIGN(PlacementRequest request, make_request(o));
  Result<PlacementResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return find_placement(request);
  }();
  PARITAS_TRY(result);
  PARITAS_TRY(write_exports(o, *result));
  const Json json = o.common.json.empty() ? Json() : to_json(*result);
  PARITAS_TRY(emit(o.common, terminal(*result, terminal_style(o.common)), json));
  PARITAS_TRY(write_ledger(o.ledger, o.common, ledger_entries(*result), request.inputs));
  return exit_code(result->verdict);
}

void add_evidence_options(CLI::App& command, Options& o) {
  command.add_option("--profile", o.profile, "ONNX Runtime profile (JSON)")->type_name("FILE");
  command.add_option("--op-trace", o.op_trace, "QNN op trace (JSON)")->type_name("FILE");
  command.add_option("--cycles", o.cycles, "QNN profile with cycles per operation (CSV)")->type_name("FILE");
  command.add_option("--context", o.context, "Model with EPContext nodes that was compiled from this one")
      ->type_name("FILE");
  command.add_option("--provider", o.provider, "Provider that was asked for (default: the one that the files are of)")
      ->type_name("NAME");
}

}  // namespace

Action add_placement(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("placement", "Show where each node of a model really ran, and by which evidence");
  command->add_option("model", o->model, "ONNX model")->required();
  command->add_option("-t,--target", o->target, "Run here and collect evidence: qnn:htp, ... (paritas targets)");
  add_run_options(*command, o->run);
  add_evidence_options(*command, *o);
  command
      ->add_option("--require", o->requirements,
                   "Share of nodes that must be on the device: 100%, '/enc/*=100%', 'op:Conv=90%'")
      ->type_name("[PATTERN=]PERCENT%")
      ->allow_extra_args(false);
  command->add_option("--planned", o->planned, "Nodes that are meant to run on the CPU: name pattern, or op:TYPE")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command->add_option("--against", o->against, "Compare with an older result (JSON of this command)")
      ->type_name("FILE");
  command->add_option("--node-data", o->node_data_file, "Write places as node data for Model Explorer")
      ->type_name("FILE");
  command->add_option("--annotated", o->annotated, "Write a copy of the model with places as node metadata (Netron)")
      ->type_name("FOLDER");
  command->add_option("--pin", o->pins, "Pin an operator type to the CPU; without --target only list what it touches")
      ->type_name("OP_TYPE=CPU")
      ->allow_extra_args(false);
  command->add_option("--reference", o->reference, "Target whose outputs a pin is judged by")->capture_default_str();
  command->add_option("--gates", o->gates_file, "Gates file for outputs of a pinned session (TOML)")->type_name("FILE");
  command->add_option("--gate", o->gates, "Gate on an output of a pinned session, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  add_ledger_options(*command, o->ledger);
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 nothing required, or all that is required holds; 1 a requirement or gate fails, the device took\n"
      "nothing, or evidence contradicts itself; 2 an input is wrong; 3 a run failed.\n\n"
      "Examples:\n"
      "  paritas placement model.onnx --target qnn:htp,soc_model=77,htp_arch=73 --input images=images.npy --require "
      "100%\n"
      "  paritas placement model.onnx --profile profile.json --op-trace qnn_op_trace.json --cycles qnn.csv\n"
      "  paritas placement model.onnx --target qnn:htp --input images=images.npy --pin Softmax=CPU --gate 'scores: "
      "cosine>=0.99'");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
