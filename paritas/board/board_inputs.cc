#include "paritas/board/board_inputs.h"

#include <set>

#include <fmt/format.h>

#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

std::string file_name(const std::string& tensor) {
  std::string name = tensor;
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  if (name.starts_with('.')) name[0] = '_';
  return name;
}

Status write_raw(const Path& path, const Tensor& tensor) {
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, false));
  std::vector<std::byte> block(1 << 20);
  for (uint64_t at = 0; at < tensor.bytes.size(); at += block.size()) {
    const auto part = std::span(block).first(std::min<uint64_t>(block.size(), tensor.bytes.size() - at));
    PARITAS_TRY(tensor.bytes.read(at, part));
    PARITAS_TRY(file.write(part));
  }
  return file.commit();
}

bool fits_a_list(const std::string& name) {
  return name.find_first_of(" \t\r\n") == std::string::npos && name.find(":=") == std::string::npos;
}

}  // namespace

Result<std::vector<InputFile>> write_inputs(const std::vector<NamedTensors>& samples, bool npy, const Path& folder) {
  std::vector<InputFile> first;
  Json index = Json::array();
  std::string list;
  bool listed = true;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string below = samples.size() > 1 ? fmt::format("{}/", i) : "";
    std::error_code code;
    std::filesystem::create_directories(folder / below, code);
    if (code) return runtime_error((folder / below).string(), fmt::format("cannot be made: {}", code.message()));
    std::set<std::string> files;
    std::string line;
    for (const auto& [name, tensor] : samples[i]) {
      const InputFile entry{name, below + file_name(name) + (npy ? ".npy" : ".raw")};
      if (!files.insert(entry.file).second)
        return input_error(fmt::format("input \"{}\"", name),
                           fmt::format("would be the file {}, which is that of another input", entry.file),
                           "inputs of a board must differ in letters or digits");
      PARITAS_TRY(npy ? write_npy(folder / entry.file, tensor, false) : write_raw(folder / entry.file, tensor));
      index.push_back({{"sample", i},
                       {"name", name},
                       {"file", entry.file},
                       {"dtype", paritas::name(tensor.dtype)},
                       {"shape", tensor.shape}});
      line += fmt::format("{}{}:={}", line.empty() ? "" : " ", name, entry.file);
      listed = listed && fits_a_list(name);
      if (i == 0) first.push_back(entry);
    }
    list += line + "\n";
  }
  // A name with a blank would be read as another one.
  if (listed) PARITAS_TRY(write_text_atomically(folder / "input_list.txt", list, false));
  PARITAS_TRY(write_text_atomically(folder / "inputs.json", dump_json(index) + "\n", false));
  return first;
}

}  // namespace paritas
