#include "paritas/board/record_board.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/board/board_inputs.h"
#include "paritas/board/board_outputs.h"
#include "paritas/board/board_plan.h"
#include "paritas/recording/recording.h"
#include "paritas/runtime/exec/process.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/record_tflite.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostLogs = uint64_t{16} << 20;  // bytes of logs in one recording

std::string first_line(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

// Names by which applications know inputs may be those of a signature: then the tensor's own is meant.
NamedTensors by_tensor(const tflite::Model& model, NamedTensors sample) {
  for (auto& [name, tensor] : sample) {
    if (model.main().find(name)) continue;
    for (const tflite::Signature& signature : model.signatures())
      for (const auto& [known, index] : signature.inputs)
        if (signature.graph == 0 && known == name) name = model.main().tensors[static_cast<size_t>(index)].id;
  }
  return sample;
}

// The file that runs for the first word, as far as it can be told: its hash shows whether it was exchanged.
Path program_of(const std::string& word, const Path& folder, const std::map<std::string, std::string>& environment) {
  std::error_code code;
  if (word.find('/') != std::string::npos) {
    const Path path = Path(word).is_absolute() ? Path(word) : folder / word;
    return fs::is_regular_file(path, code) ? path : Path();
  }
  const auto found = environment.find("PATH");
  std::string_view rest = found == environment.end() ? std::string_view() : std::string_view(found->second);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const Path path = Path(rest.substr(0, end)) / word;
    if (end > 0 && fs::is_regular_file(path, code)) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

class BoardRecorder {
 public:
  BoardRecorder(const RecordBoardRequest& request, ModelFacts facts)
      : request_(request), board_(*request.board), facts_(std::move(facts)) {}

  Result<RunInfo> run() {
    const auto start = std::chrono::steady_clock::now();
    begin();
    PARITAS_TRY(prepare());
    PARITAS_ASSIGN(auto writer, RecordingWriter::create(request_.output, request_.overwrite));
    PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    scratch_ = fs::absolute(scratch.path());
    PARITAS_TRY(ask_version());
    for (size_t i = 0; i < samples_.size();) {
      const size_t count = board_.together ? samples_.size() : 1;
      if (request_.progress)
        request_.progress(board_.together ? "all samples" : fmt::format("sample {} of {}", i + 1, samples_.size()));
      PARITAS_TRY(run_once(i, count, writer));
      i += count;
    }
    PARITAS_TRY(finish(writer));
    info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    PARITAS_TRY(writer.finish(info_));
    return std::move(info_);
  }

 private:
  void begin() {
    info_.start = utc_now();
    info_.tool_version = request_.tool_version;
    info_.model_path = request_.model.string();
    info_.model_sha256 = facts_.sha256();
    info_.ir_version = facts_.ir_version();
    info_.opsets = facts_.opsets();
    info_.producer = facts_.producer();
    info_.target = board_.target;
    info_.provider = board_.target;
    info_.marks = "what the command writes";
    info_.host = host_summary();
    info_.options["exec.command"] = command_line(board_.command);
    info_.options["exec.declaration_sha256"] = board_.sha256;
  }

  Status prepare() {
    samples_ = request_.samples;
    if (tflite::is_tflite(request_.model)) {
      PARITAS_ASSIGN(tflite_, tflite::Model::load(request_.model));
      for (NamedTensors& sample : samples_) {
        sample = by_tensor(*tflite_, std::move(sample));
        PARITAS_TRY(check_inputs(*tflite_, sample));
      }
    } else {
      if (!board_.profile.empty())
        return usage_error(board_.subject,
                           "\"profile\" is of TFLite's benchmark_model, and the model is not a TFLite one",
                           "leave it out");
      PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request_.model));
      for (const NamedTensors& sample : samples_) PARITAS_TRY(check_inputs(model, sample));
    }
    for (const std::string& name : board_.inherit)
      if (const auto it = request_.environment.find(name); it != request_.environment.end()) environment_.insert(*it);
    return {};
  }

  Result<std::map<std::string, std::string>> environment(const Placeholders& values) const {
    auto all = environment_;
    for (const auto& [name, value] : board_.environment) {
      PARITAS_ASSIGN(all[name], fill_in(value, values, board_.subject));
    }
    return all;
  }

  Status ask_version() {
    if (board_.version.empty()) return {};
    const Path nothing = scratch_ / "version";
    PARITAS_TRY(make_folder(nothing));
    PARITAS_ASSIGN(const Placeholders values, placeholders(0, {}, nothing, nothing));
    PARITAS_ASSIGN(const ProcessResult ran, execute(board_.version, "version", values, {}));
    version_ = first_line(ran.output.find_first_not_of(" \t\r\n") == std::string::npos ? ran.messages : ran.output);
    if (version_.empty())
      return runtime_error(board_.target, "the command \"version\" printed nothing", "leave it out");
    return {};
  }

  static Status make_folder(const Path& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) return runtime_error(path.string(), fmt::format("cannot be made: {}", code.message()));
    return {};
  }

  Result<Placeholders> placeholders(size_t sample, const std::vector<InputFile>& files, const Path& inputs,
                                    const Path& output) const {
    Placeholders values = {{"model", fs::absolute(request_.model).string()},
                           {"inputs", inputs.string()},
                           {"output", output.string()},
                           {"sample", std::to_string(sample)},
                           {"folder", fs::absolute(board_.folder).string()}};
    for (const InputFile& file : files) values.emplace_back("input:" + file.name, (inputs / file.file).string());
    return values;
  }

  // One command, to its end; anything but exit code 0 within its bounds is an error with its output.
  Result<ProcessResult> execute(const Words& declared, const std::string& what, const Placeholders& values,
                                const Path& watched) {
    ProcessRequest request;
    for (const std::string& word : declared) {
      PARITAS_ASSIGN(std::string filled, fill_in(word, values, board_.subject));
      request.words.push_back(std::move(filled));
    }
    PARITAS_ASSIGN(const std::string folder, fill_in(board_.working_folder, values, board_.subject));
    request.folder = Path(folder).is_absolute() ? Path(folder) : fs::absolute(board_.folder) / folder;
    PARITAS_ASSIGN(request.environment, environment(values));
    request.timeout = board_.timeout;
    request.scratch = scratch_;
    request.watched = watched;
    request.most_written = board_.most_written;
    if (what == "command" && info_.runtime.path.empty()) note_program(request);
    PARITAS_ASSIGN(ProcessResult ran, run_process(request));
    commands_.push_back(
        {{"what", what}, {"words", ran.words}, {"ended", ran.ended}, {"seconds", json_number(ran.seconds)}});
    keep_log(what, ran);
    if (ran.succeeded()) return ran;
    const std::string printed = ran.output + ran.messages;
    return runtime_error(board_.target, fmt::format("{} ({}): {}", command_line(declared), what, ran.problem),
                         printed.empty() ? "it printed nothing" : "what it printed follows",
                         fmt::format("ran: {}\n{}", command_line(ran.words), printed));
  }

  void note_program(const ProcessRequest& request) {
    const Path program = program_of(request.words.front(), request.folder, *request.environment);
    if (program.empty()) return;
    info_.runtime.path = program.string();
    if (auto hash = sha256_of_file(program)) info_.runtime.sha256_before = *hash;
  }

  void keep_log(const std::string& what, const ProcessResult& ran) {
    log_ += fmt::format("== {}: {}\n== ended: {}, {:.3f} s{}\n", what, command_line(ran.words), ran.ended, ran.seconds,
                        ran.succeeded() ? "" : ": " + ran.problem);
    for (const auto& [stream, text] : {std::pair("output", &ran.output), std::pair("messages", &ran.messages)})
      if (!text->empty()) log_ += fmt::format("-- {} (its last {} bytes)\n{}\n", stream, text->size(), *text);
  }

  // The command with its hooks, for samples [first, first + count).
  Status run_once(size_t first, size_t count, RecordingWriter& writer) {
    const Path place = scratch_ / fmt::format("run-{}", first);
    const Path inputs = place / "inputs", output = place / "output";
    PARITAS_TRY(make_folder(inputs));
    PARITAS_TRY(make_folder(output));
    const auto begin = samples_.begin() + static_cast<ptrdiff_t>(first);
    const std::vector<NamedTensors> fed(begin, begin + static_cast<ptrdiff_t>(count));
    PARITAS_ASSIGN(const auto files, write_inputs(fed, board_.npy, inputs));
    PARITAS_ASSIGN(const Placeholders values,
                   placeholders(first, board_.together ? std::vector<InputFile>() : files, inputs, output));
    for (const Words& words : board_.before) PARITAS_TRY(execute(words, "before", values, output));
    PARITAS_ASSIGN(const ProcessResult ran, execute(board_.command, "command", values, output));
    seconds_ += ran.seconds;
    ++runs_;
    for (const Words& words : board_.after) PARITAS_TRY(execute(words, "after", values, output));
    PARITAS_ASSIGN(BoardResult result, read_outputs(board_, output, facts_, count, scratch_));
    if (!board_.profile.empty()) PARITAS_TRY(take_profile(ran, values));
    for (size_t i = 0; i < count; ++i) {
      NamedTensors tensors = fed[i];
      tensors.insert(tensors.end(), result.samples[i].begin(), result.samples[i].end());
      PARITAS_TRY(writer.add_sample(tensors));
    }
    PARITAS_TRY(describe(fed.front(), result));
    PARITAS_TRY(write_log(first, writer));
    result.samples.clear();  // they lie in the folder
    std::error_code code;
    fs::remove_all(place, code);
    return {};
  }

  Status write_log(size_t first, RecordingWriter& writer) {
    const std::string name = fmt::format("run-{:06}.log", first);
    const bool kept = logged_ + log_.size() <= kMostLogs;
    if (kept) {
      PARITAS_TRY(writer.add_note(name, log_));
      logged_ += log_.size();
    }
    Json run = {{"first_sample", first}, {"commands", std::exchange(commands_, Json::array())}};
    if (kept) run["log"] = name;
    runs_json_.push_back(std::move(run));
    log_.clear();
    return {};
  }

  Status take_profile(const ProcessResult& ran, const Placeholders& values) {
    std::string subject = "what the command printed";
    Result<OpProfile> profile = [&]() -> Result<OpProfile> {
      if (board_.profile == "stdout") return parse_op_profile(ran.output, subject);
      PARITAS_ASSIGN(subject, fill_in(board_.profile, values, board_.subject));
      return read_op_profile(subject);
    }();
    PARITAS_TRY(profile);
    PARITAS_ASSIGN(BoardPlan plan, plan_of_profile(*profile, *tflite_, subject));
    if (plan_) {
      const auto counts = [](const BoardPlan& p) { return p.placement ? to_json(*p.placement) : Json(); };
      if (counts(*plan_) != counts(plan)) plans_differ_ = true;
    } else {
      plan_ = std::move(plan);
    }
    return {};
  }

  // Every run must leave the same tensors: a recording has one list of them.
  Status describe(const NamedTensors& fed, const BoardResult& result) {
    std::vector<TensorInfo> tensors;
    for (const auto& [name, tensor] : fed) {
      TensorInfo info;
      info.name = name;
      info.dtype = tensor.dtype;
      info.role = Role::kInput;
      tensors.push_back(std::move(info));
    }
    tensors.insert(tensors.end(), result.tensors.begin(), result.tensors.end());
    for (TensorInfo& info : tensors) complete(info);
    const auto same = [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name && a.dtype == b.dtype; };
    if (info_.tensors.empty()) {
      info_.tensors = std::move(tensors);
      info_.notes.insert(info_.notes.end(), result.notes.begin(), result.notes.end());
    } else if (!std::equal(tensors.begin(), tensors.end(), info_.tensors.begin(), info_.tensors.end(), same)) {
      return runtime_error(board_.target, "left other tensors, or other types, for one sample than for the first",
                           "record them separately");
    }
    return {};
  }

  void complete(TensorInfo& info) const {
    if (!tflite_) return;
    const auto index = tflite_->main().find(info.name);
    if (!index) return;
    const TensorInfo known = describe_tensor(*tflite_, *index, info.role);
    info.node = known.node;
    info.op = known.op;
    if (known.dtype == info.dtype) info.quantisation = known.quantisation;
  }

  Status finish(RecordingWriter& writer) {
    hash_after_run(info_);
    info_.runtime.version = version_;
    info_.options["exec.runs"] = std::to_string(runs_);
    info_.options["exec.seconds"] = fmt::format("{:.3f}", seconds_);
    info_.notes.push_back(
        fmt::format("{} ended well {}, after {:.3f} s in all, the tool's own start included: {}",
                    command_line(board_.command), runs_ == 1 ? "once" : fmt::format("{} times", runs_), seconds_,
                    runs_ == 1 ? "a single timed call is a diagnostic, no benchmark" : "a diagnostic, no benchmark"));
    take_plan();
    Json inherited = Json::array();
    for (const auto& [name, value] : environment_) inherited.push_back(name);
    const Json json = {{"schema", "paritas.exec/1"},
                       {"target", board_.target},
                       {"declaration_sha256", board_.sha256},
                       {"version", version_},
                       {"environment", board_.environment},
                       {"inherited", std::move(inherited)},
                       {"timeout_s", json_number(std::chrono::duration<double>(board_.timeout).count())},
                       {"runs", runs_json_}};
    return writer.add_note("exec.json", dump_json(json) + "\n");
  }

  void take_plan() {
    if (plan_ && !plans_differ_) {
      info_.notes.insert(info_.notes.end(), plan_->notes.begin(), plan_->notes.end());
      info_.placement = plan_->placement;
      info_.plan = plan_->plan;
      if (info_.placement) info_.provider = info_.placement->requested;
    }
    if (plans_differ_) info_.notes.push_back("its profiles differ from sample to sample in where operators ran");
    if (!info_.placement) info_.notes.push_back("where its operators ran is not known: only the command was watched");
  }

  const RecordBoardRequest& request_;
  const Board& board_;
  const ModelFacts facts_;
  std::optional<tflite::Model> tflite_;
  std::vector<NamedTensors> samples_;
  std::map<std::string, std::string> environment_;  // inherited
  Path scratch_;
  std::string version_, log_;
  Json commands_ = Json::array(), runs_json_ = Json::array();
  uint64_t logged_ = 0, runs_ = 0;
  double seconds_ = 0;
  std::optional<BoardPlan> plan_;
  bool plans_differ_ = false;
  RunInfo info_;
};

}  // namespace

std::string command_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$`;&|<>(){}*?#~") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : dump_json(word, -1));
  }
  return line;
}

Result<RunInfo> record_on_board(const RecordBoardRequest& request) {
  const Board& board = *request.board;
  if (!request.allow_exec)
    return usage_error(board.subject,
                       fmt::format("it runs the command {}, and nothing allows that", command_line(board.command)),
                       "read it, then pass --allow-exec");
  if (request.samples.empty())
    return usage_error(board.target, "nothing is fed to it", "give inputs: --input NAME=FILE");
  PARITAS_ASSIGN(ModelFacts facts, ModelFacts::load(request.model));
  return BoardRecorder(request, std::move(facts)).run();
}

}  // namespace paritas
