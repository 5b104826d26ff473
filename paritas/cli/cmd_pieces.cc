#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/diagnosis_options.h"
#include "paritas/cli/ledger_options.h"
#include "paritas/locate/pieces.h"
#include "paritas/report/pieces_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  LedgerOptions ledger;
  RunOptions run;
  std::string model, reference = "cpu", device, op, node;
  bool sweep = false;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_ledger(o.ledger, o.common));
  PiecesRequest request;
  LocateRequest& base = request.base;
  base.model = o.model;
  PARITAS_ASSIGN(auto samples, load_inputs(o.run.inputs));
  if (samples.size() != 1) return usage_error("--input", "pieces takes one sample", "give each input once");
  base.inputs = std::move(samples.front());
  PARITAS_TRY(fill_diagnosis(o.run, o.common, o.reference, o.device, base));
  request.op = o.op;
  request.node = o.node;
  request.sweep = o.sweep;
  Result<PiecesResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.base.progress = [&](const std::string& stage) { progress.stage(stage); };
    return pieces(request);
  }();
  PARITAS_TRY(result);
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  PARITAS_TRY(write_ledger(o.ledger, o.common, ledger_entries(*result), base.inputs));
  return kExitPass;  // tables have no verdict on the network
}

}  // namespace

Action add_pieces(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "pieces", "Show where on its input axis a device's Erf, GELU, Sigmoid, Exp and the like err or saturate");
  command->add_option("model", o->model, "ONNX model")->required();
  command->add_option("-d,--device", o->device, "Target to be checked")->required();
  command->add_option("--op", o->op, "Only this operator type, e.g. Erf (default: all; a GELU in parts counts as one)");
  command->add_option("--node", o->node, "Only this node, or those that fit a pattern with * and ?");
  command->add_flag("--sweep", o->sweep, "Synthetic inputs from -20 to 20, too: not the model's own distribution");
  add_run_options(*command, o->run);
  command->add_option("--reference", o->reference, "Target that is right by definition")->capture_default_str();
  add_ledger_options(*command, o->ledger);
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 the functions were measured; 2 an input is wrong; 3 a run failed.\n\n"
      "Examples:\n"
      "  paritas pieces model.onnx --input images=images.npy --device sim:fp16\n"
      "  paritas pieces model.onnx --input images=images.npy --device qnn:htp,soc_model=77 --op Sigmoid --sweep");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
