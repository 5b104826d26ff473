// What a diagnosis over many samples leaves on disk while it runs: state.json says of what, and every sample that is
// done has a file. A run that was killed goes on from there. No file in here is a result, and none can be read as one.
#pragma once

#include <optional>
#include <string>

#include "paritas/locate/sample_record.h"

namespace paritas {

class SampleState {
 public:
  // Opens `folder`, or makes it. `subject` is what is diagnosed: model, targets, options, versions; all of it flat
  // text. A state of another subject is refused, and so is a folder that holds anything else, or that another run uses.
  static Result<SampleState> open(const Path& folder, const Json& subject);
  SampleState(SampleState&& other) noexcept;
  SampleState& operator=(SampleState&&) = delete;
  ~SampleState();

  // nullopt: this sample is not done. Refused: a damaged file, or one of other inputs.
  Result<std::optional<SampleRecord>> load(const std::string& id, const std::string& inputs_sha256) const;
  // Only whether there is one, checked as by load() but for what it holds.
  Result<bool> has(const std::string& id, const std::string& inputs_sha256) const;
  Status store(const SampleRecord& record, const std::string& inputs_sha256) const;
  // The same for records of another kind (the subject tells which).
  Result<std::optional<Json>> load_json(const std::string& id, const std::string& inputs_sha256) const {
    return read(id, inputs_sha256);
  }
  Status store_json(const std::string& id, const Json& record, const std::string& inputs_sha256) const;

 private:
  SampleState(Path folder, std::string subject_sha256, int lock)
      : folder_(std::move(folder)), subject_sha256_(std::move(subject_sha256)), lock_(lock) {}
  Result<std::optional<Json>> read(const std::string& id, const std::string& inputs_sha256) const;
  Path file_of(const std::string& id) const { return folder_ / (id + ".json"); }
  Path folder_;
  std::string subject_sha256_;
  int lock_;
};

}  // namespace paritas
