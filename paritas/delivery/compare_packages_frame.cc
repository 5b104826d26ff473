#include "paritas/delivery/compare_packages_frame.h"

#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "paritas/base/sha256.h"

namespace paritas::package_diff {
namespace {

using Texts = std::map<std::string, std::string>;
using ValueInfos = google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>;
using Entries = google::protobuf::RepeatedPtrField<::onnx::StringStringEntryProto>;

std::string short_hash(const std::string& bytes) { return sha256_hex(std::as_bytes(std::span(bytes))).substr(0, 12); }

class Frames {
 public:
  Frames(std::string part, std::vector<PackageFact>& facts) : part_(std::move(part)), facts_(facts) {}

  void add(const std::string& what, std::optional<std::string> before, std::optional<std::string> after,
           bool matters = true) {
    if (before != after)
      facts_.push_back(
          {"graph", fmt::format("part {}: {}", part_, what), std::move(before), std::move(after), matters});
  }

  void add_each(const std::string& what, const Texts& before, const Texts& after) {
    std::set<std::string> keys;
    for (const Texts* texts : {&before, &after})
      for (const auto& [key, text] : *texts) keys.insert(key);
    auto find = [](const Texts& texts, const std::string& key) {
      const auto it = texts.find(key);
      return it == texts.end() ? std::nullopt : std::optional(it->second);
    };
    for (const std::string& key : keys) add(fmt::format("{} {}", what, key), find(before, key), find(after, key));
  }

 private:
  std::string part_;
  std::vector<PackageFact>& facts_;
};

std::string type_text(const ::onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return type.ByteSizeLong() == 0 ? "no type" : "no tensor";
  const auto& tensor = type.tensor_type();
  std::string text = ::onnx::TensorProto::DataType_Name(tensor.elem_type());
  if (!tensor.has_shape()) return text + " of any shape";
  std::vector<std::string> dims;
  for (const auto& dim : tensor.shape().dim())
    dims.push_back(dim.has_dim_value()   ? std::to_string(dim.dim_value())
                   : dim.has_dim_param() ? fmt::format("\"{}\"", dim.dim_param())
                                         : "?");
  return fmt::format("{} [{}]", text, fmt::join(dims, ", "));
}

// What the readable text leaves out (denotations, metadata, types that are no tensors) is told by a hash, where the
// sides differ in nothing else.
Texts declared(const ValueInfos& infos, bool with_hash) {
  Texts texts;
  for (::onnx::ValueInfoProto info : infos) {
    info.clear_doc_string();
    std::string text = type_text(info.type());
    if (with_hash) text += fmt::format(", declared as {}", short_hash(serialized(info)));
    texts[info.name()] = std::move(text);
  }
  return texts;
}

std::string order_of(const ValueInfos& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.push_back(info.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

void compare_ports(Frames& frames, const std::string& what, const ValueInfos& before, const ValueInfos& after) {
  const Texts a = declared(before, false), b = declared(after, false);
  frames.add_each(what, a, b);
  if (a == b) frames.add_each(what, declared(before, true), declared(after, true));
  if (a.size() != b.size()) return;
  for (const auto& [name, text] : a)
    if (b.count(name) == 0) return;
  frames.add(fmt::format("order of the {}s", what), order_of(before), order_of(after));
}

Texts opsets(const ::onnx::ModelProto& model) {
  Texts versions;
  for (const auto& set : model.opset_import())
    versions[set.domain().empty() ? "ai.onnx" : set.domain()] = std::to_string(set.version());
  return versions;
}

Texts overridable(const ::onnx::GraphProto& graph) {
  std::set<std::string> inputs;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  Texts texts;
  for (const auto& initializer : graph.initializer())
    texts[initializer.name()] =
        inputs.count(initializer.name()) != 0 ? "a graph input too: a caller can replace it" : "fixed";
  return texts;
}

// Only of initialisers that both have: others are told as constants.
void compare_overridable(Frames& frames, const ::onnx::GraphProto& before, const ::onnx::GraphProto& after) {
  const Texts a = overridable(before), b = overridable(after);
  for (const auto& [name, text] : a)
    if (const auto it = b.find(name); it != b.end()) frames.add("initialiser " + name, text, it->second);
}

Texts entries(const Entries& metadata) {
  Texts texts;
  for (const auto& entry : metadata) texts[entry.key()] = entry.value();
  return texts;
}

// All that was not compared by name, here or as nodes and constants.
std::string rest_of(::onnx::ModelProto model) {
  model.clear_ir_version();
  model.clear_opset_import();
  model.clear_functions();
  model.clear_metadata_props();
  model.clear_producer_name();
  model.clear_producer_version();
  model.clear_doc_string();
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.clear_node();
  graph.clear_initializer();
  graph.clear_sparse_initializer();
  graph.clear_input();
  graph.clear_output();
  graph.clear_value_info();
  graph.clear_metadata_props();
  graph.clear_name();
  graph.clear_doc_string();
  return serialized(model);
}

}  // namespace

std::string serialized(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

void compare_frames(const ::onnx::ModelProto& before, const ::onnx::ModelProto& after, const std::string& part,
                    std::vector<PackageFact>& facts) {
  Frames frames(part, facts);
  frames.add_each("operator set", opsets(before), opsets(after));
  frames.add("IR version", std::to_string(before.ir_version()), std::to_string(after.ir_version()));
  compare_ports(frames, "graph input", before.graph().input(), after.graph().input());
  compare_ports(frames, "graph output", before.graph().output(), after.graph().output());
  compare_overridable(frames, before.graph(), after.graph());
  frames.add_each("metadata", entries(before.metadata_props()), entries(after.metadata_props()));
  frames.add_each("metadata of the graph", entries(before.graph().metadata_props()),
                  entries(after.graph().metadata_props()));
  const std::string a = rest_of(before), b = rest_of(after);
  frames.add("what else the model states (quantisation annotations, training, version, unknown fields)", short_hash(a),
             short_hash(b));
  if (declared(before.graph().value_info(), true) != declared(after.graph().value_info(), true))
    frames.add("declared types of intermediate tensors", fmt::format("{} declared", before.graph().value_info_size()),
               fmt::format("{} declared, not the same", after.graph().value_info_size()), /*matters=*/false);
}

}  // namespace paritas::package_diff
