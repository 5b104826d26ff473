#include "paritas/placement/name_map.h"

#include <algorithm>

namespace paritas {
namespace {

constexpr std::string_view kMatMulAdd = "/MatMulAddFusion";
constexpr std::string_view kNewReshape = "_new_reshape";
constexpr std::string_view kBlocked = "_nchwc";
constexpr std::string_view kDuplicated = "/duplicated";
constexpr std::string_view kFreeCast = "InsertedPrecisionFreeCast_";  // of the tensor behind it, to float32
constexpr std::string_view kFusion = "Fusion";
constexpr size_t kMaxPieces = 16;  // of one name; real ones have two

// "X_token_12" -> "X"
std::string without_token(const std::string& name) {
  const auto at = name.rfind("_token_");
  if (at == std::string::npos || at + 7 >= name.size()) return name;
  for (size_t i = at + 7; i < name.size(); ++i)
    if (name[i] < '0' || name[i] > '9') return name;
  return name.substr(0, at);
}

// "X/QuickGeluFusion/" -> "X"
std::string without_fusion(const std::string& name) {
  const std::string_view text = name.ends_with("/") ? std::string_view(name).substr(0, name.size() - 1) : name;
  const auto at = text.rfind('/');
  if (!text.ends_with(kFusion) || at == std::string_view::npos || at == 0) return name;
  const auto word = text.substr(at + 1);
  const bool letters =
      std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
  return letters ? without_fusion(name.substr(0, at)) : name;  // one may follow the other
}

// What ONNX Runtime folds or fuses into the convolution in front of it.
bool joins_convolution(const std::string& op) {
  static const std::unordered_set<std::string> ops = {
      "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid", "Add", "Mul", "Sum", "BatchNormalization"};
  return ops.count(op) != 0;
}

std::string without_suffix(const std::string& name, std::string_view suffix) {
  const bool has = name.size() > suffix.size() && name.ends_with(suffix);
  return has ? name.substr(0, name.size() - suffix.size()) : name;
}

}  // namespace

NameMap::NameMap(const onnx_model::GraphIndex& index) : index_(index) {
  for (size_t i = 0; i < index.nodes().size(); ++i)
    if (!by_name_.emplace(index.nodes()[i].name, static_cast<int>(i)).second) ambiguous_.insert(index.nodes()[i].name);
  for (const std::string& name : ambiguous_) by_name_.erase(name);
  for (const auto& node : index.nodes())  // topological order
    constant_.push_back(std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
      const int maker = index.producer(input);
      return maker >= 0 ? constant_[static_cast<size_t>(maker)] : index.is_initializer(input);
    }));
  add_numbered();
}

// ONNX Runtime calls a node without a name by its operator and its number. Constant nodes have none: they are read as
// initialisers first.
void NameMap::add_numbered() {
  std::vector<int> by_position(index_.nodes().size(), -1);
  for (size_t i = 0; i < index_.nodes().size(); ++i) {
    const auto position = static_cast<size_t>(index_.nodes()[i].proto_index);
    if (position >= by_position.size()) return;
    by_position[position] = static_cast<int>(i);
  }
  size_t number = 0;
  for (const int at : by_position) {
    if (at < 0) return;
    const auto& node = index_.nodes()[static_cast<size_t>(at)];
    if (node.op == "Constant") continue;
    const bool nameless = !node.outputs.empty() && node.name == node.outputs.front();
    const auto domain = node.op.rfind("::");
    const std::string op = domain == std::string::npos ? node.op : node.op.substr(domain + 2);
    if (nameless) numbered_.emplace(op + "_" + std::to_string(number), at);
    ++number;
  }
}

int NameMap::exact(const std::string& name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? -1 : it->second;
}

std::vector<std::string> NameMap::candidates(const std::string& optimised) {
  const std::string plain = without_suffix(without_token(optimised), kNewReshape);
  return {optimised, without_token(optimised), plain, without_token(plain), without_suffix(optimised, kDuplicated)};
}

bool NameMap::is_ambiguous(const std::string& optimised) const {
  for (const std::string& name : candidates(optimised)) {
    if (ambiguous_.count(name) != 0 || ambiguous_.count(without_suffix(name, kMatMulAdd)) != 0 ||
        ambiguous_.count(without_fusion(name)) != 0)
      return true;
    if (by_name_.count(name) != 0) return false;
  }
  return false;
}

