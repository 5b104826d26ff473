#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/explain/explain.h"
#include "paritas/report/explain_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> layers;
  uint64_t worst = 0;
  std::string model, float_model, reference, device, names = "exact", aliases;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  ExplainRequest request;
  request.layers = o.layers;
  request.worst = o.worst;
  request.model = o.model;
  if (!o.float_model.empty()) request.float_model = o.float_model;
  if (!o.reference.empty()) request.reference = o.reference;
  if (!o.device.empty()) request.device = o.device;
  request.names.normalised = o.names == "normalised";
  if (!o.aliases.empty()) {
    PARITAS_ASSIGN(request.names.aliases, load_aliases(o.aliases));
  }
  PARITAS_ASSIGN(const ExplainResult result, explain(request));
  PARITAS_TRY(emit(o.common, terminal(result, terminal_style(o.common)), to_json(result)));
  return kExitPass;  // an explanation has no verdict on the network
}

}  // namespace

Action add_explain(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("explain", "Explain a bad layer of a quantised network from its weights and recorded values");
  command->add_option("layer", o->layers, "Node, \"17:CONV_2D\", tensor, or a pattern of nodes with * and ?")
      ->type_name("LAYER");
  command->add_option("--worst", o->worst, "Instead of layers: the N with the largest error between the recordings")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--model", o->model, "Quantised model, ONNX or TFLite")->type_name("FILE")->required();
  command->add_option("--float", o->float_model, "The float model from which it was made")->type_name("FILE");
  command->add_option("--reference", o->reference, "Recording of the float model, made with --marks all")
      ->type_name("FOLDER");
  command->add_option("--device", o->device, "Recording of the quantised model, made with --marks all")
      ->type_name("FOLDER");
  command->add_option("--names", o->names, "How names are paired: exact, or normalised by the rules of docs/compare.md")
      ->check(CLI::IsMember({"exact", "normalised"}))
      ->capture_default_str();
  command->add_option("--aliases", o->aliases, "TOML file with [aliases] \"reference name\" = \"device name\"")
      ->type_name("FILE");
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 the layers were looked at (there is no verdict); 2 an input is wrong.\n\n"
      "Examples:\n"
      "  paritas explain /conv/Conv --model int8.onnx --float float.onnx --reference float-run --device int8-run\n"
      "  paritas explain --worst 5 --model int8.tflite --float float.tflite --reference float-run --device int8-run");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
