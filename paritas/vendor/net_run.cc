#include "paritas/vendor/net_run.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "paritas/vendor/raw.h"
#include "paritas/vendor/remedies.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxListBytes = uint64_t{64} << 20;

// N of "Result_N", or -1.
int64_t result_number(const Path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view kPrefix = "Result_";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size() || name.size() > kPrefix.size() + 9) return -1;
  int64_t number = 0;
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

bool holds_results(const Path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (result_number(entry.path()) >= 0) return true;
  return false;
}

class NetRun {
 public:
  NetRun(Path path, const ImportContext& context) : path_(std::move(path)), context_(context) {}

  Result<Found> find() {
    found_.format = "net-run";
    const auto root = result_root(path_);
    if (!root) return input_error(path_.string(), "holds no Result_N folder", "point at the output folder of the run");
    PARITAS_ASSIGN(const auto folders, result_folders(*root));
    PARITAS_ASSIGN(const auto list, read_list());
    if (list && !single_ && list->samples.size() != folders.size())
      return input_error(
          list_path_.string(),
          fmt::format("has {} lines of inputs, there are {} Result folders", list->samples.size(), folders.size()),
          "leave the inputs out with " + declaration_text(context_.options, Declaration::kOutputsOnly));
    for (size_t i = 0; i < folders.size(); ++i) {
      FoundSample sample;
      if (list) PARITAS_TRY(add_inputs(*list, i, sample));
      PARITAS_TRY(add_results(folders[i], sample));
      if (list && i == 0) note_missing(list->outputs, sample);
      found_.samples.push_back(std::move(sample));
    }
    add_notes(list.has_value());
    return std::move(found_);
  }

