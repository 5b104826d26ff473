#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/cli/command_line.h"
#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/ledger_options.h"
#include "paritas/delivery/ledger_lines.h"
#include "paritas/delivery/split_project.h"
#include "paritas/report/delivery_report.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  LedgerOptions ledger;
  RunOptions run;
  std::string model, reference, device, cpu = "cpu,opt=all", output;
  std::vector<std::string> cuts, parts, boundary, contexts, port_maps, roles, meanings;
  std::string gates_file, cpu_gates_file;
  std::vector<std::string> gates, profiles, cpu_gates, cpu_profiles;
  int automatic = 0;
  bool allow_outside = false;
};

bool is_project(const Options& o) { return Path(o.model).extension() == ".toml"; }

Result<std::map<std::string, Path>> files_by_part(const std::vector<std::string>& texts, const char* option) {
  std::map<std::string, Path> files;
  for (const std::string& text : texts) {
    PARITAS_ASSIGN(auto assigned, split_assignment(text, option, "encoder=encoder_ctx.onnx"));
    files[assigned.first] = assigned.second;
  }
  return files;
}

Status read_declarations(const Options& o, SplitRequest& request) {
  auto path = [](const std::string& file) { return file.empty() ? std::nullopt : std::optional<Path>(file); };
  PARITAS_ASSIGN(request.contract.chain_gates, load_gates(GateSources{path(o.gates_file), o.profiles, o.gates}));
  PARITAS_ASSIGN(request.contract.cpu_gates,
                 load_gates(GateSources{path(o.cpu_gates_file), o.cpu_profiles, o.cpu_gates}));
  for (const std::string& text : o.roles) {
    PARITAS_ASSIGN(auto role, split_assignment(text, "--role", "scores=scores"));
    request.contract.roles[role.first] = role.second;
  }
  for (const std::string& text : o.meanings) {
    PARITAS_ASSIGN(auto meaning, split_assignment(text, "--meaning", "boxes='xyxy in pixels'"));
    request.contract.meanings[meaning.first] = meaning.second;
  }
  for (const std::string& text : o.cuts) {
    PARITAS_ASSIGN(auto cut, onnx_model::parse_cut(text, "--cut"));
    request.cuts.push_back(std::move(cut));
  }
  request.automatic = o.automatic;
  PARITAS_ASSIGN(request.contexts, files_by_part(o.contexts, "--context"));
  PARITAS_ASSIGN(request.port_maps, files_by_part(o.port_maps, "--context-map"));
  request.boundary = o.boundary;
  return {};
}

Status read_parts(const Options& o, SplitRequest& request) {
  for (const std::string& text : o.parts) {
    PARITAS_ASSIGN(auto part, split_assignment(text, "--part", "encoder=qnn:htp"));
    PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(part.second));
    SplitPartTarget made{part.first, {}};
    PARITAS_ASSIGN(made.target, resolve_target(spec, request.search));
    request.parts.push_back(std::move(made));
  }
  if (!o.parts.empty() && !o.device.empty())
    return usage_error("--device", "contradicts --part", "leave one of them away");
  if (!request.parts.empty() || o.device.empty() || is_project(o)) return {};
  const size_t cuts = request.automatic > 0 ? 1 : request.cuts.size();
  PARITAS_ASSIGN(request.parts, default_parts(cuts + 1, o.device, o.cpu, request.search));
  return {};
}

Status read_model(const Options& o, SplitRequest& request) {
  request.model = o.model;
  if (request.parts.empty())
    return usage_error("--device", "no target is named for the device part", "give --device qnn:htp, or --part twice");
  PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(o.reference.empty() ? "cpu" : o.reference));
  PARITAS_ASSIGN(request.reference, resolve_target(spec, request.search));
  PARITAS_ASSIGN(request.samples, load_inputs(o.run.inputs));
  PARITAS_ASSIGN(request.dims, parse_dims(o.run.dims));
  if (request.contract.cpu_gates.empty()) request.contract.cpu_gates = request.contract.chain_gates;
  return {};
}