std::vector<int> NameMap::find(const std::string& optimised) const {
  if (is_ambiguous(optimised)) return {};
  for (const std::string& name : candidates(optimised)) {
    if (const int node = exact(name); node >= 0) return {node};
    if (name.size() > kMatMulAdd.size() && name.ends_with(kMatMulAdd)) {
      const int matmul = exact(without_suffix(name, kMatMulAdd));
      if (matmul >= 0) return with_add(matmul);
    }
    if (const int node = exact(without_fusion(name)); node >= 0) return {node};
  }
  return in_blocked_layout(optimised);
}

int NameMap::numbered(const std::string& optimised) const {
  const auto it = numbered_.find(optimised);
  return it == numbered_.end() || exact(optimised) >= 0 ? -1 : it->second;
}

std::vector<int> NameMap::in_blocked_layout(const std::string& optimised) const {
  std::string tensor = without_suffix(optimised, kBlocked);
  if (tensor == optimised || exact(optimised) >= 0) return {};
  if (index_.producer(tensor) < 0 && tensor.starts_with(kFreeCast)) tensor.erase(0, kFreeCast.size());
  int node = index_.producer(tensor);
  if (node < 0) return {};
  std::vector<int> found = {node};
  // Back through what was fused, as long as there is one way to go: an addition of two results may have taken either.
  while (joins_convolution(index_.nodes()[static_cast<size_t>(node)].op)) {
    int before = -1, makers = 0;
    for (const std::string& input : index_.nodes()[static_cast<size_t>(node)].inputs)
      if (const int maker = index_.producer(input); maker >= 0 && !constant_[static_cast<size_t>(maker)]) {
        before = maker;
        ++makers;
      }
    if (makers != 1 || index_.consumers(index_.nodes()[static_cast<size_t>(before)].outputs.front()).size() != 1) break;
    node = before;
    const std::string& op = index_.nodes()[static_cast<size_t>(node)].op;
    if (op != "Conv" && !joins_convolution(op)) break;
    found.push_back(node);
  }
  // A chain without a convolution was fused into nothing.
  if (found.size() > 1 && index_.nodes()[static_cast<size_t>(found.back())].op != "Conv") found.resize(1);
  return found;
}

std::vector<int> NameMap::with_add(int matmul) const {
  std::vector<int> found = {matmul};
  for (const std::string& output : index_.nodes()[static_cast<size_t>(matmul)].outputs)
    for (int consumer : index_.consumers(output))
      if (index_.nodes()[static_cast<size_t>(consumer)].op == "Add") found.push_back(consumer);
  return found;
}

std::vector<int> NameMap::find_joined(const std::vector<std::string>& pieces, size_t* unknown) const {
  std::vector<int> found;
  size_t left = 0;
  for (size_t i = 0; i < pieces.size();) {
    std::string name = pieces[i];
    std::vector<int> nodes = find(name);
    size_t used = 1;
    for (size_t more = 1; nodes.empty() && more < kMaxPieces && i + more < pieces.size(); ++more) {
      name += ";" + pieces[i + more];
      nodes = find(name);
      if (!nodes.empty()) used = more + 1;
    }
    if (nodes.empty() && !is_made_up(pieces[i])) ++left;
    found.insert(found.end(), nodes.begin(), nodes.end());
    i += used;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (unknown != nullptr) *unknown = left;
  return found;
}

bool is_made_up(const std::string& optimised) {
  if (optimised.find("__paritas_") != std::string::npos) return true;  // our own edits
  const std::string plain = without_token(without_suffix(without_token(optimised), kNewReshape));
  if (optimised.starts_with(kFreeCast)) return true;
  if (plain == "ReorderInput" || plain == "ReorderOutput") return true;  // to blocked layout and back
  if (plain.rfind("gemm_input_", 0) == 0 || plain.rfind("gemm_output_", 0) == 0) return true;
  // A bare operator with a number: "Transpose_token_417".
  return plain != optimised && !plain.empty() && std::all_of(plain.begin(), plain.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

}  // namespace paritas
