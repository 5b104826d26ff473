#include "paritas/locate/sample_source.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/onnx/edit.h"

namespace paritas {
namespace {

class Given : public SampleSource {
 public:
  Given(std::vector<NamedTensors> samples, const SampleRange& range) : samples_(std::move(samples)) {
    end_ = std::min<uint64_t>(range.end, samples_.size());
    first_ = std::min(range.first, end_);
  }
  uint64_t count() const override { return end_ - first_; }
  std::string id(uint64_t index) const override { return fmt::format("sample-{:06}", first_ + index); }
  Result<NamedTensors> inputs(uint64_t index) override { return samples_[first_ + index]; }

 private:
  std::vector<NamedTensors> samples_;
  uint64_t first_ = 0, end_ = 0;
};

class Recorded : public SampleSource {
 public:
  Recorded(std::unique_ptr<SampleStream> stream, std::set<std::string> wanted, NamedTensors shared, uint64_t first)
      : stream_(std::move(stream)), wanted_(std::move(wanted)), shared_(std::move(shared)), first_(first) {}
  uint64_t count() const override { return stream_->sample_count(); }
  std::string id(uint64_t index) const override { return fmt::format("sample-{:06}", first_ + index); }

  Result<NamedTensors> inputs(uint64_t index) override {
    PARITAS_ASSIGN(Sample sample, stream_->sample(index));
    NamedTensors inputs = shared_;
    for (auto& [name, tensor] : sample.tensors) {
      if (wanted_.count(name) == 0) continue;
      for (const auto& [other, value] : shared_)
        if (other == name)
          return usage_error("--input " + name, fmt::format("{} holds this input, too", stream_->subject()),
                             "leave one of them away");
      inputs.emplace_back(name, std::move(tensor));
    }
    return inputs;
  }

 private:
  std::unique_ptr<SampleStream> stream_;
  std::set<std::string> wanted_;
  NamedTensors shared_;
  uint64_t first_;
};

}  // namespace

std::unique_ptr<SampleSource> given_samples(std::vector<NamedTensors> samples, const SampleRange& range) {
  return std::make_unique<Given>(std::move(samples), range);
}

Result<std::unique_ptr<SampleSource>> recorded_samples(std::unique_ptr<SampleStream> stream,
                                                       const onnx_model::Model& model, NamedTensors shared,
                                                       const SampleRange& range) {
  std::set<std::string> wanted;
  for (const auto& input : onnx_model::describe_inputs(model)) wanted.insert(input.name);
  const std::string subject = stream->subject();
  auto part = samples_in_range(std::move(stream), range);
  if (part->sample_count() == 0) return input_error(subject, "has no sample in this range", "check --samples");
  return std::make_unique<Recorded>(std::move(part), std::move(wanted), std::move(shared), range.first);
}

Result<std::string> sha256_of_inputs(const NamedTensors& inputs) {
  Sha256 hash;
  auto text = [&hash](const std::string& part) { hash.update(std::as_bytes(std::span(part.data(), part.size()))); };
  std::vector<std::byte> buffer(size_t{1} << 20);
  for (const auto& [name, tensor] : inputs) {
    text(fmt::format("{} {} {} {}\n", name.size(), name, paritas::name(tensor.dtype), to_string(tensor.shape)));
    for (uint64_t at = 0; at < tensor.bytes.size();) {
      const auto part =
          std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(buffer.size(), tensor.bytes.size() - at)));
      PARITAS_TRY(tensor.bytes.read(at, part));
      hash.update(part);
      at += part.size();
    }
  }
  return hash.finish();
}

}  // namespace paritas
