#include "paritas/task/command_hook.h"

#include <charconv>
#include <cmath>

#include <algorithm>

#include <fmt/format.h>

#include "paritas/runtime/exec/process.h"
#include "paritas/task/spec_reader.h"

namespace paritas {
namespace {

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view last_line(std::string_view text) {
  text = trim(text);
  const size_t end = text.rfind('\n');
  return trim(end == std::string_view::npos ? text : text.substr(end + 1));
}

std::optional<double> bare_number(std::string_view text) {
  double value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void add_number(TaskOutcome& outcome, const std::string& name, double value) {
  if (std::isnan(value))
    outcome.leave_out(name, "the command printed NaN", Verdict::kNotJudged);
  else
    outcome.add(name, "1", value);
}

Result<TaskOutcome> from_object(const Json& object, const std::string& subject) {
  TaskOutcome outcome;
  for (const auto& [key, entry] : object.items()) {
    const auto value = number_from_json(entry);
    if (key.empty() || !value)
      return input_error(subject, fmt::format("it printed a JSON object in which \"{}\" is not a number", key),
                         "print {\"name\": number}");
    add_number(outcome, key, *value);
  }
  if (object.empty()) return input_error(subject, "it printed an empty JSON object", "print {\"name\": number}");
  return outcome;
}

std::string fill_in(std::string word, const CommandContext& context) {
  std::string filled;
  for (size_t at = 0; at < word.size();) {
    bool found = false;
    for (const auto& [name, value] : context.values) {
      const std::string mark = "{" + name + "}";
      if (word.compare(at, mark.size(), mark) != 0) continue;
      filled += value;
      at += mark.size();
      found = true;
      break;
    }
    if (!found) filled += word[at++];
  }
  return filled;
}

}  // namespace

Result<CommandSpec> command_from_json(const Json& object, const std::string& subject) {
  PARITAS_ASSIGN(SpecReader reader, SpecReader::of(object, subject));
  CommandSpec spec;
  std::string type = "command";
  PARITAS_TRY(reader.text("type", type));
  if (type != "command") return usage_error(subject, fmt::format("\"{}\" is not the type of a command", type));
  PARITAS_TRY(reader.text("name", spec.name));
  PARITAS_TRY(reader.require("command"));
  PARITAS_TRY(reader.texts("command", spec.command));
  if (spec.command.empty() || spec.command.front().empty())
    return usage_error(subject, "\"command\" is empty", "list the program and its arguments");
  for (const std::string& word : spec.command)
    if (word.find('\0') != std::string::npos) return usage_error(subject, "\"command\" holds a zero byte");
  PARITAS_TRY(reader.text("figure", spec.figure));
  double seconds = std::chrono::duration<double>(spec.timeout).count();
  PARITAS_TRY(reader.number("timeout_s", seconds));
  if (!(seconds > 0 && seconds <= 7 * 86400))
    return usage_error(subject, "\"timeout_s\" must be positive and at most a week");
  spec.timeout = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
  PARITAS_TRY(reader.finish());
  return spec;
}

Result<TaskOutcome> parse_command_output(std::string_view output, const std::string& figure,
                                         const std::string& subject) {
  const std::string_view whole = trim(output), last = last_line(output);
  for (const std::string_view text : {whole, last}) {
    if (text.empty() || text.front() != '{') continue;
    auto json = parse_json(text, subject);
    if (json && json->is_object()) return from_object(*json, subject);
  }
  if (const auto value = bare_number(last)) {
    TaskOutcome outcome;
    add_number(outcome, figure, *value);
    return outcome;
  }
  const std::string shown(last.substr(0, 80));
  return input_error(subject,
                     shown.empty()
                         ? "it printed nothing"
                         : fmt::format("its last line \"{}\" is neither a number nor a JSON object of numbers", shown),
                     "print a number, or {\"name\": number}, as the last line");
}

Result<CommandResult> run_command(const CommandSpec& spec, const CommandContext& context, bool allow_exec) {
  const std::string subject = fmt::format("command \"{}\"", spec.command.empty() ? "" : spec.command.front());
  if (!allow_exec)
    return usage_error(subject, "commands of a project file are not run without consent",
                       "read it, and allow it with --allow-exec");
  if (spec.command.empty()) return usage_error(subject, "it is empty", "list the program and its arguments");
  CommandResult result;
  result.spec = spec;
  for (const std::string& word : spec.command) result.command.push_back(fill_in(word, context));

  ProcessRequest request;
  request.words = result.command;
  request.folder = context.folder;
  request.timeout = spec.timeout;
  request.scratch = context.scratch;
  PARITAS_ASSIGN(const ProcessResult ran, run_process(request));
  result.seconds = ran.seconds;
  result.output = ran.output;
  result.messages = ran.messages;
  if (!ran.succeeded())
    return runtime_error(subject, ran.problem, "its output follows", result.output + result.messages);
  auto outcome = parse_command_output(result.output, spec.figure, subject);
  if (!outcome) {
    outcome.error().details = result.output + result.messages;
    return tl::make_unexpected(std::move(outcome).error());
  }
  result.outcome = std::move(*outcome);
  result.outcome.shows.push_back("what the command printed; how it counts is its own matter");
  return result;
}

Json to_json(const CommandResult& result) {
  return {{"type", "command"},
          {"name", result.spec.name},
          {"command", result.command},
          {"seconds", json_number(result.seconds)},
          {"output", result.output},
          {"messages", result.messages},
          {"outcome", to_json(result.outcome)}};
}

}  // namespace paritas
