// The user's own evaluation: a command that prints numbers to gate. Nothing here runs without the caller's consent.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/task/outcome.h"

namespace paritas {

struct CommandSpec {
  std::string name;                  // of the task, as gates call it
  std::vector<std::string> command;  // program and arguments; no shell reads them
  std::string figure = "value";      // name of the number when the output is a bare one
  std::chrono::milliseconds timeout{600'000};
};

// Keys: type ("command"), name, command, figure, timeout_s.
Result<CommandSpec> command_from_json(const Json& object, const std::string& subject);

struct CommandContext {
  Path folder;   // working directory of the command
  Path scratch;  // where its captured output lies while it runs
  // {NAME} in an argument becomes the value: "reference" and "device" are the paths of the recordings.
  std::vector<std::pair<std::string, std::string>> values;
};

struct CommandResult {
  CommandSpec spec;
  std::vector<std::string> command;  // as run
  std::string output;                // the end of standard output (64 KiB)
  std::string messages;              // the end of standard error (64 KiB)
  double seconds = 0;
  TaskOutcome outcome;
};

// Numbers in what a command printed: the whole text, or its last line that is not blank, is a JSON object of numbers
// ({"map": 0.71}), or a bare number, which gets the name `figure`. "nan", "inf" and "-inf" count as numbers, NaN
// becomes an absent figure.
Result<TaskOutcome> parse_command_output(std::string_view output, const std::string& figure,
                                         const std::string& subject);

// Runs the command, unless `allow_exec` is false: that is an error which names --allow-exec. Errors: it cannot be
// started, exits with another code than 0, is killed by a signal or after its timeout, prints more than 64 MiB or no
// number. Captured output stands in the error's details.
Result<CommandResult> run_command(const CommandSpec& spec, const CommandContext& context, bool allow_exec);

Json to_json(const CommandResult& result);

}  // namespace paritas
