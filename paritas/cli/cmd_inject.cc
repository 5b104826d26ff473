#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/diagnosis_options.h"
#include "paritas/cli/ledger_options.h"
#include "paritas/locate/inject.h"
#include "paritas/report/reports.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  LedgerOptions ledger;
  RunOptions run;
  std::string model, reference = "cpu", device, gates_file;
  std::vector<std::string> at, gates;
  bool each = false;
  bool feed_decisions = false;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_ledger(o.ledger, o.common));
  InjectRequest request;
  for (const std::string& text : o.at) {
    PARITAS_ASSIGN(Injection injection, parse_injection(text));
    if (injection.needs_device() && o.device.empty())
      return usage_error(text, "this is the error of a device, and none is given", "name it with --device");
    request.injections.push_back(std::move(injection));
  }
  LocateRequest& base = request.base;
  base.model = o.model;
  PARITAS_ASSIGN(base.gates,
                 load_gates(o.gates_file.empty() ? std::nullopt : std::optional<Path>(o.gates_file), o.gates));
  PARITAS_ASSIGN(auto samples, load_inputs(o.run.inputs));
  if (samples.size() != 1) return usage_error("--input", "inject takes one sample", "give each input once");
  base.inputs = std::move(samples.front());
  request.with_device = !o.device.empty();
  PARITAS_TRY(
      fill_diagnosis(o.run, o.common, o.reference, request.with_device ? std::optional(o.device) : std::nullopt, base));
  request.each = o.each;
  request.feed_decisions = o.feed_decisions;
  Result<InjectResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.base.progress = [&](const std::string& stage) { progress.stage(stage); };
    return inject(request);
  }();
  PARITAS_TRY(result);
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  PARITAS_TRY(write_ledger(o.ledger, o.common, ledger_entries(*result), base.inputs));
  return kExitPass;  // an experiment has no verdict on the network
}

}  // namespace

Action add_inject(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("inject", "Put an error into the reference run and see what becomes of the outputs");
  command->add_option("model", o->model, "ONNX model")->required();
  command
      ->add_option(
          "--at", o->at,
          "TENSOR: MODE. Modes: local (the device's own result from reference inputs), difference*F (its error, "
          "F times), accumulated*F (the error in the whole run), round(float16), noise(NMSE), offset(V)")
      ->type_name("'TENSOR: MODE'")
      ->required()
      ->allow_extra_args(false);
  command->add_flag("--each", o->each, "Every tensor is an experiment of its own; else all are injected together");
  command->add_flag("--feed-decisions", o->feed_decisions, "Keep the reference's decisions (TopK, ArgMax, ...)");
  add_run_options(*command, o->run);
  command->add_option("--reference", o->reference, "Target that is right by definition")->capture_default_str();
  command->add_option("-d,--device", o->device, "Target whose errors are injected");
  command->add_option("--gates", o->gates_file, "Gates file (TOML)")->type_name("FILE");
  command->add_option("--gate", o->gates, "Gate on an output, e.g. 'scores: cosine>=0.99'")
      ->type_name("GATE")
      ->allow_extra_args(false);
  add_ledger_options(*command, o->ledger);
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 the experiments ran; 2 an input is wrong; 3 a run failed.\n\n"
      "Examples:\n"
      "  paritas inject model.onnx --input images=images.npy --device sim:fp16 --each --at '*Softmax*: local' \\\n"
      "      --gate 'scores: cosine>=0.99'\n"
      "  paritas inject model.onnx --input images=images.npy --at '/enc/norm/Mul_output_0: noise(1e-4)'");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
