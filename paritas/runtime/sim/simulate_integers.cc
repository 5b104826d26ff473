#include "paritas/runtime/sim/simulate_integers.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/base/sha256.h"
#include "paritas/onnx/edit.h"
#include "paritas/onnx/element_types.h"
#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/onnx/walk.h"
#include "paritas/runtime/sim/operators.h"
#include "paritas/runtime/sim/weights.h"

namespace paritas::sim {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;
using Names = std::unordered_set<std::string>;

bool is_one_of(const ::onnx::NodeProto& node, const Names& ops) {
  return onnx_model::is_onnx_domain(node) && ops.count(node.op_type()) != 0;
}

// Operators that hand on values of their first input, unchanged and no others.
bool moves_values(const ::onnx::NodeProto& node) {
  static const Names ops = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose",     "Identity",
                            "Slice",   "Split",   "Gather",  "Expand",    "DepthToSpace",  "SpaceToDepth",
                            "Tile",    "MaxPool", "Dropout", "GatherND",  "GatherElements"};
  return is_one_of(node, ops);
}

bool is_quantised(const ::onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return op == "QuantizeLinear" || op == "DequantizeLinear" || op == "DynamicQuantizeLinear" || op == "MatMulInteger" ||
         op == "ConvInteger" || op.rfind("QLinear", 0) == 0 || op.rfind("DynamicQuantize", 0) == 0;
}

class Simulation {
 public:
  Simulation(const Model& model, const Integers& integers) : model_(model), integers_(integers) {}

  Result<Model> run() {
    PARITAS_TRY(check_model());
    PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model_));
    const auto dependence = onnx_model::value_dependence(model_, index);
    PARITAS_ASSIGN(Model edited, round_weights(model_, integers_.per_channel, dependence));
    PARITAS_TRY(choose(index, dependence));
    return interpose(edited);
  }

 private:
  Status check_model() const {
    if (model_.path().empty())
      return input_error(model_.subject(), "lies in no file: whether it is the recorded model cannot be told");
    PARITAS_ASSIGN(const std::string hash, sha256_of_file(model_.path()));
    if (hash != integers_.model_sha256)
      return input_error(integers_.recording,
                         fmt::format("was recorded with another model than {} (SHA-256 {:.12} and {:.12})",
                                     model_.path().string(), integers_.model_sha256, hash),
                         "record the calibration samples with this model");
    for (const auto& node : model_.graph().node()) {
      if (is_quantised(node))
        return input_error(model_.subject(),
                           fmt::format("is quantised already: node \"{}\" is a {}", node.name(), node.op_type()),
                           "run it as it is: cpu or a device");
      if (!onnx_model::bodies_of(node).empty())
        return input_error(
            model_.subject(),
            fmt::format("node \"{}\" ({}) has a body, whose tensors are in no recording", node.name(), node.op_type()),
            "simulate a network without control flow");
    }
    return {};
  }

  // Devices clamp where they requantise, so that only the clamped result has codes.
  bool is_fused(const GraphIndex& index, const ::onnx::NodeProto& maker, const std::string& tensor) const {
    static const Names makers = {"Conv", "ConvTranspose", "Gemm", "MatMul", "Add"};
    static const Names clamps = {"Relu", "Clip"};
    const auto& readers = index.consumers(tensor);
    if (!is_one_of(maker, makers) || readers.size() != 1) return false;
    const auto& reader = proto_of(index, readers.front());
    return is_one_of(reader, clamps) && reader.input(0) == tensor;
  }

  const ::onnx::NodeProto& proto_of(const GraphIndex& index, int node) const {
    return model_.graph().node(index.nodes()[static_cast<size_t>(node)].proto_index);
  }

  Status choose(const GraphIndex& index, const onnx_model::ValueDependence& dependence) {
    const onnx_model::ElementTypes types(model_.graph());
    for (const std::string& input : index.inputs())
      if (types.may_be_float(input)) PARITAS_TRY(add(input, "graph input"));
    for (size_t i = 0; i < index.nodes().size(); ++i) {
      const auto& node = proto_of(index, static_cast<int>(i));
      if (moves_values(node) && dependence.depends(node.input(0))) continue;
      for (const std::string& tensor : index.nodes()[i].outputs) {
        if (!types.may_be_float(tensor) || !dependence.depends(tensor) || is_fused(index, node, tensor)) continue;
        PARITAS_TRY(add(tensor, fmt::format("output of {} \"{}\"", node.op_type(), index.nodes()[i].name)));
      }
    }
    return {};
  }

  bool declared_float(const std::string& tensor) const {
    return std::any_of(integers_.in_float.begin(), integers_.in_float.end(),
                       [&](const std::string& pattern) { return glob_match(pattern, tensor); });
  }

  Status add(const std::string& tensor, const std::string& what) {
    if (declared_float(tensor)) return {};
    const std::string remedy = fmt::format("record it (--marks all), or declare it: float=\"{}\"", tensor);
    const auto range = integers_.ranges.find(tensor);
    if (range == integers_.ranges.end())
      return input_error(integers_.recording, fmt::format("has no range for \"{}\" ({})", tensor, what), remedy);
    if (!is_float(range->second.dtype)) return {};
    if (range->second.dtype != DType::kF32)
      return input_error(model_.subject(),
                         fmt::format("\"{}\" ({}) is {}: only float32 networks are simulated with integers", tensor,
                                     what, name(range->second.dtype)));
    if (!range->second.not_finite.empty())
      return input_error(integers_.recording,
                         fmt::format("\"{}\" ({}) holds a NaN or an infinity in {}: no scale covers it", tensor, what,
                                     range->second.not_finite),
                         fmt::format("declare it to stay in float: float=\"{}\"", tensor));
    steps_[tensor] = steps_of(range->second.min, range->second.max, integers_.activations, integers_.symmetric);
    return {};
  }

  Result<Model> interpose(const Model& edited) const {
    onnx_model::Interpose what;
    what.op_type = kFakeQuantise;
    what.domain = kDomain;
    what.graph_inputs = true;
    what.node_outputs = true;
    what.wanted = [this](const std::string& tensor) { return steps_.count(tensor) != 0; };
    PARITAS_ASSIGN(Model result, onnx_model::interpose(edited, what));
    for (::onnx::NodeProto& node : *result.graph().mutable_node()) {
      if (node.domain() != kDomain || node.op_type() != kFakeQuantise) continue;
      auto found = steps_.find(node.output(0));
      if (found == steps_.end()) found = steps_.find(node.input(0));  // a graph input keeps its name
      set_steps(node, found->second);
    }
    return result;
  }

  static void set_steps(::onnx::NodeProto& node, const Steps& steps) {
    auto* scale = node.add_attribute();
    scale->set_name(kScaleAttribute);
    scale->set_type(::onnx::AttributeProto::FLOAT);
    scale->set_f(steps.scale);
    for (const auto& [key, value] :
         {std::pair(kZeroPointAttribute, steps.zero_point), std::pair(kLowestAttribute, steps.lowest),
          std::pair(kHighestAttribute, steps.highest)}) {
      auto* attribute = node.add_attribute();
      attribute->set_name(key);
      attribute->set_type(::onnx::AttributeProto::INT);
      attribute->set_i(value);
    }
  }

  const Model& model_;
  const Integers& integers_;
  std::unordered_map<std::string, Steps> steps_;
};

}  // namespace

Result<Model> simulate_integers(const Model& model, const Integers& integers) {
  return Simulation(model, integers).run();
}

}  // namespace paritas::sim
