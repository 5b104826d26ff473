#include "paritas/project/sides.h"

namespace paritas {
namespace {

class AdjustedStream : public SampleStream {
 public:
  AdjustedStream(std::shared_ptr<SampleStream> inner, std::string subject,
                 const std::map<std::string, Quantisation>& quantisation, std::map<std::string, std::string> renames)
      : inner_(std::move(inner)), subject_(std::move(subject)), info_(inner_->info()), renames_(std::move(renames)) {
    for (TensorInfo& tensor : info_.tensors) {
      if (auto it = quantisation.find(tensor.name);
          it != quantisation.end() && !tensor.quantisation && !is_float(tensor.dtype))
        tensor.quantisation = it->second;
      rename(tensor.name);
    }
  }

  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return inner_->sample_count(); }
  Result<Sample> sample(uint64_t index) override {
    PARITAS_ASSIGN(Sample sample, inner_->sample(index));
    for (auto& [name, tensor] : sample.tensors) rename(name);
    return sample;
  }

 private:
  void rename(std::string& name) const {
    if (auto it = renames_.find(name); it != renames_.end()) name = it->second;
  }

  std::shared_ptr<SampleStream> inner_;
  std::string subject_;
  RunInfo info_;
  std::map<std::string, std::string> renames_;
};

}  // namespace

Status open_side(OpenSide& side) {
  PARITAS_ASSIGN(side.stream, open_any(side.path, side.options));
  return {};
}

std::unique_ptr<SampleStream> view(const OpenSide& side, const std::map<std::string, Quantisation>& quantisation,
                                   const std::map<std::string, std::string>& renames) {
  return std::make_unique<AdjustedStream>(side.stream, side.subject, quantisation, renames);
}

}  // namespace paritas
