#include "paritas/vendor/remedies.h"

#include <algorithm>

#include <fmt/format.h>

namespace paritas {
namespace {

struct Spelling {
  const char* option;
  const char* key;
};

Spelling spelling(Declaration what) {
  switch (what) {
    case Declaration::kFormat:
      return {"--format", "format"};
    case Declaration::kModel:
      return {"--model", "model"};
    case Declaration::kDtype:
      return {"--dtype", "dtypes"};
    case Declaration::kShape:
      return {"--shape", "shapes"};
    case Declaration::kNames:
      return {"--names", "names"};
    case Declaration::kInputList:
      return {"--input-list", "input_list"};
    case Declaration::kRunner:
      return {"--runner", "runner"};
    case Declaration::kOutputsOnly:
      return {"--outputs-only", "outputs_only"};
  }
  return {"", ""};
}

// As a key of TOML, bare where that may be.
std::string toml_key(const std::string& name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
  if (bare) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return quoted + "\"";
}

}  // namespace

std::string declaration_text(const ImportOptions& options, Declaration what) {
  // --names and --format of compare and inspect are their own.
  const bool of_import = what == Declaration::kNames || what == Declaration::kFormat;
  if (options.table.empty())
    return std::string(of_import && !options.with_names_and_format ? "paritas import " : "") + spelling(what).option;
  return fmt::format("{} under [{}]", spelling(what).key, options.table);
}

std::string dtype_text(const ImportOptions& options, const std::string& tensor, DType dtype) {
  if (options.table.empty()) return fmt::format("--dtype {}={}", tensor, name(dtype));
  return fmt::format("dtypes = {{ {} = \"{}\" }} under [{}]", toml_key(tensor), name(dtype), options.table);
}

std::string declaration_subject(const ImportOptions& options, Declaration what, const std::string& value) {
  if (options.table.empty()) return fmt::format("{} {}", spelling(what).option, value);
  return fmt::format("{}.{}: \"{}\"", options.table, spelling(what).key, value);
}

}  // namespace paritas
