#include "paritas/recording/recording.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

constexpr const char* kDamaged = "the recording is damaged: copy or record it again";

// A recording folder that was opened: run.json is in memory, sample files are opened when asked for.
class RecordedStream : public SampleStream {
 public:
  static Result<std::unique_ptr<SampleStream>> open(const Path& folder, const OpenOptions& options) {
    const std::string subject = (folder / kRunIndex).string();
    PARITAS_ASSIGN(std::string text, read_text(folder / kRunIndex));
    PARITAS_ASSIGN(Json json, parse_json(text, subject));
    auto stream = std::unique_ptr<RecordedStream>(new RecordedStream(folder, options));
    PARITAS_ASSIGN(stream->info_, run_info_from_json(json, subject));
    PARITAS_TRY(stream->index_tensors(subject));
    PARITAS_ASSIGN(const Json* samples, json_array(json, "samples", subject));
    for (const Json& entry : *samples) {
      Entry sample;
      PARITAS_ASSIGN(sample.file, json_string(entry, "file", subject));
      PARITAS_ASSIGN(sample.sha256, json_string(entry, "sha256", subject));
      PARITAS_ASSIGN(sample.bytes, json_uint(entry, "bytes", subject));
      if (entry.contains("shapes")) {
        PARITAS_ASSIGN(const Json* shapes, json_object(entry, "shapes", subject));
        sample.shapes = *shapes;
      }
      stream->samples_.push_back(std::move(sample));
    }
    return std::unique_ptr<SampleStream>(std::move(stream));
  }

  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return samples_.size(); }

  Result<Sample> sample(uint64_t index) override {
    Entry& entry = samples_[index];
    PARITAS_ASSIGN(Path path, resolve_inside(folder_, entry.file));
    PARITAS_TRY(check_file(path, entry));
    PARITAS_ASSIGN(SafetensorsFile file, read_safetensors(path));
    PARITAS_ASSIGN(const auto shapes, listed_shapes(entry, path));
    Sample sample{fmt::format("sample-{:06}", index), {}};
    std::vector<const Tensor*> found(info_.tensors.size(), nullptr);
    for (auto& [name, tensor] : file.tensors) {
      auto it = position_.find(name);
      if (it == position_.end())
        return input_error(path.string(), fmt::format("tensor \"{}\" is not listed in {}", name, kRunIndex), kDamaged);
      PARITAS_TRY(hold_against(info_.tensors[it->second], shapes[it->second], tensor, path));
      found[it->second] = &tensor;
    }
    for (size_t i = 0; i < found.size(); ++i)
      if (shapes[i] && found[i] == nullptr)
        return input_error(path.string(),
                           fmt::format("holds no tensor \"{}\", {} lists it", info_.tensors[i].name, kRunIndex),
                           kDamaged);
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] != nullptr) sample.tensors.emplace_back(info_.tensors[i].name, *found[i]);
    return sample;
  }

 private:
  struct Entry {
    std::string file;
    std::string sha256;
    uint64_t bytes = 0;
    Json shapes = nullptr;  // {tensor: dimensions}; null when run.json does not tell
    bool verified = false;  // its contents were hashed
  };

  RecordedStream(Path folder, const OpenOptions& options)
      : folder_(std::move(folder)), subject_(folder_.string()), options_(options) {}

  Status index_tensors(const std::string& subject) {
    for (size_t i = 0; i < info_.tensors.size(); ++i)
      if (!position_.emplace(info_.tensors[i].name, i).second)
        return input_error(subject, fmt::format("tensor \"{}\" is listed twice", info_.tensors[i].name));
    return {};
  }

  Status check_file(const Path& path, Entry& entry) const {
    PARITAS_ASSIGN(auto file, File::open(path));
    if (file->size() != entry.bytes)
      return input_error(path.string(), fmt::format("has {} bytes, {} says {}", file->size(), kRunIndex, entry.bytes),
                         kDamaged);
    if (!options_.verify_hashes || entry.verified) return {};
    PARITAS_ASSIGN(std::string hash, sha256_of_file(path));
    if (hash != entry.sha256)
      return input_error(path.string(), fmt::format("its SHA-256 is not the one in {}", kRunIndex),
                         "the recording was changed after it was made: record it again");
    entry.verified = true;
    return {};
  }

  // By position in info_.tensors; nullopt where run.json tells no shape.
  Result<std::vector<std::optional<Shape>>> listed_shapes(const Entry& entry, const Path& path) const {
    std::vector<std::optional<Shape>> shapes(info_.tensors.size());
    if (entry.shapes.is_null()) return shapes;
    for (const auto& [name, dims] : entry.shapes.items()) {
      const auto it = position_.find(name);
      const bool whole = dims.is_array() &&
                         std::all_of(dims.begin(), dims.end(), [](const Json& dim) { return dim.is_number_integer(); });
      if (it == position_.end() || !whole)
        return input_error((folder_ / kRunIndex).string(),
                           fmt::format("the shapes of {}: tensor \"{}\" {}", path.filename().string(), name,
                                       whole ? "is not listed in run.json" : "has a dimension that is no whole number"),
                           kDamaged);
      shapes[it->second] = dims.get<Shape>();
    }
    return shapes;
  }

  // What run.json says of a tensor must be what its file holds. 4-bit types travel as packed uint8 (safetensors has no
  // code for them); there run.json alone knows type and shape.
  static Status hold_against(const TensorInfo& info, const std::optional<Shape>& shape, Tensor& tensor,
                             const Path& path) {
    const bool packed = bits(info.dtype) == 4 && tensor.dtype == DType::kU8;
    if (info.dtype != tensor.dtype && !packed)
      return input_error(
          path.string(),
          fmt::format("tensor \"{}\" is {}, {} says {}", info.name, name(tensor.dtype), kRunIndex, name(info.dtype)),
          kDamaged);
    if (packed) {
      if (!shape)
        return input_error(path.string(),
                           fmt::format("tensor \"{}\" is packed, and {} tells no shape of it", info.name, kRunIndex),
                           kDamaged);
      PARITAS_ASSIGN(tensor, make_tensor(info.dtype, *shape, tensor.bytes, path.string()));
      return {};
    }
    if (shape && *shape != tensor.shape)
      return input_error(path.string(),
                         fmt::format("tensor \"{}\" has the shape {}, {} says {}", info.name, to_string(tensor.shape),
                                     kRunIndex, to_string(*shape)),
                         kDamaged);
    return {};
  }

  Path folder_;
  std::string subject_;
  OpenOptions options_;
  RunInfo info_;
  std::unordered_map<std::string, size_t> position_;
  std::vector<Entry> samples_;
};

