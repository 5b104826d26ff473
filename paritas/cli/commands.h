// The commands: each file parses its options, calls the library and prints. No logic lives here.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace paritas::cli {

// Exit codes (docs/exit-codes in design: stable).
inline constexpr int kExitPass = 0;      // pass, or not judged by an exploratory command
inline constexpr int kExitDeviates = 1;  // deviates or invalid
inline constexpr int kExitUsage = 2;     // the command or an input is wrong
inline constexpr int kExitRuntime = 3;   // a run or an environment failed

// Each adds its sub-command and returns what runs when it was chosen (the exit code).
using Action = std::function<int()>;
Action add_run(CLI::App& app);
Action add_compare(CLI::App& app);
Action add_locate(CLI::App& app);
Action add_inject(CLI::App& app);
Action add_pieces(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_placement(CLI::App& app);
Action add_bench(CLI::App& app);
Action add_check(CLI::App& app);
Action add_monitor(CLI::App& app);
Action add_split(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_init(CLI::App& app);
Action add_merge(CLI::App& app);
Action add_ledger(CLI::App& app);
Action add_inspect(CLI::App& app);
Action add_targets(CLI::App& app);
Action add_import(CLI::App& app);
Action add_worker(CLI::App& app);  // hidden

}  // namespace paritas::cli
