// For tests: samples in memory as a stream.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "paritas/recording/sample_stream.h"

namespace paritas {

class MemoryStream : public SampleStream {
 public:
  explicit MemoryStream(std::string subject) : subject_(std::move(subject)) {}

  // Adds a tensor to sample `index`; the first one of a name also lists it.
  MemoryStream& add(const std::string& name, Role role, Tensor tensor, size_t index = 0) {
    if (info_.find(name) == nullptr) list(name, role, tensor.dtype);
    if (samples_.size() <= index) samples_.resize(index + 1);
    samples_[index].tensors.emplace_back(name, std::move(tensor));
    return *this;
  }
  // Lists a tensor without giving any sample that holds it.
  MemoryStream& list(const std::string& name, Role role, DType dtype = DType::kF32) {
    TensorInfo tensor;
    tensor.name = name;
    tensor.role = role;
    tensor.dtype = dtype;
    info_.tensors.push_back(std::move(tensor));
    return *this;
  }
  MemoryStream& output(const std::string& name, const std::vector<float>& values, size_t index = 0) {
    return add(name, Role::kOutput, vector(values), index);
  }
  MemoryStream& intermediate(const std::string& name, const std::vector<float>& values, size_t index = 0) {
    return add(name, Role::kIntermediate, vector(values), index);
  }
  MemoryStream& input(const std::string& name, const std::vector<float>& values, size_t index = 0) {
    return add(name, Role::kInput, vector(values), index);
  }
  RunInfo& edit_info() { return info_; }

  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return samples_.size(); }
  Result<Sample> sample(uint64_t index) override {
    Sample sample = samples_[index];
    sample.id = "sample-00000" + std::to_string(index);
    return sample;
  }

  static Tensor vector(const std::vector<float>& values) {
    return tensor_from_values(DType::kF32, {static_cast<int64_t>(values.size())}, values);
  }

 private:
  std::string subject_;
  RunInfo info_;
  std::vector<Sample> samples_;
};

}  // namespace paritas
