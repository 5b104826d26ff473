// ONNX parts of two packages: constants and graphs, whatever they are called and wherever they lie in the files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/delivery/compare_packages_frame.h"
#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/walk.h"

namespace paritas::package_diff {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;

constexpr size_t kReadBytes = size_t{1} << 20;

std::string hash_text(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

// Tensors of types that we cannot read (text) are told by how they are stored.
Result<std::string> hash_of(const Model& model, const ::onnx::TensorProto& proto) {
  if (onnx_model::dtype_of(proto, model.subject())) {
    PARITAS_ASSIGN(const Tensor tensor, model.tensor(proto));
    return content_hash(tensor);
  }
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
    return tl::make_unexpected(onnx_model::dtype_of(proto, model.subject()).error());
  ::onnx::TensorProto nameless = proto;
  nameless.clear_name();
  nameless.clear_doc_string();
  return hash_text("stored " + serialized(nameless));
}

struct Constant {
  const ::onnx::TensorProto* proto = nullptr;
  std::string hash;
  bool in_node = false;
};

bool holds_constant(const ::onnx::NodeProto& node) {
  return node.op_type() == "Constant" && (node.domain().empty() || node.domain() == "ai.onnx") &&
         node.output_size() == 1 && node.attribute_size() == 1 && node.attribute(0).name() == "value" &&
         node.attribute(0).has_t();
}

// An ONNX part, read.
struct Described {
  Model model;
  Model hashed;  // the same with the hash of its content in place of every tensor's data
  GraphIndex index;
  std::map<std::string, Constant> constants;
  std::map<std::string, std::string> sparse;  // sparse initialisers: name -> hash

  static Result<Described> of(const Path& file) {
    PARITAS_ASSIGN(Model model, Model::load(file));
    PARITAS_ASSIGN(GraphIndex index, GraphIndex::build(model));
    Model hashed = model.clone();
    PARITAS_TRY(onnx_model::for_each_tensor(hashed.proto(), [&](::onnx::TensorProto& tensor) -> Status {
      PARITAS_ASSIGN(std::string hash, hash_of(model, tensor));
      const std::string name = tensor.name();
      tensor.Clear();
      tensor.set_name(name);
      tensor.set_raw_data(std::move(hash));
      return {};
    }));
    Described described{std::move(model), std::move(hashed), std::move(index), {}, {}};
    described.find_constants();
    return described;
  }

  void find_constants() {
    const auto& graph = model.graph();
    for (int i = 0; i < graph.initializer_size(); ++i)
      constants[graph.initializer(i).name()] = {&graph.initializer(i), hashed.graph().initializer(i).raw_data(), false};
    for (int i = 0; i < graph.node_size(); ++i)
      if (holds_constant(graph.node(i)))
        constants[graph.node(i).output(0)] = {&graph.node(i).attribute(0).t(),
                                              hashed.graph().node(i).attribute(0).t().raw_data(), true};
    for (const auto& tensor : hashed.graph().sparse_initializer())
      sparse[tensor.values().name()] = hash_text("sparse " + serialized(tensor));
  }

  const ::onnx::NodeProto& node(const GraphIndex::Node& node) const { return hashed.graph().node(node.proto_index); }
};

// An exporter's notes on where a node came from: stack traces of the machine that exported it.
bool tells_origin(const std::string& key) { return key.starts_with("pkg.torch.onnx."); }

// Attributes with the bodies of If, Loop and Scan; names inside bodies count. And what else a node states but its
// tensors: the overload of a function, metadata, devices.
std::string attributes_of(const ::onnx::NodeProto& node) {
  std::map<std::string, std::string> sorted;
  for (::onnx::AttributeProto attribute : node.attribute()) {
    attribute.clear_doc_string();
    if (attribute.has_t()) attribute.mutable_t()->clear_name();
    sorted[attribute.name()] = serialized(attribute);
  }
  ::onnx::NodeProto other;
  if (node.has_overload()) other.set_overload(node.overload());
  *other.mutable_device_configurations() = node.device_configurations();
  *other.mutable_unknown_fields() = node.unknown_fields();
  std::string text = serialized(other);
  for (const auto& [key, value] : sorted) text += fmt::format("{} {} {}\n", key, value.size(), value);
  std::map<std::string, std::string> metadata;
  for (const auto& entry : node.metadata_props())
    if (!tells_origin(entry.key())) metadata[entry.key()] = entry.value();
  for (const auto& [key, value] : metadata) text += fmt::format("metadata {} {} {}\n", key, value.size(), value);
  return text;
}

// Which constants of two models are the same thing.
struct Pairing {
  std::map<std::string, std::string> before_ids, after_ids;  // name -> what stands for it in both models
  std::vector<std::string> same;                             // name and values
  std::vector<std::pair<std::string, std::string>> renamed;  // the same values
  std::vector<std::pair<std::string, std::string>> changed;  // other values, under the same name or another
  std::vector<std::string> removed, added;
};

// What a tensor of the first model is in the second, found by walking both graphs from their outputs: constants by
// where they are read, whatever they are called. nullopt: the graphs are not the same.
class SideBySide {
 public:
  SideBySide(const Described& before, const Described& after) : before_(before), after_(after) {}

  using Pairs = std::set<std::pair<std::string, std::string>>;
  std::optional<Pairs> constants() {
    std::set<std::string> outputs(before_.index.outputs().begin(), before_.index.outputs().end());
    if (outputs != std::set<std::string>(after_.index.outputs().begin(), after_.index.outputs().end()))
      return std::nullopt;
    for (const std::string& output : outputs) open_.emplace_back(output, output);
    while (!open_.empty()) {
      const auto [a, b] = open_.back();
      open_.pop_back();
      if (!alike(a, b)) return std::nullopt;
    }
    return pairs_;
  }

 private:
  bool alike(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return a == b;  // an optional input that is left out
    const bool constant = before_.constants.count(a) != 0;
    if (constant != (after_.constants.count(b) != 0)) return false;
    if (constant) {
      pairs_.emplace(a, b);
      return true;
    }
    const auto sparse = before_.sparse.find(a), other = after_.sparse.find(b);
    if (sparse != before_.sparse.end() || other != after_.sparse.end())
      return sparse != before_.sparse.end() && other != after_.sparse.end() && sparse->second == other->second;
    const int x = before_.index.producer(a), y = after_.index.producer(b);
    if (x < 0 || y < 0) return x < 0 && y < 0 && a == b;  // graph inputs
    return nodes_alike(x, a, y, b);
  }

  bool nodes_alike(int x, const std::string& a, int y, const std::string& b) {
    const GraphIndex::Node& node = before_.index.nodes()[static_cast<size_t>(x)];
    const GraphIndex::Node& other = after_.index.nodes()[static_cast<size_t>(y)];
    const ::onnx::NodeProto& p = before_.node(node);
    const ::onnx::NodeProto& q = after_.node(other);
    auto position = [](const ::onnx::NodeProto& proto, const std::string& tensor) {
      return std::find(proto.output().begin(), proto.output().end(), tensor) - proto.output().begin();
    };
    if (position(p, a) != position(q, b) || !outputs_alike(p, q)) return false;
    // One node for one node: two random numbers are not one that is read twice.
    const bool seen = forward_.emplace(x, y).second == false, taken = backward_.emplace(y, x).second == false;
    if (seen || taken) return forward_[x] == y && backward_[y] == x;
    // Bodies know outer tensors by name.
    if (node.op != other.op || p.input_size() != q.input_size() || node.captures != other.captures ||
        attributes_of(p) != attributes_of(q))
      return false;
    for (int i = 0; i < p.input_size(); ++i) open_.emplace_back(p.input(i), q.input(i));
    for (const std::string& capture : node.captures) open_.emplace_back(capture, capture);
    return true;
  }

  // Their number can decide what is computed: Split takes its sizes from it.
  static bool outputs_alike(const ::onnx::NodeProto& p, const ::onnx::NodeProto& q) {
    return std::equal(p.output().begin(), p.output().end(), q.output().begin(), q.output().end(),
                      [](const std::string& a, const std::string& b) { return a.empty() == b.empty(); });
  }

  const Described& before_;
  const Described& after_;
  std::vector<std::pair<std::string, std::string>> open_;
  std::map<int, int> forward_, backward_;
  Pairs pairs_;
};

// Of constants whose place does not tell: by values and name, then by values (exporters number their constants, and
// numbers shift), then by name.
class ByContent {
 public:
  ByContent(const Described& before, const Described& after, std::set<std::string> rest_before,
            std::set<std::string> rest_after)
      : before_(before.constants),
        after_(after.constants),
        rest_before_(std::move(rest_before)),
        rest_after_(std::move(rest_after)) {}

  void pair(Pairing& pairing) {
    take([&](const std::string& name) { return same_as(name) ? name : std::string(); },
         [&](const std::string& name, const std::string&) { pairing.same.push_back(name); });
    std::multimap<std::string, std::string> by_hash;
    for (const std::string& name : rest_after_) by_hash.emplace(after_.at(name).hash, name);
    auto same_values = [&](const std::string& name) -> std::string {
      const auto it = by_hash.lower_bound(before_.at(name).hash);
      if (it == by_hash.end() || it->first != before_.at(name).hash) return {};
      std::string found = it->second;
      by_hash.erase(it);
      return found;
    };
    take(same_values, [&](const std::string& a, const std::string& b) { pairing.renamed.emplace_back(a, b); });
    take([&](const std::string& name) { return rest_after_.count(name) != 0 ? name : std::string(); },
         [&](const std::string& a, const std::string& b) { pairing.changed.emplace_back(a, b); });
    pairing.removed.assign(rest_before_.begin(), rest_before_.end());
    pairing.added.assign(rest_after_.begin(), rest_after_.end());
  }

 private:
  bool same_as(const std::string& name) const {
    return rest_after_.count(name) != 0 && after_.at(name).hash == before_.at(name).hash;
  }
  template <class Find, class Found>
  void take(const Find& find, const Found& found) {
    for (auto it = rest_before_.begin(); it != rest_before_.end();) {
      const std::string other = find(*it);
      if (other.empty()) {
        ++it;
        continue;
      }
      found(*it, other);
      rest_after_.erase(other);
      it = rest_before_.erase(it);
    }
  }
  const std::map<std::string, Constant>& before_;
  const std::map<std::string, Constant>& after_;
  std::set<std::string> rest_before_, rest_after_;
};

Pairing pair_constants(const Described& before, const Described& after, const SideBySide::Pairs& by_place) {
  Pairing pairing;
  std::set<std::string> rest_before, rest_after;
  for (const auto& [name, constant] : before.constants) rest_before.insert(name);
  for (const auto& [name, constant] : after.constants) rest_after.insert(name);
  // A constant that is read in several places may be several in the other model: the first that differs counts.
  std::map<std::string, std::string> partners;
  for (const auto& [a, b] : by_place) {
    rest_after.erase(b);
    const bool differs = before.constants.at(a).hash != after.constants.at(b).hash;
    const auto [it, fresh] = partners.emplace(a, b);
    if (!fresh && differs && before.constants.at(a).hash == after.constants.at(it->second).hash) it->second = b;
  }
  for (const auto& [a, b] : partners) {
    rest_before.erase(a);
    if (before.constants.at(a).hash != after.constants.at(b).hash)
      pairing.changed.emplace_back(a, b);
    else if (a == b)
      pairing.same.push_back(a);
    else
      pairing.renamed.emplace_back(a, b);
  }
  ByContent(before, after, std::move(rest_before), std::move(rest_after)).pair(pairing);
  for (const auto& [name, constant] : before.constants) pairing.before_ids[name] = "values " + constant.hash;
  for (const auto& [name, constant] : after.constants) pairing.after_ids[name] = "values " + constant.hash;
  for (const auto& [a, b] : pairing.changed) pairing.before_ids[a] = pairing.after_ids[b] = "constant " + a;
  return pairing;
}

std::string functions_of(const Described& described) {
  std::set<std::string> functions;
  for (const auto& function : described.hashed.proto().functions()) functions.insert(serialized(function));
  std::string text;
  for (const std::string& function : functions) text += hash_text(function);
  return text;
}

// --- nodes by name

struct NodeText {
  std::string op, attributes, inputs;
};

std::map<std::string, NodeText> nodes_of(const Described& described, const std::map<std::string, std::string>& ids) {
  std::map<std::string, NodeText> nodes;
  for (const GraphIndex::Node& node : described.index.nodes()) {
    const ::onnx::NodeProto& proto = described.node(node);
    if (holds_constant(proto)) continue;
    NodeText text{node.op, attributes_of(proto), {}};
    auto add = [&](const std::string& tensor) {
      const auto it = ids.find(tensor);
      text.inputs += (it == ids.end() ? "tensor " + tensor : it->second) + "\n";
    };
    for (const std::string& input : proto.input()) add(input);
    for (const std::string& capture : node.captures) add(capture);
    std::string name = node.name;
    for (int n = 2; nodes.count(name) != 0; ++n) name = fmt::format("{} ({})", node.name, n);  // names may repeat
    nodes.emplace(std::move(name), std::move(text));
  }
  return nodes;
}

std::string what_changed(const NodeText& a, const NodeText& b) {
  if (a.op != b.op) return "operator";
  if (a.attributes != b.attributes) return "attributes";
  return a.inputs != b.inputs ? "reads other tensors" : "";
}

void compare_nodes(const std::map<std::string, NodeText>& before, const std::map<std::string, NodeText>& after,
                   ComparedGraph& graph) {
  for (const auto& [name, node] : before) {
    const auto it = after.find(name);
    if (it == after.end()) {
      graph.nodes.push_back({name, Difference::kRemoved, node.op, {}, {}});
    } else if (const std::string what = what_changed(node, it->second); !what.empty()) {
      graph.nodes.push_back({name, Difference::kChanged, node.op, it->second.op, what});
    }
  }
  for (const auto& [name, node] : after)
    if (before.count(name) == 0) graph.nodes.push_back({name, Difference::kAdded, {}, node.op, {}});
}

ComparedGraph compare_graphs(const Described& before, const Described& after, const Pairing& pairing, bool same) {
  ComparedGraph graph;
  graph.same = same;
  const auto nodes_before = nodes_of(before, pairing.before_ids), nodes_after = nodes_of(after, pairing.after_ids);
  graph.nodes_before = nodes_before.size();
  graph.nodes_after = nodes_after.size();
  std::map<std::string, OperatorCount> counts;
  for (const auto& [name, node] : nodes_before) ++counts[node.op].before;
  for (const auto& [name, node] : nodes_after) ++counts[node.op].after;
  for (auto& [op, count] : counts) {
    count.op = op;
    if (count.before != count.after) graph.operators.push_back(count);
  }
  if (!same) compare_nodes(nodes_before, nodes_after, graph);
  return graph;
}

// --- constants

std::optional<SideInfo> side_of(const Model& model, const Constant& constant) {
  const auto dtype = onnx_model::dtype_of(*constant.proto, model.subject());
  if (!dtype) return std::nullopt;
  return SideInfo{*dtype, Shape(constant.proto->dims().begin(), constant.proto->dims().end())};
}

Result<ComparedConstant> compare_constant(const Described& before, const Described& after, const std::string& name,
                                          const std::string& after_name, int threads) {
  ComparedConstant compared;
  compared.name = name;
  if (after_name != name) compared.after_name = after_name;
  const Constant& a = before.constants.at(name);
  const Constant& b = after.constants.at(after_name);
  compared.before = side_of(before.model, a);
  compared.after = side_of(after.model, b);
  compared.before_sha256 = a.hash;
  compared.after_sha256 = b.hash;
  if (!compared.before || !compared.after || compared.before->shape != compared.after->shape) return compared;
  PARITAS_ASSIGN(const Tensor x, before.model.tensor(*a.proto));
  PARITAS_ASSIGN(const Tensor y, after.model.tensor(*b.proto));
  MetricOptions options;
  options.threads = threads;
  PARITAS_ASSIGN(compared.metrics, compare_tensors(x, y, options));
  return compared;
}

// Those without figures first, then by NMSE, infinite and NaN ahead of all numbers.
double rank(const ComparedConstant& constant) {
  if (!constant.metrics || std::isnan(constant.metrics->nmse)) return std::numeric_limits<double>::infinity();
  return constant.metrics->nmse;
}

Status add_constants(const Described& before, const Described& after, const Pairing& pairing, int threads,
                     ComparedPart& part) {
  for (const std::string& name : pairing.same)
    if (before.constants.at(name).in_node != after.constants.at(name).in_node) ++part.rehoused;
  part.same = pairing.same.size();
  part.renamed = pairing.renamed.size();
  part.changed = pairing.changed.size();
  part.added = pairing.added.size();
  part.removed = pairing.removed.size();
  for (const auto& [name, after_name] : pairing.changed) {
    PARITAS_ASSIGN(ComparedConstant constant, compare_constant(before, after, name, after_name, threads));
    part.constants.push_back(std::move(constant));
  }
  std::stable_sort(part.constants.begin(), part.constants.end(), [](const auto& a, const auto& b) {
    return std::pair(rank(a), a.metrics ? a.metrics->max_abs : 0) >
           std::pair(rank(b), b.metrics ? b.metrics->max_abs : 0);
  });
  for (const std::string& name : pairing.added) {
    const Constant& constant = after.constants.at(name);
    part.constants.push_back(
        {name, {}, Difference::kAdded, {}, side_of(after.model, constant), {}, constant.hash, {}, {}});
  }
  for (const std::string& name : pairing.removed) {
    const Constant& constant = before.constants.at(name);
    part.constants.push_back(
        {name, {}, Difference::kRemoved, side_of(before.model, constant), {}, constant.hash, {}, {}, {}});
  }
  return {};
}

void add_functions(const Described& before, const Described& after, const std::string& part,
                   std::vector<PackageFact>& facts) {
  if (functions_of(before) != functions_of(after))
    facts.push_back({"graph", fmt::format("part {}: model-local functions", part),
                     fmt::format("{} functions", before.model.proto().functions_size()),
                     fmt::format("{} functions, with other content", after.model.proto().functions_size())});
}

}  // namespace

Result<std::string> content_hash(const Tensor& tensor) {
  Sha256 hash;
  const std::string head = fmt::format("{} {}\n", name(tensor.dtype), to_string(tensor.shape));
  hash.update(std::as_bytes(std::span(head)));
  std::vector<std::byte> buffer(static_cast<size_t>(std::min<uint64_t>(tensor.bytes.size(), kReadBytes)));
  for (uint64_t at = 0; at < tensor.bytes.size(); at += buffer.size()) {
    const auto part =
        std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(buffer.size(), tensor.bytes.size() - at)));
    PARITAS_TRY(tensor.bytes.read(at, part));
    hash.update(part);
  }
  return hash.finish();
}

Result<ComparedPart> compare_models(const Path& before_file, const Path& after_file, const std::string& name,
                                    int threads, std::vector<PackageFact>& facts) {
  PARITAS_ASSIGN(const Described before, Described::of(before_file));
  PARITAS_ASSIGN(const Described after, Described::of(after_file));
  const auto by_place = SideBySide(before, after).constants();
  const bool same = by_place.has_value();
  const Pairing pairing = pair_constants(before, after, by_place.value_or(SideBySide::Pairs()));
  ComparedPart part;
  part.name = name;
  part.told_by = "content";
  const size_t known = facts.size();
  compare_frames(before.hashed.proto(), after.hashed.proto(), name, facts);
  add_functions(before, after, name, facts);
  PARITAS_TRY(add_constants(before, after, pairing, threads, part));
  part.graph = compare_graphs(before, after, pairing, same);
  const bool stated = std::any_of(facts.begin() + static_cast<std::ptrdiff_t>(known), facts.end(),
                                  [](const PackageFact& fact) { return fact.matters; });
  if (part.weights_changed() || !same || stated) part.difference = Difference::kChanged;
  return part;
}

}  // namespace paritas::package_diff
