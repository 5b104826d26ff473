#include <CLI/CLI.hpp>

#include "paritas/cli/commands.h"
#include "paritas/runtime/worker.h"

namespace paritas::cli {

Action add_worker(CLI::App& app) {
  auto descriptors = std::make_shared<std::vector<int>>();
  CLI::App* command = app.add_subcommand("worker", "")->group("");  // hidden
  command->add_option("--control", *descriptors, "")->expected(2)->required();
  return [descriptors] { return worker_main((*descriptors)[0], (*descriptors)[1]); };
}

}  // namespace paritas::cli
