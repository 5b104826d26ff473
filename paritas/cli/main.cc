#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "paritas/base/nearest.h"
#include "paritas/cli/command_line.h"
#include "paritas/cli/commands.h"
#include "paritas/report/visible.h"

namespace {

using paritas::cli::Action;

// Ctrl-C and its like end the process by the default action: workers follow (they die with their parent), scratch
// folders are removed by the next run, and nothing half-written bears a final name.

// What can be typed: without the hidden ones.
std::vector<std::string> command_names(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

// No command, or no such: the sentence names the word that was typed, and the commands, nearest first.
std::optional<std::string> wrong_command(CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return fmt::format("no command was given; there are: {}", fmt::join(command_names(app), ", "));
  const std::string& word = words.front();
  const auto named = [&](const CLI::App* command) { return command->get_name() == word; };
  if (word.starts_with('-') || !app.get_subcommands(named).empty()) return std::nullopt;
  return fmt::format("\"{}\" is not a command; there are: {}", word,
                     fmt::join(paritas::nearest_first(word, command_names(app)), ", "));
}

// "help" and "help COMMAND" are --help and COMMAND --help.
std::vector<std::string> without_help_command(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  if (!words.empty() && words.front().starts_with('-')) words.clear();
  words.emplace_back("--help");
  return words;
}

int parse_and_run(int argc, char** argv) {
  paritas::cli::remember_command_line(argc, argv);
  CLI::App app{"Paritas: does a deployed network still compute what its reference computes, and where does it stop?",
               "paritas"};
  app.set_version_flag("--version", std::string("paritas ") + PARITAS_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("paritas COMMAND --help shows a command's options with examples.");
  using Adder = Action (*)(CLI::App&);
  std::vector<std::pair<std::string, Action>> actions;
  for (auto [name, add] :
       std::initializer_list<std::pair<const char*, Adder>>{{"run", paritas::cli::add_run},
                                                            {"compare", paritas::cli::add_compare},
                                                            {"locate", paritas::cli::add_locate},
                                                            {"inject", paritas::cli::add_inject},
                                                            {"pieces", paritas::cli::add_pieces},
                                                            {"explain", paritas::cli::add_explain},
                                                            {"placement", paritas::cli::add_placement},
                                                            {"bench", paritas::cli::add_bench},
                                                            {"check", paritas::cli::add_check},
                                                            {"monitor", paritas::cli::add_monitor},
                                                            {"split", paritas::cli::add_split},
                                                            {"verify", paritas::cli::add_verify},
                                                            {"init", paritas::cli::add_init},
                                                            {"merge", paritas::cli::add_merge},
                                                            {"ledger", paritas::cli::add_ledger},
                                                            {"inspect", paritas::cli::add_inspect},
                                                            {"targets", paritas::cli::add_targets},
                                                            {"import", paritas::cli::add_import},
                                                            {"worker", paritas::cli::add_worker}})
    actions.emplace_back(name, add(app));
  app.add_subcommand("help", "Show the commands, or the options of one: paritas help COMMAND");
  std::vector<std::string> words = without_help_command({argv + 1, argv + argc});
  if (const auto wrong = wrong_command(app, words)) {
    std::fprintf(stderr, "paritas: %s\n", paritas::visible(*wrong).c_str());
    return paritas::cli::kExitUsage;
  }
  try {
    std::reverse(words.begin(), words.end());  // as parse() takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    std::fprintf(stderr, "paritas: %s\n", paritas::visible(e.what(), {.lines = true}).c_str());
    return paritas::cli::kExitUsage;
  }
  for (auto& [name, action] : actions)
    if (app.got_subcommand(name)) return action();
  return paritas::cli::kExitUsage;
}

// Dumps may hold thousands of files, and tensors keep theirs open: the soft limit of 1,024 is for programs that use
// select(), which this one does not.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Buffers of a few 100 KiB are made for every tensor: kept, they cost no page faults.
  ::mallopt(M_MMAP_THRESHOLD, 8 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
  std::signal(SIGPIPE, SIG_IGN);
  raise_file_limit();
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "paritas: out of memory; try a smaller --memory\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "paritas: internal error: %s\n", e.what());
  }
  return paritas::cli::kExitRuntime;
}
