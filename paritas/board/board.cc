#include "paritas/board/board.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/judge/toml_json.h"
#include "paritas/task/spec_reader.h"

namespace paritas {
namespace {

constexpr uint64_t kLargestFile = 1 << 20;  // bytes

// Names that a shell could set; "=" and zero bytes would change what is declared.
bool is_variable(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Status check_words(const Words& words, const char* key, const std::string& subject) {
  if (words.empty() || words.front().empty())
    return usage_error(subject, fmt::format("\"{}\" is empty", key), "list the program and its arguments");
  for (const std::string& word : words)
    if (word.find('\0') != std::string::npos) return usage_error(subject, fmt::format("\"{}\" holds a zero byte", key));
  // The environment is set by a program that would take these for its own.
  if (words.front().front() == '-' || words.front().find('=') != std::string::npos)
    return usage_error(subject, fmt::format("\"{}\": \"{}\" cannot be a program", key, words.front()),
                       "begin with the program; variables stand under environment");
  return {};
}

Status read_commands(SpecReader& reader, const char* key, std::vector<Words>& commands) {
  const Json* json = reader.raw(key);
  if (json == nullptr) return {};
  const std::string example =
      fmt::format(R"(for example: {} = [["adb", "push", "{{inputs}}", "/data/local/tmp"]])", key);
  if (!json->is_array())
    return usage_error(reader.subject(), fmt::format("\"{}\" must be a list of commands", key), example);
  for (const Json& entry : *json) {
    Words words;
    if (!entry.is_array() || !std::all_of(entry.begin(), entry.end(), [](const Json& w) { return w.is_string(); }))
      return usage_error(reader.subject(), fmt::format("a command of \"{}\" must be a list of texts", key), example);
    for (const Json& word : entry) words.push_back(word.get<std::string>());
    PARITAS_TRY(check_words(words, key, reader.subject()));
    commands.push_back(std::move(words));
  }
  return {};
}

Status read_environment(SpecReader& reader, Board& board) {
  if (const Json* json = reader.raw("environment")) {
    if (!json->is_object())
      return usage_error(reader.subject(), "\"environment\" must be a table",
                         R"(for example: environment = { LD_LIBRARY_PATH = "lib" })");
    for (const auto& [name, value] : json->items()) {
      if (!is_variable(name) || !value.is_string() ||
          value.get_ref<const std::string&>().find('\0') != std::string::npos)
        return usage_error(reader.subject(), fmt::format("environment: \"{}\" must be a variable with a text", name));
      board.environment[name] = value.get<std::string>();
    }
  }
  if (reader.raw("inherit") != nullptr) board.inherit.clear();
  PARITAS_TRY(reader.texts("inherit", board.inherit));
  for (const std::string& name : board.inherit)
    if (!is_variable(name))
      return usage_error(reader.subject(), fmt::format("inherit: \"{}\" is no name of a variable", name));
  return {};
}

Result<DType> dtype_of(const Json& json, const std::string& where) {
  const auto dtype = json.is_string() ? dtype_from_name(json.get<std::string>()) : std::nullopt;
  if (!dtype)
    return usage_error(where, fmt::format("{} is not a type", dump_json(json, -1)), "for example: \"float32\"");
  return *dtype;
}

Result<Shape> shape_of(const Json& json, const std::string& where) {
  Shape shape;
  bool good = json.is_array();
  for (const Json& dim : good ? json : Json::array()) {
    good = good && dim.is_number_integer() && dim >= 0;
    if (good) shape.push_back(dim.get<int64_t>());
  }
  if (!good || !element_count(shape))
    return usage_error(where, "a shape must be a list of whole numbers, not negative", "for example: [1, 3, 224, 224]");
  return shape;
}

Status read_outputs(SpecReader& root, BoardOutputs& outputs) {
  const Json* json = root.raw("outputs");
  if (json == nullptr) return {};
  const std::string where = root.subject() + ", outputs";
  if (!json->is_object())
    return usage_error(where, "must be a table", R"(for example: outputs = { format = "net-run" })");
  PARITAS_ASSIGN(SpecReader reader, SpecReader::of(*json, where));
  PARITAS_TRY(reader.text("format", outputs.format));
  if (outputs.format == "recording")
    return usage_error(where, "a recording is what we write, not a format of a board's outputs", "choose another");
  PARITAS_TRY(reader.text("names", outputs.names));
  if (const Json* dtype = reader.raw("dtype")) {
    PARITAS_ASSIGN(outputs.dtype, dtype_of(*dtype, where));
  }
  for (const char* key : {"dtypes", "shapes"}) {
    const Json* table = reader.raw(key);
    if (table == nullptr) continue;
    if (!table->is_object()) return usage_error(where, fmt::format("\"{}\" must be a table", key));
    for (const auto& [name, value] : table->items()) {
      if (*key == 'd') {
        PARITAS_ASSIGN(outputs.dtypes[name], dtype_of(value, where));
      } else {
        PARITAS_ASSIGN(outputs.shapes[name], shape_of(value, where));
      }
    }
  }
  return reader.finish();
}

Status read_limits(SpecReader& reader, Board& board) {
  double seconds = std::chrono::duration<double>(board.timeout).count();
  PARITAS_TRY(reader.number("timeout_s", seconds));
  if (!(seconds > 0 && seconds <= 7 * 86400))
    return usage_error(reader.subject(), "\"timeout_s\" must be positive and at most a week");
  board.timeout = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
  auto megabytes = static_cast<int64_t>(board.most_written >> 20);
  PARITAS_TRY(reader.whole("max_output_mib", megabytes));
  if (megabytes < 1 || megabytes > (int64_t{1} << 20))
    return usage_error(reader.subject(), "\"max_output_mib\" must be a number from 1 to 1048576");
  board.most_written = static_cast<uint64_t>(megabytes) << 20;
  return {};
}

// Every placeholder is known, before anything runs. Names of inputs are the model's matter.
Status check_placeholders(const Board& board) {
  const auto check = [&](const std::string& word) {
    Placeholders values;
    for (const char* name : {"model", "inputs", "output", "sample", "folder", "input:*"}) values.emplace_back(name, "");
    return fill_in(word, values, board.subject);
  };
  std::vector<Words> all = {board.command};
  all.insert(all.end(), board.before.begin(), board.before.end());
  all.insert(all.end(), board.after.begin(), board.after.end());
  for (const Words& words : all)
    for (const std::string& word : words) PARITAS_TRY(check(word));
  for (const auto& [name, value] : board.environment) PARITAS_TRY(check(value));
  PARITAS_TRY(check(board.working_folder));
  PARITAS_TRY(check(board.profile));
  for (const std::string& word : board.version)
    PARITAS_TRY(fill_in(word, {{"folder", ""}}, board.subject + ", version"));
  const auto uses = [&](const std::string& mark) {
    return std::any_of(all.begin(), all.end(), [&](const Words& words) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w.find(mark) != w.npos; });
    });
  };
  if (!uses("{output}") && board.working_folder.find("{output}") == std::string::npos)
    return usage_error(board.subject, "no command names {output}: nothing could be found there",
                       "name the folder that the outputs go to");
  if (board.together && (uses("{sample}") || uses("{input:")))
    return usage_error(board.subject,
                       "{sample} and {input:NAME} mean one sample, and samples = \"together\" runs all at once",
                       "leave them out, or choose samples = \"each\"");
  return {};
}

}  // namespace

