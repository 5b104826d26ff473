#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/recording/recording.h"
#include "paritas/vendor/import.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string source, output, format, model, names, input_list, runner;
  std::vector<std::string> dtypes, shapes;
  bool outputs_only = false;
  bool verify = false;
};

// "NAME=VALUE" split at the last '=': names may hold one, types and shapes do not.
std::pair<std::string, std::string> split(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Result<Shape> parse_shape(const std::string& option, const std::string& text) {
  Shape shape;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    int64_t dim = 0;
    const auto [end, code] = std::from_chars(at, text.data() + text.size(), dim);
    const bool last = end == text.data() + text.size();
    if (code != std::errc() || dim < 0 || *at == '-' ||
        (!last && (*end != 'x' || end + 1 == text.data() + text.size())))
      return usage_error(option, "is not a shape", "for example: --shape scores=1x40");
    shape.push_back(dim);
    at = last ? end : end + 1;
  }
  return shape;
}

Status parse_declarations(const Options& o, ImportOptions& options) {
  for (const std::string& text : o.dtypes) {
    const auto [tensor, type] = split(text);
    const auto dtype = dtype_from_name(type);
    if (!dtype)
      return usage_error("--dtype " + text, fmt::format("\"{}\" is not a type", type),
                         "for example: --dtype scores=float32, or --dtype uint8 for all raw files");
    if (tensor.empty())
      options.dtype = *dtype;
    else
      options.dtypes[tensor] = *dtype;
  }
  for (const std::string& text : o.shapes) {
    const auto [tensor, shape] = split(text);
    if (tensor.empty()) return usage_error("--shape " + text, "is not NAME=SHAPE", "for example: --shape scores=1x40");
    PARITAS_ASSIGN(options.shapes[tensor], parse_shape("--shape " + text, shape));
  }
  return {};
}

std::string plural(uint64_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string summary(const RunInfo& info, uint64_t samples, const std::string& output) {
  uint64_t inputs = 0;
  uint64_t outputs = 0;
  for (const TensorInfo& tensor : info.tensors) {
    inputs += tensor.role == Role::kInput ? 1 : 0;
    outputs += tensor.role == Role::kOutput ? 1 : 0;
  }
  const uint64_t others = info.tensors.size() - inputs - outputs;
  std::string text =
      fmt::format("Imported {}: {}, {}{}: {}\n", plural(samples, "sample"), plural(inputs, "input"),
                  plural(outputs, "output"), others == 0 ? "" : ", " + plural(others, "intermediate"), output);
  for (const auto& note : info.notes) text += "note: " + note + "\n";
  return text;
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  ImportOptions options;
  options.format = o.format;
  if (!o.model.empty()) options.model = o.model;
  if (!o.names.empty()) options.names = o.names;
  if (!o.input_list.empty()) options.input_list = o.input_list;
  options.runner = o.runner;
  options.outputs_only = o.outputs_only;
  options.verify_hashes = o.verify;
  PARITAS_TRY(parse_declarations(o, options));
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_root()));
  options.scratch = scratch.path();
  PARITAS_ASSIGN(const auto stream, open_any(o.source, options));
  PARITAS_ASSIGN(RecordingWriter writer, RecordingWriter::create(o.output, o.common.force));
  {
    Progress progress(!o.common.quiet);
    for (uint64_t i = 0; i < stream->sample_count(); ++i) {
      progress.stage(fmt::format("sample {} of {}", i + 1, stream->sample_count()));
      PARITAS_ASSIGN(const Sample sample, stream->sample(i));
      PARITAS_TRY(writer.add_sample(sample.tensors));
    }
  }
  RunInfo info = stream->info();
  info.tool_version = PARITAS_VERSION;
  PARITAS_TRY(writer.finish(info));
  PARITAS_TRY(emit(o.common, summary(info, stream->sample_count(), o.output), to_json(info)));
  return kExitPass;
}

std::string footer() {
  std::string text = "Formats (--format; detected when not given)\n";
  for (const FormatInfo& format : import_formats())
    text += fmt::format("  {:<14} {}{}\n", format.name, format.what,
                        format.fixture.empty() ? " [untested with the real tool]" : "");
  return text +
         "\ndocs/formats.md says where names, types and shapes come from.\n\n"
         "Examples:\n"
         "  paritas import results.npz -o device\n"
         "  paritas import snpe/ --model model.onnx -o device\n"
         "  paritas import scores.raw --dtype scores=float32 --shape scores=1x40 -o device";
}

}  // namespace

Action add_import(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Make a recording of what another tool wrote");
  command->add_option("source", o->source, "File or folder to read")->required()->type_name("SRC");
  command->add_option("-o,--output", o->output, "Folder of the recording (must not exist)")
      ->required()
      ->type_name("FOLDER");
  command->add_option("-f,--format", o->format, "Format of the source (default: detect)")->type_name("FORMAT");
  command->add_option("-m,--model", o->model, "ONNX model: gives roles, and shapes and types that files do not tell")
      ->type_name("MODEL");
  command->add_option("--dtype", o->dtypes, "Type of a tensor, or (without NAME) of raw files that tell none")
      ->type_name("[NAME=]TYPE")
      ->allow_extra_args(false);
  command->add_option("--shape", o->shapes, "Shape of a tensor: NAME=1x3x4")
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  command->add_option("--names", o->names, "JSON object that gives tensors other names: {\"in the dump\": \"new\"}")
      ->type_name("FILE");
  command->add_option("--input-list", o->input_list, "Input list of a net-run dump, when it lies elsewhere")
      ->type_name("FILE");
  command->add_option("--runner", o->runner, "Which of several runners in Polygraphy's results (name or pattern)")
      ->type_name("NAME");
  command->add_flag("--outputs-only", o->outputs_only, "Leave recorded inputs out");
  command->add_flag("--verify-hashes", o->verify, "Also check checksums of what is not compressed");
  add_common(*command, o->common);
  command->footer(footer());
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
