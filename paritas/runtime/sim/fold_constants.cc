#include "paritas/runtime/sim/fold_constants.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "paritas/runtime/sim/operators.h"
#include "paritas/runtime/sim/round_values.h"

namespace paritas::sim {
namespace {

constexpr const char* kFileName = "rounded.weights";
constexpr uint64_t kAlignment = 64;

// Rounded values on their way into the model: small ones in memory, large ones in a file that is read when it is whole.
class RoundedConstants {
 public:
  RoundedConstants(onnx_model::Model& model, const SimulatedFormat& format, Path scratch)
      : model_(model), format_(format), scratch_(std::move(scratch)) {}

  // False when the type is one that rounding leaves alone.
  Result<bool> add(::onnx::TensorProto& proto) {
    const auto code = dtype_from_onnx(proto.data_type());
    if (!code || !is_rounded(*code)) return false;
    PARITAS_ASSIGN(const Tensor tensor, model_.tensor(proto));
    std::vector<std::byte> values(tensor.bytes.size());
    PARITAS_TRY(tensor.bytes.read(0, values));
    round_values(tensor.dtype, values, values, format_);
    Pending pending{&proto, tensor, std::nullopt};
    if (scratch_.empty() || values.size() < onnx_model::kInlineLimit) {
      pending.tensor.bytes = Bytes::in_memory(std::move(values));
    } else {
      PARITAS_ASSIGN(pending.offset, store(values));
    }
    pending_.push_back(std::move(pending));
    return true;
  }

  // Puts all rounded values into their places.
  Status finish() {
    std::shared_ptr<const File> file;
    if (file_) {
      PARITAS_TRY(file_->commit());
      PARITAS_ASSIGN(file, File::open(scratch_ / kFileName));
    }
    for (Pending& each : pending_) {
      if (each.offset) each.tensor.bytes = Bytes::in_file(file, *each.offset, each.tensor.bytes.size());
      replace(*each.proto, each.tensor);
    }
    return {};
  }

 private:
  struct Pending {
    ::onnx::TensorProto* proto;
    Tensor tensor;
    std::optional<uint64_t> offset;
  };

  Result<uint64_t> store(std::span<const std::byte> values) {
    static constexpr std::byte kPadding[kAlignment] = {};
    if (!file_) {
      PARITAS_ASSIGN(AtomicFile created, AtomicFile::create(scratch_ / kFileName, /*overwrite=*/true));
      file_.emplace(std::move(created));
    }
    if (const uint64_t over = file_->written() % kAlignment; over != 0)
      PARITAS_TRY(file_->write(std::span(kPadding).first(kAlignment - over)));
    const uint64_t offset = file_->written();
    PARITAS_TRY(file_->write(values));
    return offset;
  }

  // The model makes the reference to the weights; it only knows initialisers of the main graph, so the new one is taken
  // out again and put where the old value was.
  void replace(::onnx::TensorProto& proto, const Tensor& tensor) {
    const std::string label = proto.name();
    auto& initializers = *model_.graph().mutable_initializer();
    const int before = initializers.size();
    model_.add_initializer("paritas__rounded", tensor);
    ::onnx::TensorProto made;
    made.Swap(initializers.Mutable(before));
    initializers.RemoveLast();
    proto.Swap(&made);
    proto.set_name(label);
  }

  onnx_model::Model& model_;
  const SimulatedFormat format_;
  const Path scratch_;
  std::optional<AtomicFile> file_;
  std::vector<Pending> pending_;
};

::onnx::TensorProto* constant_value(::onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || node.attribute_size() != 1 || !node.attribute(0).has_t()) return nullptr;
  return node.mutable_attribute(0)->mutable_t();
}

// One graph: what its Round nodes read decides which constants are rounded.
Status fold(::onnx::GraphProto& graph, RoundedConstants& rounded) {
  std::unordered_map<std::string, ::onnx::TensorProto*> initializers;
  for (auto& tensor : *graph.mutable_initializer()) initializers[tensor.name()] = &tensor;
  std::unordered_map<std::string, ::onnx::NodeProto*> constants;
  for (auto& node : *graph.mutable_node()) {
    if (constant_value(node) != nullptr) constants[node.output(0)] = &node;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) PARITAS_TRY(fold(*attribute.mutable_g(), rounded));
      for (auto& body : *attribute.mutable_graphs()) PARITAS_TRY(fold(body, rounded));
    }
  }
  std::unordered_set<const ::onnx::NodeProto*> gone;
  for (const auto& node : graph.node()) {
    if (node.domain() != kDomain || node.op_type() != kRound) continue;
    if (auto it = initializers.find(node.input(0)); it != initializers.end()) {
      PARITAS_ASSIGN(const bool added, rounded.add(*it->second));
      if (!added) continue;
      it->second->set_name(node.output(0));
      gone.insert(&node);
    } else if (auto constant = constants.find(node.input(0)); constant != constants.end()) {
      PARITAS_ASSIGN(const bool added, rounded.add(*constant_value(*constant->second)));
      if (!added) continue;
      constant->second->set_output(0, node.output(0));
      gone.insert(&node);
    }
  }
  ::google::protobuf::RepeatedPtrField<::onnx::NodeProto> kept;
  for (auto& node : *graph.mutable_node()) {
    if (gone.count(&node) == 0) kept.Add()->Swap(&node);
  }
  graph.mutable_node()->Swap(&kept);
  return {};
}

}  // namespace

Status fold_rounded_constants(onnx_model::Model& model, const SimulatedFormat& format, const Path& scratch) {
  RoundedConstants rounded(model, format, scratch);
  PARITAS_TRY(fold(model.graph(), rounded));
  return rounded.finish();
}

}  // namespace paritas::sim
