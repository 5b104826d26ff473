#include "paritas/recording/input_roles.h"

namespace paritas {
namespace {

class StreamWithInputs : public SampleStream {
 public:
  StreamWithInputs(std::unique_ptr<SampleStream> inner, const std::set<std::string>& inputs)
      : inner_(std::move(inner)), info_(inner_->info()) {
    for (TensorInfo& tensor : info_.tensors)
      if (inputs.count(tensor.name) != 0) tensor.role = Role::kInput;
  }
  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return inner_->subject(); }
  uint64_t sample_count() const override { return inner_->sample_count(); }
  Result<Sample> sample(uint64_t index) override { return inner_->sample(index); }

 private:
  std::unique_ptr<SampleStream> inner_;
  RunInfo info_;
};

}  // namespace

std::unique_ptr<SampleStream> with_inputs(std::unique_ptr<SampleStream> stream, const std::set<std::string>& inputs) {
  if (inputs.empty()) return stream;
  return std::make_unique<StreamWithInputs>(std::move(stream), inputs);
}

}  // namespace paritas
