// A board as a target: a command of the user that runs a model somewhere else and leaves its outputs in a folder. What
// is declared, from a project file ([exec.NAME]) or a file of its own; docs/boards.md describes every key. Reading it
// runs nothing.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/files.h"
#include "paritas/base/json.h"
#include "paritas/base/shape.h"

namespace paritas {

using Words = std::vector<std::string>;  // program and arguments; no shell reads them

// What the outputs are, where the files do not tell: as of a dump that paritas import reads.
struct BoardOutputs {
  std::string format;  // of import_formats(); empty: detected
  std::string names;   // JSON file: name in the dump to name of the tensor; empty: none
  std::optional<DType> dtype;
  std::map<std::string, DType> dtypes;
  std::map<std::string, Shape> shapes;
};

struct Board {
  std::string target;   // "exec:board": as it is named
  std::string subject;  // of errors: where it is declared
  std::string table;    // of errors about its outputs: "exec.board.outputs"
  std::string sha256;   // of the declaration
  Path folder;          // of the file that declares it
  Words command;
  std::vector<Words> before, after;  // around every run of the command
  Words version;                     // prints the tool's version; empty: it is not asked
  std::string working_folder = "{folder}";
  std::map<std::string, std::string> environment;       // set
  std::vector<std::string> inherit = {"HOME", "PATH"};  // taken from ours, where we have them
  std::chrono::milliseconds timeout{600'000};           // of each of these commands
  bool together = false;                                // one run for all samples; else one for each
  bool npy = false;                                     // files of inputs are .npy; else raw bytes
  uint64_t most_written = uint64_t{1} << 30;            // bytes in the output folder of one run
  BoardOutputs outputs;
  std::string profile;  // file that benchmark_model's operator profile will be in; "stdout"; empty: none
};

// "exec:NAME", as targets are written: the name. Empty: another target.
std::optional<std::string> board_of_target(const std::string& target);
// The name is that of a file.
bool is_board_file(const std::string& name);

Result<Board> board_from_json(const Json& json, const std::string& subject);
// A file with the keys of one [exec.NAME].
Result<Board> load_board(const Path& file);

// Values of placeholders: {model}, {inputs}, {output}, {sample}, {folder}, {input:NAME}.
using Placeholders = std::vector<std::pair<std::string, std::string>>;
// Names of placeholders that `board` may use; an unknown one, a word in small letters between braces, is an error.
// "{{" stands for "{".
Result<std::string> fill_in(const std::string& word, const Placeholders& values, const std::string& subject);

}  // namespace paritas