 private:
  Result<std::vector<Path>> result_folders(const Path& root) {
    if (result_number(root) >= 0) {
      single_ = true;
      return std::vector<Path>{root};
    }
    std::vector<std::pair<int64_t, Path>> numbered;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(root, code))
      if (const int64_t number = result_number(entry.path()); number >= 0 && entry.is_directory(code))
        numbered.emplace_back(number, entry.path());
    std::sort(numbered.begin(), numbered.end());
    std::vector<Path> folders;
    for (const auto& [number, folder] : numbered) {
      if (number != static_cast<int64_t>(folders.size()))
        return input_error(root.string(), fmt::format("Result_{} is missing or there twice", folders.size()),
                           "copy the whole output folder");
      PARITAS_TRY(resolve_inside(root, folder.filename().string()));
      folders.push_back(folder);
    }
    return folders;
  }

  // nullopt: there is none, or the inputs are not wanted.
  Result<std::optional<InputList>> read_list() {
    std::error_code code;
    if (context_.options.outputs_only) return std::optional<InputList>();
    if (context_.options.input_list) {
      list_path_ = *context_.options.input_list;
      if (context_.options.taken != nullptr) context_.options.taken->input_list = true;
    } else if (!fs::is_directory(path_, code)) {
      list_path_ = path_;
    } else if (fs::exists(path_ / "input_list.txt", code)) {
      list_path_ = path_ / "input_list.txt";
    }
    if (list_path_.empty() || single_) return std::optional<InputList>();
    PARITAS_ASSIGN(const std::string text, read_text(list_path_, kMaxListBytes));
    PARITAS_ASSIGN(InputList list, parse_input_list(text, list_path_.string()));
    return std::optional<InputList>(std::move(list));
  }

  Status add_inputs(const InputList& list, size_t number, FoundSample& sample) {
    const auto& entries = list.samples[number];
    const std::string subject = fmt::format("{}: line {}", list_path_.string(), list.lines[number]);
    const Path folder = list_path_.has_parent_path() ? list_path_.parent_path() : Path(".");
    const auto& inputs = context_.model.inputs();
    std::set<Path> files;
    for (size_t i = 0; i < entries.size(); ++i) {
      std::string name = entries[i].name;
      if (name.empty() && !context_.model.path().empty()) {
        if (entries.size() != inputs.size())
          return input_error(
              subject, fmt::format("gives {} inputs, {} has {}", entries.size(), context_.model.path(), inputs.size()),
              "check that the model is the right one");
        name = inputs[i];
        named_by_model_ = true;
      } else if (name.empty()) {
        name = fmt::format("input_{}", i);
        nameless_ = true;
      }
      const auto full = resolve_inside(folder, entries[i].path);
      std::error_code code;
      if (!full || !fs::exists(*full, code))
        return input_error(
            subject, fmt::format("names {}, which is not a file below {}", printable(entries[i].path), folder.string()),
            "copy the inputs there, or leave them out with " +
                declaration_text(context_.options, Declaration::kOutputsOnly));
      if (!files.insert(*full).second)
        return input_error(subject, fmt::format("two inputs claim the file {}", printable(entries[i].path)),
                           "give each input its own file");
      PARITAS_ASSIGN(const RawDeclaration told, told_of(*full, name, false));
      PARITAS_ASSIGN(FoundTensor tensor, find_raw(*full, name, told, context_));
      tensor.role = Role::kInput;
      remember(tensor);
      sample.push_back(std::move(tensor));
    }
    return {};
  }

  Status add_results(const Path& folder, FoundSample& sample) {
    PARITAS_ASSIGN(const auto files, list_files(folder));
    const std::set<std::string> all(files.begin(), files.end());
    constexpr std::string_view kNative = "_native.raw";
    for (const std::string& file : files) {
      if (!file.ends_with(".raw")) continue;
      std::string name = file.substr(0, file.size() - 4);
      const bool native = file.ends_with(kNative);
      if (native) {
        const std::string plain = file.substr(0, file.size() - kNative.size());
        if (all.count(plain + ".raw") == 0) name = plain;  // both are there: the converted one keeps the name
      }
      name = restored(name);
      numbered_ |= name.starts_with("Output_") && context_.known(name) == nullptr && &context_.given(name) == &name;
      PARITAS_ASSIGN(const RawDeclaration told, told_of(folder / file, name, native));
      PARITAS_ASSIGN(FoundTensor tensor, find_raw(folder / file, name, told, context_));
      const ModelTensor* known = context_.known(name);
      tensor.role = known == nullptr || known->role == Role::kInput ? Role::kOutput : known->role;
      remember(tensor);
      sample.push_back(std::move(tensor));
    }
    return {};
  }

  // A tensor "/a/b" lies in a/b.raw: only the model still knows the first character.
  std::string restored(const std::string& name) {
    if (&context_.given(name) != &name) return name;  // called otherwise anyway
    const ModelMatch match = context_.model.match(name);
    if (match.tensor == nullptr || match.rule != NameRule::kSlash) return name;
    slashes_ = true;
    return match.tensor->name;
  }

  // net-run converts to float32 unless told to keep native types; tensors of integers it may keep as int32 or convert.
  Result<RawDeclaration> told_of(const Path& file, const std::string& name, bool native) const {
    RawDeclaration told;
    std::error_code code;
    const ImportOptions& options = context_.options;
    if (native || context_.dtype(name) || fs::exists(file.string() + ".json", code)) return told;
    const ModelTensor* known = context_.known(name);
    told.origin = "net-run's default";
    told.dtype = DType::kF32;
    if (known == nullptr || !known->dtype || is_float(*known->dtype)) return told;
    const auto size = fs::file_size(file, code);
    if (known->shape && !code) {
      if (fit_raw(size, {known->dtype, known->shape, ""}, "", options) && bits(*known->dtype) != 32)
        return RawDeclaration{known->dtype, std::nullopt, "the model"};
      const bool four_bytes = fit_raw(size, {DType::kF32, known->shape, ""}, "", options).has_value();
      if (!four_bytes) return told;  // fits neither: the error lists what would
    }
    return input_error(file.string(),
                       fmt::format("may hold float32 or int32: the model says {}, and net-run converts some of these",
                                   paritas::name(*known->dtype)),
                       "say which: " + dtype_text(options, name, DType::kF32));
  }

  void remember(const FoundTensor& tensor) {
    const ModelTensor* known = context_.known(tensor.name);
    const bool given = context_.shape(tensor.name).has_value();
    flat_ |= !given && (known == nullptr || !known->shape) && tensor.shape.size() == 1;
    layout_ |= !given && known != nullptr && known->shape && known->shape->size() >= 3;
  }

  void note_missing(const std::vector<std::string>& outputs, const FoundSample& sample) {
    for (const std::string& wanted : outputs) {
      const bool there = std::any_of(sample.begin(), sample.end(), [&](const FoundTensor& tensor) {
        return tensor.name == wanted || tensor.name + ":0" == wanted || "/" + tensor.name == wanted;
      });
      if (!there)
        found_.notes.push_back(
            fmt::format("the list asks for \"{}\", no file of Result_0 is called so", printable(wanted)));
    }
  }

  void add_notes(bool has_inputs) {
    auto& notes = found_.notes;
    if (!has_inputs) notes.push_back("inputs are not recorded");
    if (nameless_) notes.push_back("the list names no inputs: they were called input_0, input_1, ... by position");
    if (named_by_model_)
      notes.push_back(fmt::format("the list names no inputs: they got the names of the inputs of {}, in its order",
                                  context_.model.path()));
    if (numbered_) notes.push_back("Output_N tells no tensor: give the names with " + names_text());
    if (slashes_) notes.push_back("names that start with \"/\" were restored from the model");
    if (layout_)
      notes.push_back("shapes come from the model, raw files do not tell theirs: net-run may write channels last");
    if (flat_) notes.push_back("shapes that nothing tells were read as one dimension");
  }

  std::string names_text() const {
    const std::string text = declaration_text(context_.options, Declaration::kNames);
    return context_.options.table.empty() ? text + " FILE" : text;
  }

  Path path_;
  const ImportContext& context_;
  Path list_path_;
  Found found_;
  bool single_ = false;
  bool nameless_ = false;
  bool named_by_model_ = false;
  bool numbered_ = false;
  bool slashes_ = false;
  bool layout_ = false;
  bool flat_ = false;
};

}  // namespace

