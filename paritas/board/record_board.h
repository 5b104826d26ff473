// What a board does with samples, as a recording. Runs commands of the user: only with consent.
#pragma once

#include <functional>

#include "paritas/board/board.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

struct RecordBoardRequest {
  const Board* board = nullptr;
  bool allow_exec = false;
  Path model;  // ONNX or TFLite; tells names, types and shapes
  std::vector<NamedTensors> samples;
  std::map<std::string, std::string> environment;  // ours, of which the board may inherit
  Path output;
  bool overwrite = false;
  Path scratch_root;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// Nothing is left at `output` when anything fails: no consent; a command that cannot be started, fails, takes too long,
// prints or writes too much; an output that is missing, or not of the model's shape; files of another size. Command
// lines, exit states, durations and logs stand in notes/ of the recording.
Result<RunInfo> record_on_board(const RecordBoardRequest& request);

// Of the command itself, for messages: the words as declared.
std::string command_line(const Words& words);

}  // namespace paritas
