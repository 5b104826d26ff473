#include "paritas/monitor/sample_files.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "paritas/base/sha256.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

bool from_files(const ProjectInput& input) {
  return input.source == InputSource::kFiles || input.source == InputSource::kImages;
}

Result<std::vector<std::string>> files_of_folder(const Path& folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".") || !it->is_regular_file(code)) continue;
    files.push_back(it->path().string());
  }
  if (code) return input_error(folder.string(), fmt::format("cannot be listed: {}", code.message()));
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<std::string>> files_of_list(const Path& list) {
  PARITAS_ASSIGN(const std::string text, read_text(list));
  std::vector<std::string> files;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    files.push_back((list.parent_path() / line).string());
  }
  return files;
}

}  // namespace

Status take_samples(const MonitorRequest& request, Project& project) {
  if (!request.folder && !request.list) {
    if (!request.input.empty())
      return usage_error("--samples-input", "says where samples go, and none are given", "add --folder or --list");
    return {};
  }
  if (request.folder && request.list)
    return usage_error("--list", "was given beside --folder", "leave one of them out");
  ProjectInput* into = nullptr;
  for (ProjectInput& input : project.inputs) {
    if (!from_files(input) || (!request.input.empty() && input.name != request.input)) continue;
    if (into != nullptr)
      return usage_error(project.subject, "several inputs are read from files", "name one with --samples-input");
    into = &input;
  }
  if (into == nullptr)
    return usage_error(project.subject,
                       request.input.empty() ? std::string("declares no input that is read from files or images")
                                             : fmt::format("\"{}\" is no input that is read from files", request.input),
                       "declare [inputs.NAME] with \"images\" or \"files\"");
  const Path& source = request.folder ? *request.folder : *request.list;
  PARITAS_ASSIGN(auto files, request.folder ? files_of_folder(source) : files_of_list(source));
  if (files.empty()) return input_error(source.string(), "holds no samples");
  // As the project reads paths: relative ones stand for its folder.
  for (std::string& file : files) {
    std::error_code code;
    const Path absolute = fs::absolute(file, code);
    if (code) return input_error(file, fmt::format("is no path: {}", code.message()));
    file = absolute.string();
  }
  into->files = std::move(files);
  return {};
}

Result<uint64_t> count_samples(const Project& project) {
  size_t count = 1;
  for (const ProjectInput& input : project.inputs)
    if (from_files(input)) count = std::max(count, input.files.size());
  for (const ProjectInput& input : project.inputs)
    if (from_files(input) && input.files.size() != 1 && input.files.size() != count)
      return usage_error(fmt::format("{}, [inputs.{}]", project.subject, input.name),
                         fmt::format("has {} files, and there are {} samples", input.files.size(), count),
                         "give one file for all samples, or one a sample");
  return count;
}

Result<FedSample> feed_sample(const Project& project, const ProjectFiles& files, uint64_t index, Feed reference,
                              Feed device, const Path& scratch) {
  std::error_code code;
  fs::remove_all(scratch, code);
  fs::create_directories(scratch, code);
  if (code) return input_error(scratch.string(), fmt::format("cannot be created: {}", code.message()));
  Project one;
  one.subject = project.subject;
  one.inputs = project.inputs;
  FedSample sample;
  for (ProjectInput& input : one.inputs) {
    if (!from_files(input)) continue;
    input.files = {input.files[input.files.size() == 1 ? 0 : index]};
    if (sample.file.empty()) sample.file = input.files.front();
  }
  for (const Feed feed : {reference, device})
    if (feed != Feed::kDeclared) {
      NamedSide side;
      side.feed = feed;
      one.further.push_back(std::move(side));
    }
  PARITAS_ASSIGN(PreparedInputs prepared, prepare_inputs(one, files, scratch));
  std::string hashes;
  for (const CheckedInput& input : prepared.records)
    for (const FrozenTensor& tensor : input.tensors)
      hashes += fmt::format("{} {} {} {} {}\n", input.name, input.fed, name(tensor.dtype), to_string(tensor.shape),
                            tensor.tensor_sha256);
  sample.sha256 = sha256_hex(std::as_bytes(std::span(hashes)));
  sample.reference = prepared.of(reference).front();
  sample.device = prepared.of(device).front();
  return sample;
}

}  // namespace paritas
