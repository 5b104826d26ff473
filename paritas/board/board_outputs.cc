#include "paritas/board/board_outputs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "paritas/vendor/found.h"
#include "paritas/vendor/import.h"

namespace paritas {
namespace {

bool fits(const Shape& declared, const Shape& shape) {
  if (declared.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (declared[i] >= 0 && declared[i] != shape[i]) return false;
  return true;
}

std::string holds(const Path& folder) {
  std::string text;
  if (const auto files = list_files(folder)) {
    for (size_t i = 0; i < files->size() && i < 8; ++i) {
      std::error_code code;
      const auto size = std::filesystem::file_size(folder / (*files)[i], code);
      text += fmt::format("{}{} ({} bytes)", i == 0 ? "" : ", ", printable((*files)[i]), code ? 0 : size);
    }
    if (files->size() > 8) text += ", ...";
  }
  return text;
}

class OutputReader {
 public:
  OutputReader(const Board& board, const Path& folder, const ModelFacts& model)
      : board_(board), folder_(folder), model_(model) {}

  Result<BoardResult> read(uint64_t samples, const Path& scratch) {
    PARITAS_ASSIGN(const auto stream, open(scratch));
    if (stream->sample_count() != samples)
      return runtime_error(
          board_.target,
          fmt::format("left {} samples in its output folder, {} were given", stream->sample_count(), samples),
          samples == 1 ? "run it once for each sample, or choose samples = \"together\""
                       : "it must write one result for each line of input_list.txt");
    for (uint64_t i = 0; i < samples; ++i) {
      PARITAS_ASSIGN(Sample sample, stream->sample(i));
      PARITAS_TRY(take(std::move(sample), stream->info(), i));
    }
    if (!unknown_.empty())
      result_.notes.push_back(fmt::format("{} tensor{} of the board's output {} not in the model, \"{}\" among them",
                                          unknown_.size(), unknown_.size() == 1 ? "" : "s",
                                          unknown_.size() == 1 ? "is" : "are", printable(*unknown_.begin())));
    return std::move(result_);
  }

 private:
  Result<std::unique_ptr<SampleStream>> open(const Path& scratch) {
    PARITAS_ASSIGN(const auto files, list_files(folder_));
    if (files.empty())
      return runtime_error(board_.target, "the command ended well and left no file in its output folder",
                           "let it write to {output}, or pull the results there under \"after\"");
    ImportOptions options;
    options.format = board_.outputs.format;
    options.model = Path(model_.path());
    options.dtype = board_.outputs.dtype;
    options.dtypes = board_.outputs.dtypes;
    options.shapes = board_.outputs.shapes;
    if (!board_.outputs.names.empty()) options.names = board_.folder / board_.outputs.names;
    options.table = board_.table;
    options.outputs_only = true;
    options.scratch = scratch;
    PARITAS_ASSIGN(const std::string format, format_of(folder_, options));
    if (format == "recording")
      return input_error(folder_.string(), "is a recording, not what a board's tool writes",
                         "compare the recording itself: it tells more");
    return open_any(folder_, options);
  }

  Status take(Sample sample, const RunInfo& info, uint64_t number) {
    NamedTensors tensors;
    std::set<std::string> names;
    for (auto& [dump_name, tensor] : sample.tensors) {
      const ModelTensor* known = model_.find(dump_name);
      const std::string name = known == nullptr ? dump_name : known->name;
      if (!names.insert(name).second)
        return runtime_error(board_.target,
                             fmt::format("sample {}: two tensors of its output are \"{}\" of the model", number, name),
                             "tell them apart with names = \"FILE\" under outputs");
      if (known == nullptr) unknown_.insert(dump_name);
      if (known != nullptr && known->shape && !fits(*known->shape, tensor.shape))
        return runtime_error(
            board_.target,
            fmt::format("sample {}: \"{}\" has the shape {}, {} declares {}; it left {}", number, printable(name),
                        to_string(tensor.shape), model_.path(), to_string(*known->shape), holds(folder_)),
            "check that it ran this model");
      describe(name, known, tensor, *info.find(dump_name));
      tensors.emplace_back(name, std::move(tensor));
    }
    for (const std::string& output : model_.outputs())
      if (names.count(output) == 0 && !is_input(output))
        return runtime_error(
            board_.target,
            fmt::format("sample {}: left no output \"{}\"; it left {}", number, printable(output), holds(folder_)),
            "check that it ran this model, and that it names its files after the outputs");
    result_.samples.push_back(std::move(tensors));
    return {};
  }

  bool is_input(const std::string& name) const {
    return std::find(model_.inputs().begin(), model_.inputs().end(), name) != model_.inputs().end();
  }

  void describe(const std::string& name, const ModelTensor* known, const Tensor& tensor, const TensorInfo& dumped) {
    const auto is_name = [&](const TensorInfo& info) { return info.name == name; };
    if (std::any_of(result_.tensors.begin(), result_.tensors.end(), is_name)) return;
    TensorInfo info = dumped;
    info.name = name;
    info.dtype = tensor.dtype;
    info.role = known == nullptr ? Role::kIntermediate : known->role;
    if (known != nullptr && known->dtype && *known->dtype != tensor.dtype)
      result_.notes.push_back(fmt::format("\"{}\" is {}, the model declares {}", printable(name),
                                          paritas::name(tensor.dtype), paritas::name(*known->dtype)));
    result_.tensors.push_back(std::move(info));
  }

  const Board& board_;
  const Path& folder_;
  const ModelFacts& model_;
  std::set<std::string> unknown_;
  BoardResult result_;
};

}  // namespace

Result<BoardResult> read_outputs(const Board& board, const Path& folder, const ModelFacts& model, uint64_t samples,
                                 const Path& scratch) {
  return OutputReader(board, folder, model).read(samples, scratch);
}

}  // namespace paritas
