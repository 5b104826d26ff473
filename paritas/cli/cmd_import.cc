#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"
#include "paritas/cli/import_options.h"
#include "paritas/recording/recording.h"
#include "paritas/report/visible.h"
#include "paritas/vendor/import.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  ImportFlags import;
  std::string source, output;
  bool verify = false;
};

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
  for (const auto& note : info.notes) text += "note: " + visible(note) + "\n";
  return text;
}

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  PARITAS_ASSIGN(ImportOptions options, import_options(o.import, true));
  options.verify_hashes = o.verify;
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
  Json index;
  if (!o.common.json.empty()) {
    PARITAS_ASSIGN(index, read_run_index(o.output));
  }
  PARITAS_TRY(emit(o.common, summary(info, stream->sample_count(), o.output), index));
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
  command
      ->add_option("-m,--model", o->import.model,
                   "ONNX or TFLite model: gives roles, and shapes and types that files do not tell")
      ->type_name("MODEL");
  add_import_flags(*command, o->import);
  add_names_and_format(*command, o->import);
  command->add_flag("--verify-hashes", o->verify, "Also check checksums of what is not compressed");
  add_common(*command, o->common);
  command->footer(footer());
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
