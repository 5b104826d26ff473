#include "paritas/vendor/model_facts.h"

#include <cctype>
#include <set>

#include "paritas/base/sha256.h"
#include "paritas/onnx/model.h"
#include "paritas/tflite/model.h"

namespace paritas {
namespace {

std::string sanitise(std::string name) {
  if (name.size() > 2 && name.ends_with(":0")) name.resize(name.size() - 2);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

std::string without_front(const std::string& name) {
  const size_t first = name.find_first_not_of('_');
  return first == std::string::npos ? name : name.substr(first);
}

ModelTensor describe(const ::onnx::ValueInfoProto& info, Role role) {
  ModelTensor tensor;
  tensor.name = info.name();
  tensor.role = role;
  if (!info.type().has_tensor_type()) return tensor;
  const auto& type = info.type().tensor_type();
  tensor.dtype = dtype_from_onnx(type.elem_type());
  if (!type.has_shape()) return tensor;
  tensor.shape.emplace();
  for (const auto& dim : type.shape().dim())
    tensor.shape->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return tensor;
}

}  // namespace

Result<ModelFacts> ModelFacts::load(const Path& path) {
  ModelFacts facts;
  facts.path_ = path.string();
  if (tflite::is_tflite(path))
    PARITAS_TRY(facts.take_tflite(path));
  else
    PARITAS_TRY(facts.take_onnx(path));
  PARITAS_ASSIGN(facts.sha256_, sha256_of_file(path));
  return facts;
}

Status ModelFacts::take_onnx(const Path& path) {
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  ir_version_ = model.proto().ir_version();
  producer_ = model.proto().producer_name();
  for (const auto& opset : model.proto().opset_import())
    opsets_[opset.domain().empty() ? "ai.onnx" : opset.domain()] = opset.version();
  std::set<std::string> initialisers;
  for (const auto& initialiser : model.graph().initializer()) initialisers.insert(initialiser.name());
  for (const auto& input : model.graph().input()) {
    if (initialisers.count(input.name()) != 0) continue;
    inputs_.push_back(input.name());
    add(describe(input, Role::kInput));
  }
  for (const auto& output : model.graph().output()) {
    outputs_.push_back(output.name());
    add(describe(output, Role::kOutput));
  }
  for (const auto& value : model.graph().value_info()) add(describe(value, Role::kIntermediate));
  // Tensors without a declaration: their names still tell what is an intermediate.
  for (const auto& node : model.graph().node())
    for (const auto& output : node.output())
      if (!output.empty()) add({output, Role::kIntermediate, std::nullopt, std::nullopt});
  return {};
}

Status ModelFacts::take_tflite(const Path& path) {
  PARITAS_ASSIGN(const auto model, tflite::Model::load(path));
  producer_ = model.description();
  const tflite::Graph& graph = model.main();
  const auto take = [&](int index, Role role) {
    const tflite::GraphTensor& tensor = graph.tensors[static_cast<size_t>(index)];
    ModelTensor made{tensor.id, role, tensor.dtype, tensor.shape};
    for (size_t i = 0; i < tensor.shape_signature.size() && i < made.shape->size(); ++i)
      if (tensor.shape_signature[i] < 0) (*made.shape)[i] = -1;
    if (role == Role::kInput) inputs_.push_back(tensor.id);
    if (role == Role::kOutput) outputs_.push_back(tensor.id);
    add(std::move(made));
  };
  // An input that is an output too is one that was fed.
  for (const int input : graph.inputs) take(input, Role::kInput);
  for (const int output : graph.outputs) take(output, Role::kOutput);
  for (const tflite::Op& op : graph.ops)
    for (const int output : op.outputs)
      if (output >= 0) take(output, Role::kIntermediate);
  return {};
}

void ModelFacts::add(ModelTensor tensor) {
  const std::string name = tensor.name;
  if (!tensors_.emplace(name, std::move(tensor)).second) return;
  sanitised_.emplace(sanitise(name), name);
  stripped_.emplace(without_front(sanitise(name)), name);
}

ModelMatch ModelFacts::sanitised(const Index& index, const std::string& name) const {
  ModelMatch match;
  match.rule = NameRule::kSanitised;
  const auto [first, last] = index.equal_range(name);
  if (first != last && std::next(first) == last) {
    match.tensor = &tensors_.at(first->second);
  } else {
    for (auto it = first; it != last; ++it) match.candidates.push_back(it->second);
  }
  return match;
}

ModelMatch ModelFacts::match(const std::string& name) const {
  if (auto it = tensors_.find(name); it != tensors_.end()) return {&it->second, NameRule::kExact, {}};
  if (auto it = tensors_.find("/" + name); it != tensors_.end()) return {&it->second, NameRule::kSlash, {}};
  const std::string plain = sanitise(name);
  if (plain.starts_with('_'))
    if (ModelMatch match = sanitised(sanitised_, plain); match.tensor != nullptr || !match.candidates.empty())
      return match;
  return sanitised(stripped_, without_front(plain));
}

}  // namespace paritas