// Tensors of one loose file: one sample, every tensor an output.
class LooseStream : public SampleStream {
 public:
  LooseStream(const Path& path, std::vector<std::pair<std::string, Tensor>> tensors) : subject_(path.string()) {
    for (auto& [name, tensor] : tensors) {
      TensorInfo entry;
      entry.name = name;
      entry.dtype = tensor.dtype;
      info_.tensors.push_back(std::move(entry));
    }
    sample_ = Sample{"sample-000000", std::move(tensors)};
  }
  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return 1; }
  Result<Sample> sample(uint64_t) override { return sample_; }

 private:
  std::string subject_;
  RunInfo info_;
  Sample sample_;
};

}  // namespace

bool is_recording(const Path& path) {
  std::error_code code;
  return std::filesystem::exists(path / kRunIndex, code);
}

Result<std::unique_ptr<SampleStream>> open_samples(const Path& path, const OpenOptions& options) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) return input_error(path.string(), "no such file or folder", "check the path");
  if (std::filesystem::is_directory(status)) {
    if (!std::filesystem::exists(path / kRunIndex, code))
      return input_error(path.string(), fmt::format("holds no {}, so it is not a recording", kRunIndex),
                         "make one with: paritas run MODEL --target TARGET -o FOLDER");
    return RecordedStream::open(path, options);
  }
  std::vector<std::pair<std::string, Tensor>> tensors;
  if (path.extension() == ".npy") {
    PARITAS_ASSIGN(Tensor tensor, read_npy(path));
    tensors.emplace_back("data", std::move(tensor));
  } else if (path.extension() == ".safetensors") {
    PARITAS_ASSIGN(SafetensorsFile file, read_safetensors(path));
    tensors = std::move(file.tensors);
  } else {
    return input_error(path.string(), "is neither a recording folder nor a .npy or .safetensors file");
  }
  return std::unique_ptr<SampleStream>(std::make_unique<LooseStream>(path, std::move(tensors)));
}

Result<Json> read_run_index(const Path& folder) {
  PARITAS_ASSIGN(const std::string text, read_text(folder / kRunIndex));
  return parse_json(text, (folder / kRunIndex).string());
}

Result<RecordingWriter> RecordingWriter::create(const Path& folder, bool overwrite) {
  PARITAS_ASSIGN(AtomicFolder building, AtomicFolder::create(folder, overwrite, kRunIndex));
  return RecordingWriter(std::move(building));
}

Status RecordingWriter::add_sample(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  SampleFile sample;
  sample.file = fmt::format("sample-{:06}.safetensors", samples_.size());
  std::vector<SafetensorsEntry> entries;
  std::unordered_set<std::string> seen;
  for (const auto& [name, tensor] : tensors) {
    if (!seen.insert(name).second) return input_error(sample.file, fmt::format("tensor \"{}\" was given twice", name));
    entries.push_back({name, tensor.dtype, tensor.shape});
    sample.shapes[name] = tensor.shape;
  }
  PARITAS_ASSIGN(auto writer, SafetensorsWriter::create(folder_.building() / sample.file, entries, {}, false));
  std::vector<std::byte> block(1 << 20);
  for (const auto& [name, tensor] : tensors)
    for (uint64_t at = 0; at < tensor.bytes.size(); at += block.size()) {
      auto part = std::span(block).first(std::min<uint64_t>(block.size(), tensor.bytes.size() - at));
      PARITAS_TRY(tensor.bytes.read(at, part));
      PARITAS_TRY(writer.append(part));
    }
  PARITAS_ASSIGN(sample.sha256, writer.finish());
  std::error_code code;
  sample.bytes = std::filesystem::file_size(folder_.building() / sample.file, code);
  samples_.push_back(std::move(sample));
  return {};
}

Status RecordingWriter::add_note(const std::string& name, std::string_view text) {
  const Path folder = folder_.building() / "notes";
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return runtime_error(folder.string(), fmt::format("cannot be made: {}", code.message()));
  return write_text_atomically(folder / name, text, false);
}

Status RecordingWriter::finish(const RunInfo& info) {
  Json json = to_json(info);
  Json samples = Json::array();
  for (const SampleFile& sample : samples_)
    samples.push_back(
        {{"file", sample.file}, {"sha256", sample.sha256}, {"bytes", sample.bytes}, {"shapes", sample.shapes}});
  json["samples"] = std::move(samples);
  PARITAS_TRY(write_text_atomically(folder_.building() / kRunIndex, dump_json(json) + "\n", false));
  return folder_.commit();
}

}  // namespace paritas
