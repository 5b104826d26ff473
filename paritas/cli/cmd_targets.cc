#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/cli/common.h"

namespace paritas::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string ort;
};

Result<int> execute(const Options& o) {
  PARITAS_TRY(check_json_target(o.common));
  const RuntimeSearch search = runtime_search(o.ort);
  const Style style = terminal_style(o.common);
  std::string text;
  Json json = {{"schema", "paritas.targets/1"}};
  if (auto library = find_onnxruntime(search)) {
    text += fmt::format("ONNX Runtime   {} ({})\n\n", library->path.string(), library->found_by);
    json["onnxruntime"] = {{"path", library->path.string()}, {"found_by", library->found_by}};
  } else {
    text += fmt::format("ONNX Runtime   {}\n\n", library.error().message());
    json["onnxruntime"] = nullptr;
  }
  Table table({"target", "", "what it is"}, {false, false, false});
  json["targets"] = Json::array();
  for (const TargetListing& t : list_targets(search)) {
    table.row({t.pattern, t.available ? "ready" : "missing", t.description});
    if (!t.available) table.row({"", "", fmt::format("{}; {}", t.reason, t.remedy)});
    json["targets"].push_back({{"target", t.pattern},
                               {"description", t.description},
                               {"available", t.available},
                               {"reason", t.reason},
                               {"remedy", t.remedy}});
  }
  PARITAS_TRY(emit(o.common, text + table.render(style), json));
  return kExitPass;
}

}  // namespace

Action add_targets(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("targets", "What can run here; for what cannot: why, and what to install");
  command->add_option("--ort", o->ort, "ONNX Runtime library")->type_name("PATH");
  add_common(*command, o->common);
  command->footer("Example:\n  paritas targets");
  return [o] {
    auto code = execute(*o);
    return code ? *code : fail(code.error());
  };
}

}  // namespace paritas::cli
