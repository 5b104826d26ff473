#include "paritas/delivery/parts.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "paritas/locate/cuts.h"

namespace paritas {
namespace {

using onnx_model::Cut;
using onnx_model::GraphIndex;
using onnx_model::Model;

std::string subject_of(const onnx_model::CutSpec& spec) {
  return spec.name.empty() ? std::string("--cut") : fmt::format("cut \"{}\"", spec.name);
}

class Namer {
 public:
  Namer(const Model& model, const GraphIndex& index, const std::vector<std::string>& names)
      : model_(model), index_(index), dependence_(onnx_model::value_dependence(model, index)), names_(names) {}

  Result<NamedCuts> run(const std::vector<onnx_model::CutSpec>& specs) {
    for (const auto& spec : specs) PARITAS_TRY(add(spec));
    if (!names_.empty() && taken_ != names_.size())
      return usage_error("--boundary", fmt::format("gives {} names, {} tensors need one", names_.size(), taken_),
                         "give a name for each, in graph order, or none");
    PARITAS_ASSIGN(Model renamed, onnx_model::rename_tensors(model_, renames_));
    return NamedCuts{std::move(renamed), std::move(cuts_), std::move(tensors_)};
  }

 private:
  Status add(const onnx_model::CutSpec& spec) {
    const std::string subject = subject_of(spec);
    std::vector<std::string> tensors;
    for (const std::string& pattern : spec.patterns) {
      PARITAS_ASSIGN(std::string tensor, onnx_model::resolve_tensor(model_, index_, dependence_, pattern, subject));
      if (std::find(tensors.begin(), tensors.end(), tensor) != tensors.end())
        return usage_error(subject, fmt::format("names \"{}\" twice", tensor));
      tensors.push_back(std::move(tensor));
    }
    PARITAS_ASSIGN(const Cut cut, onnx_model::check_cut(model_, index_, dependence_, spec.name, tensors, subject,
                                                        /*carry_inputs=*/true));
    PackageCut made;
    made.name = spec.name.empty() ? fmt::format("cut-{}", cuts_.size() + 1) : spec.name;
    std::vector<std::string> renamed;
    for (const std::string& tensor : cut.tensors) {
      const std::string name = name_of(tensor);
      if (!index_.is_input(tensor)) made.tensors.push_back(describe(name, tensor));
      renamed.push_back(name);
    }
    cuts_.push_back(std::move(made));
    tensors_.push_back(std::move(renamed));
    return {};
  }

  // A tensor of two cuts has one name.
  std::string name_of(const std::string& tensor) {
    if (index_.is_input(tensor) || index_.is_output(tensor)) return tensor;
    if (const auto it = renames_.find(tensor); it != renames_.end()) return it->second;
    const size_t number = taken_++;
    const std::string name = number < names_.size() ? names_[number] : fmt::format("feature_{}", number);
    renames_[tensor] = name;
    return name;
  }

  BoundaryTensor describe(const std::string& name, const std::string& tensor) const {
    const CutTensorMark mark = mark_of(index_, dependence_, tensor);
    BoundaryTensor boundary;
    boundary.name = name;
    boundary.source = tensor;
    boundary.op = mark.op;
    boundary.made_from = mark.made_from;
    boundary.read_by = mark.read_by;
    return boundary;
  }

  const Model& model_;
  const GraphIndex& index_;
  const onnx_model::ValueDependence dependence_;
  const std::vector<std::string>& names_;
  size_t taken_ = 0;
  std::map<std::string, std::string> renames_;
  std::vector<PackageCut> cuts_;
  std::vector<std::vector<std::string>> tensors_;
};

// Each cut in turn, on what the cuts before it left.
class Divider {
 public:
  using Values = std::map<std::string, Tensor>;

  Divider(const NamedCuts& named, const Values* tensors, const Values& constants)
      : named_(named), tensors_(tensors), constants_(constants) {
    if (tensors_ == nullptr) return;
    for (const auto& [name, tensor] : *tensors_) types_[name] = {tensor.dtype, tensor.shape};
  }