Status read_project(const Options& o, const Path& scratch, SplitRequest& request, std::vector<std::string>& notes) {
  if (!o.run.inputs.empty() || !o.run.dims.empty() || !o.reference.empty())
    return usage_error(o.model, "the project file declares inputs, dimensions and reference",
                       "leave --input, --dim and --reference out, or change the file");
  if (!o.device.empty() && !o.parts.empty())
    return usage_error("--device", "contradicts --part", "leave one of them away");
  ProjectSplitOptions options{o.model, o.allow_outside, request.search, o.device, o.cpu, scratch};
  return fill_from_project(options, request, notes);
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_TRY(check_ledger(o.ledger, o.common));
  if (o.automatic > 0 && !o.cuts.empty())
    return usage_error("--auto-cuts", "contradicts --cut", "leave one of them away");
  SplitRequest request;
  request.search = runtime_search(o.run.ort);
  PARITAS_ASSIGN(request.worker, worker_options(o.run, request.search));
  request.scratch_root = scratch_root();
  PARITAS_ASSIGN(const ScratchFolder frozen, ScratchFolder::create(request.scratch_root));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(o.run.memory));
  request.threads = jobs(o.common);
  request.tool_version = PARITAS_VERSION;
  request.output = o.output;
  request.overwrite = o.common.force;
  request.command = command_line();
  PARITAS_TRY(read_declarations(o, request));
  PARITAS_TRY(read_parts(o, request));
  std::vector<std::string> notes;
  if (is_project(o))
    PARITAS_TRY(read_project(o, frozen.path(), request, notes));
  else
    PARITAS_TRY(read_model(o, request));
  if (!o.ledger.off && !o.ledger.file.empty()) {
    PARITAS_ASSIGN(request.tried, tried_before(o.ledger.file, request.model));
  }
  Result<SplitResult> result = [&] {
    Progress progress(!o.common.quiet);
    request.progress = [&](const std::string& stage) { progress.stage(stage); };
    return split(request);
  }();
  PARITAS_TRY(result);
  result->notes.insert(result->notes.begin(), notes.begin(), notes.end());
  PARITAS_TRY(
      emit(o.common, terminal(*result, terminal_style(o.common)), o.common.json.empty() ? Json() : to_json(*result)));
  PARITAS_TRY(write_ledger(o.ledger, o.common, ledger_entries(*result, request), request.samples.front()));
  return result->refused.empty() ? exit_code(result->verdict) : kExitDeviates;
}

}  // namespace

Action add_split(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "split", "Cut a model into parts, build each for where it runs, and deliver them as a verified package");
  command->add_option("model", o->model, "ONNX model, or project file (paritas.toml)")->required();
  command->add_option("-o,--output", o->output, "Folder of the package")->required()->type_name("DIR");
  command
      ->add_option(
          "--cut", o->cuts,
          "[NAME=]TENSOR,TENSOR,...: names, unique suffixes or regular expressions; once for each cut, in order")
      ->allow_extra_args(false);
  command->add_option("--auto-cuts", o->automatic, "Propose N cuts, measure each, take the cheapest that holds")
      ->check(CLI::Range(1, 1000));
  command->add_option("-d,--device", o->device, "Target of the first part, and of every second one after it");
  command->add_option("--cpu", o->cpu, "Target of the other parts")->capture_default_str();
  command->add_option("--part", o->parts, "NAME=TARGET, once for each part, in order (instead of --device and --cpu)")
      ->allow_extra_args(false);
  command->add_option("--boundary", o->boundary, "Names for the tensors handed over (default: feature_0, feature_1...)")
      ->delimiter(',');
  command->add_option("--context", o->contexts, "PART=FILE: a context compiled elsewhere, instead of compiling here")
      ->allow_extra_args(false);
  command->add_option("--context-map", o->port_maps, "PART=FILE: JSON that gives the names of that context's ports")
      ->allow_extra_args(false);
  command->add_option("--reference", o->reference, "Target that is right by definition (default: cpu)");
  command->add_option("--gates", o->gates_file, "Gates file for the chain")->type_name("FILE");
  command->add_option("--gate", o->gates, "Gate for the chain")->type_name("GATE")->allow_extra_args(false);
  command->add_option("--profile", o->profiles, "Ready-made gates for the chain")->allow_extra_args(false);
  command->add_option("--cpu-gates", o->cpu_gates_file, "Gates file for the CPU parts alone (default: the chain's)")
      ->type_name("FILE");
  command->add_option("--cpu-gate", o->cpu_gates, "Gate for the CPU parts")->type_name("GATE")->allow_extra_args(false);
  command->add_option("--cpu-profile", o->cpu_profiles, "Ready-made gates for the CPU parts")->allow_extra_args(false);
  command->add_option("--role", o->roles, "OUTPUT=ROLE, for gates on roles")->allow_extra_args(false);
  command->add_option("--meaning", o->meanings, "PORT=TEXT: what an input or output means to an application")
      ->allow_extra_args(false);
  command->add_flag("--allow-outside", o->allow_outside, "Paths may lead out of the project file's folder");
  add_run_options(*command, o->run);
  add_ledger_options(*command, o->ledger);
  add_common(*command, o->common);
  command->footer(
      "Exit code: 0 delivered (pass, or not judged without gates); 1 refused: nothing was written; 2 an input is "
      "wrong;\n"
      "3 a run failed. A project file's [package] says the same once and for all (docs/package.md).\n\n"
      "Examples:\n"
      "  paritas split paritas.toml -o package\n"
      "  paritas split model.onnx --input images=images.npy --cut encoder=/enc/out_0,/enc/out_1 --device qnn:htp \\\n"
      "      --gate 'scores: cosine>=0.99' -o package");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
