#include "paritas/cli/import_options.h"

#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace paritas::cli {
namespace {

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

}  // namespace

void add_import_flags(CLI::App& command, ImportFlags& f) {
  command.add_option("--dtype", f.dtypes, "Type of a tensor in a dump, or (without NAME) of raw files that tell none")
      ->type_name("[NAME=]TYPE")
      ->allow_extra_args(false);
  command.add_option("--shape", f.shapes, "Shape of a tensor in a dump: NAME=1x3x4")
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  command.add_option("--input-list", f.input_list, "Input list of a net-run dump, when it lies elsewhere")
      ->type_name("FILE");
  command.add_option("--runner", f.runner, "Which of several runners in Polygraphy's results (name or pattern)")
      ->type_name("NAME");
  command.add_flag("--outputs-only", f.outputs_only, "Leave recorded inputs out");
}

void add_names_and_format(CLI::App& command, ImportFlags& f) {
  command.add_option("--names", f.names, "JSON object that gives tensors other names: {\"in the dump\": \"new\"}")
      ->type_name("FILE");
  command.add_option("-f,--format", f.format, "Format of the dump (default: detect)")->type_name("FORMAT");
}

Result<ImportOptions> import_options(const ImportFlags& f, bool with_names_and_format) {
  ImportOptions options;
  options.with_names_and_format = with_names_and_format;
  options.format = f.format;
  if (!f.model.empty()) options.model = f.model;
  if (!f.names.empty()) options.names = f.names;
  if (!f.input_list.empty()) options.input_list = f.input_list;
  options.runner = f.runner;
  options.outputs_only = f.outputs_only;
  for (const std::string& text : f.dtypes) {
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
  for (const std::string& text : f.shapes) {
    const auto [tensor, shape] = split(text);
    if (tensor.empty()) return usage_error("--shape " + text, "is not NAME=SHAPE", "for example: --shape scores=1x40");
    PARITAS_ASSIGN(options.shapes[tensor], parse_shape("--shape " + text, shape));
  }
  return options;
}

}  // namespace paritas::cli