  // Cuts of the model; without tensors only what they need as constants is found out.
  Result<Cut> cut_at(const Model& model, size_t number, std::set<std::string>& wanted) const {
    PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
    const auto dependence = onnx_model::value_dependence(model, index);
    const std::string subject = fmt::format("cut \"{}\"", named_.cuts[number].name);
    // What an earlier part made is an input here; what a later part alone reads is not in this one.
    std::vector<std::string> tensors;
    for (const std::string& tensor : named_.tensors[number])
      if (index.is_input(tensor) || index.producer(tensor) >= 0) tensors.push_back(tensor);
    PARITAS_ASSIGN(Cut cut, onnx_model::check_cut(model, index, dependence, named_.cuts[number].name, tensors, subject,
                                                  /*carry_inputs=*/true));
    wanted.insert(cut.constants.begin(), cut.constants.end());
    return cut;
  }

  Result<std::vector<ModelPart>> run() const {
    std::vector<ModelPart> parts;
    Model rest = named_.model.clone();
    std::set<std::string> unused;
    for (size_t i = 0; i < named_.cuts.size(); ++i) {
      PARITAS_ASSIGN(const Cut cut, cut_at(rest, i, unused));
      Values constants;
      for (const std::string& constant : cut.constants) {
        const auto it = constants_.find(constant);
        if (it == constants_.end())
          return runtime_error(rest.subject(), fmt::format("the value of \"{}\" is not known", constant));
        constants.emplace(constant, it->second);
      }
      PARITAS_ASSIGN(onnx_model::Halves halves, onnx_model::extract_halves(rest, cut, types_, constants));
      PARITAS_ASSIGN(ModelPart part, describe(std::move(halves.front), static_cast<uint64_t>(cut.front_nodes)));
      parts.push_back(std::move(part));
      rest = std::move(halves.rear);
      if (i + 1 == named_.cuts.size()) {
        PARITAS_ASSIGN(ModelPart last, describe(std::move(rest), static_cast<uint64_t>(cut.rear_nodes)));
        parts.push_back(std::move(last));
      }
    }
    return parts;
  }

 private:
  Result<PackagePort> port(const std::string& name) const {
    const auto it = types_.find(name);
    if (it == types_.end())
      return input_error(named_.model.subject(), fmt::format("\"{}\" is not a tensor that a run gives", name),
                         "sequences, and outputs that are inputs, cannot be handed on by a package");
    return PackagePort{name, name, it->second.dtype, it->second.shape};
  }

  Result<ModelPart> describe(Model model, uint64_t nodes) const {
    ModelPart part{std::move(model), {}, {}, nodes};
    for (const auto& input : onnx_model::describe_inputs(part.model)) {
      PARITAS_ASSIGN(PackagePort made, port(input.name));
      part.inputs.push_back(std::move(made));
    }
    for (const auto& output : onnx_model::describe_outputs(part.model)) {
      PARITAS_ASSIGN(PackagePort made, port(output.name));
      part.outputs.push_back(std::move(made));
    }
    return part;
  }

  const NamedCuts& named_;
  const Values* tensors_;
  const Values& constants_;
  std::map<std::string, onnx_model::TensorType> types_;
};

}  // namespace

Result<NamedCuts> name_cuts(const Model& model, const std::vector<onnx_model::CutSpec>& cuts,
                            const std::vector<std::string>& names) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  return Namer(model, index, names).run(cuts);
}

Result<std::vector<std::string>> part_constants(const NamedCuts& named) {
  // Cuts of the whole ask for no less than those of its parts.
  std::set<std::string> wanted;
  const std::map<std::string, Tensor> none;
  const Divider divider(named, nullptr, none);
  for (size_t i = 0; i < named.cuts.size(); ++i) PARITAS_TRY(divider.cut_at(named.model, i, wanted));
  return std::vector<std::string>(wanted.begin(), wanted.end());
}

Result<std::vector<ModelPart>> take_apart(const NamedCuts& named, const std::map<std::string, Tensor>& tensors,
                                          const std::map<std::string, Tensor>& constants) {
  return Divider(named, &tensors, constants).run();
}

}  // namespace paritas