std::optional<std::string> board_of_target(const std::string& target) {
  constexpr std::string_view kPrefix = "exec:";
  if (!target.starts_with(kPrefix)) return std::nullopt;
  return target.substr(kPrefix.size());
}

bool is_board_file(const std::string& name) { return name.ends_with(".toml"); }

Result<std::string> fill_in(const std::string& word, const Placeholders& values, const std::string& subject) {
  std::string filled;
  for (size_t at = 0; at < word.size();) {
    if (word.compare(at, 2, "{{") == 0) {
      filled += '{';
      at += 2;
      continue;
    }
    const size_t end = word[at] == '{' ? word.find('}', at) : std::string::npos;
    const std::string name = end == std::string::npos ? "" : word.substr(at + 1, end - at - 1);
    const std::string kind = name.substr(0, name.find(':'));
    const bool is_name =
        !kind.empty() && std::all_of(kind.begin(), kind.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    // ${name} is the shell's own.
    if (!is_name || (at > 0 && word[at - 1] == '$')) {
      filled += word[at++];
      continue;
    }
    const auto it = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return value.first == name || (value.first == "input:*" && kind == "input" && name.size() > 6);
    });
    if (it == values.end()) {
      std::string known;
      for (const auto& value : values)
        known +=
            fmt::format("{}{{{}}}", known.empty() ? "" : ", ", value.first == "input:*" ? "input:NAME" : value.first);
      return usage_error(subject, fmt::format("\"{}\": {{{}}} is no placeholder", word, name),
                         fmt::format("known are {}; write {{{{ for a brace", known));
    }
    filled += it->second;
    at = end + 1;
  }
  return filled;
}

Result<Board> board_from_json(const Json& json, const std::string& subject) {
  if (!json.is_object())
    return usage_error(subject, "must be a table", R"(for example: command = ["./run.sh", "{inputs}", "{output}"])");
  PARITAS_ASSIGN(SpecReader reader, SpecReader::of(json, subject));
  Board board;
  board.subject = subject;
  const std::string text = dump_json(json, -1);
  board.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  PARITAS_TRY(reader.require("command"));
  PARITAS_TRY(reader.texts("command", board.command));
  PARITAS_TRY(check_words(board.command, "command", subject));
  PARITAS_TRY(read_commands(reader, "before", board.before));
  PARITAS_TRY(read_commands(reader, "after", board.after));
  PARITAS_TRY(reader.texts("version", board.version));
  if (!board.version.empty()) PARITAS_TRY(check_words(board.version, "version", subject));
  PARITAS_TRY(reader.text("folder", board.working_folder));
  PARITAS_TRY(read_environment(reader, board));
  PARITAS_TRY(reader.choice<bool>("samples", {{"each", false}, {"together", true}}, board.together));
  PARITAS_TRY(reader.choice<bool>("inputs", {{"raw", false}, {"npy", true}}, board.npy));
  PARITAS_TRY(read_outputs(reader, board.outputs));
  PARITAS_TRY(reader.text("profile", board.profile));
  PARITAS_TRY(read_limits(reader, board));
  PARITAS_TRY(reader.finish());
  PARITAS_TRY(check_placeholders(board));
  return board;
}

Result<Board> load_board(const Path& file) {
  PARITAS_ASSIGN(const std::string text, read_text(file, kLargestFile));
  PARITAS_ASSIGN(const Json json, parse_toml(text, file.string()));
  PARITAS_ASSIGN(Board board, board_from_json(json, file.string()));
  board.target = "exec:" + file.string();
  board.table = "outputs";
  board.folder = file.has_parent_path() ? file.parent_path() : Path(".");
  return board;
}

}  // namespace paritas