Result<InputList> parse_input_list(std::string_view text, const std::string& subject) {
  InputList list;
  int line_number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = text.substr(start, end - start);
    start = end + 1;
    ++line_number;
    const auto where = [&] { return fmt::format("{}: line {}", subject, line_number); };
    std::vector<std::string> words;
    while (!line.empty()) {
      const size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) break;
      const size_t last = std::min(line.find_first_of(" \t\r", first), line.size());
      words.emplace_back(line.substr(first, last - first));
      line.remove_prefix(last);
    }
    if (words.empty()) continue;
    if (words[0][0] == '%' || words[0][0] == '#') {
      words[0].erase(0, 1);
      for (std::string& word : words)
        if (!word.empty()) list.outputs.push_back(std::move(word));
      continue;
    }
    std::vector<InputListEntry> entries;
    std::set<std::string> names;
    for (const std::string& word : words) {
      const size_t sign = word.find(":=");
      InputListEntry entry;
      entry.name = sign == std::string::npos ? "" : word.substr(0, sign);
      entry.path = sign == std::string::npos ? word : word.substr(sign + 2);
      PARITAS_TRY(check_name(sign == std::string::npos ? "input" : entry.name, where()));
      PARITAS_TRY(check_name(entry.path, where()));
      if (!entry.name.empty() && !names.insert(entry.name).second)
        return input_error(where(), fmt::format("names the input \"{}\" twice", entry.name), "give each input once");
      if (!entries.empty() && entry.name.empty() != entries.front().name.empty())
        return input_error(where(), "names some inputs and not others", "write NAME:=PATH for all or for none");
      entries.push_back(std::move(entry));
    }
    list.samples.push_back(std::move(entries));
    list.lines.push_back(line_number);
  }
  if (list.samples.empty()) return input_error(subject, "lists no inputs", "check the path");
  return list;
}

Result<Found> find_net_run(const Path& path, const ImportContext& context) { return NetRun(path, context).find(); }

std::optional<Path> result_root(const Path& path) {
  std::error_code code;
  const Path folder = fs::is_directory(path, code) ? path : path.has_parent_path() ? path.parent_path() : Path(".");
  if (result_number(folder.has_filename() ? folder : folder.parent_path()) >= 0) return folder;
  if (holds_results(folder)) return folder;
  if (holds_results(folder / "output")) return folder / "output";
  return std::nullopt;
}

}  // namespace paritas
