// Recordings on disk: a folder with run.json and one safetensors file per sample.
#pragma once

#include "paritas/recording/sample_stream.h"
#include "paritas/tensor/safetensors.h"

namespace paritas {

inline constexpr const char* kRunIndex = "run.json";

struct OpenOptions {
  // Hash every sample file when it is first asked for (slower than comparing it).
  bool verify_hashes = false;
};

// A folder with run.json: its files have hashes.
bool is_recording(const Path& path);

// A recording folder, or a single .npy or .safetensors file, which is one sample of outputs without provenance.
Result<std::unique_ptr<SampleStream>> open_samples(const Path& path, const OpenOptions& options);

// The index of a finished recording, as it stands in run.json.
Result<Json> read_run_index(const Path& folder);

// The folder appears under its name only on finish(), run.json written last.
class RecordingWriter {
 public:
  static Result<RecordingWriter> create(const Path& folder, bool overwrite);
  Status add_sample(const std::vector<std::pair<std::string, Tensor>>& tensors);
  // A text about the run, kept beside the samples as notes/NAME. Nothing reads it back.
  Status add_note(const std::string& name, std::string_view text);
  Status finish(const RunInfo& info);

 private:
  explicit RecordingWriter(AtomicFolder folder) : folder_(std::move(folder)) {}
  struct SampleFile {
    std::string file;
    std::string sha256;
    uint64_t bytes;
    Json shapes = Json::object();
  };
  AtomicFolder folder_;
  std::vector<SampleFile> samples_;
};

}  // namespace paritas
