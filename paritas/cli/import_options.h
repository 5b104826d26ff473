// Options that tell what a dump does not: import's, shared by the commands that read dumps.
#pragma once

#include <string>
#include <vector>

#include "paritas/vendor/import.h"

namespace CLI {
class App;
}

namespace paritas::cli {

struct ImportFlags {
  std::string model, names, format, input_list, runner;
  std::vector<std::string> dtypes, shapes;
  bool outputs_only = false;

  bool any() const {  // of all but the model
    return outputs_only || !dtypes.empty() || !shapes.empty() || !names.empty() || !format.empty() ||
           !input_list.empty() || !runner.empty();
  }
};

// --dtype, --shape, --input-list, --runner, --outputs-only.
void add_import_flags(CLI::App& command, ImportFlags& flags);
// --names and --format: not for commands in which these mean something else.
void add_names_and_format(CLI::App& command, ImportFlags& flags);
// `with_names_and_format`: the command has these two, so remedies may name them.
Result<ImportOptions> import_options(const ImportFlags& flags, bool with_names_and_format);

}  // namespace paritas::cli
