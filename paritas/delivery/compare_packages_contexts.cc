// Compiled parts of two packages. What is inside a context is the provider's own, so other bytes tell nothing but that
// they are others, save one thing: QNN names the partition anew in every session, and writes that name into the
// context. Two compilations of one model would so never be equal.
#include <algorithm>

#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/onnx/model.h"

namespace paritas::package_diff {
namespace {

constexpr size_t kShortestName = 8;    // what is shorter might stand in a context by chance
constexpr size_t kLengthBytes = 4;     // of a text's length, in front of it, as FlatBuffers store it
constexpr size_t kLongestPrefix = 64;  // bytes between such a length and a name that the text ends with

struct Context {
  ::onnx::ModelProto wrapper;  // without the names and without the context
  std::string name;            // of the partition
  std::string bytes;
};

// The one node of a context file. nullopt: more nodes than one, or a context that is not embedded.
std::optional<Context> read_context(const Path& file) {
  const auto model = onnx_model::Model::load(file);
  if (!model || model->graph().node_size() != 1 || model->graph().node(0).op_type() != "EPContext") return std::nullopt;
  Context context;
  context.wrapper = model->proto();
  auto& node = *context.wrapper.mutable_graph()->mutable_node(0);
  bool embedded = false;
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == "embed_mode") embedded = attribute.i() == 1;
    if (attribute.name() == "partition_name") context.name = std::move(*attribute.mutable_s());
    if (attribute.name() == "ep_cache_context") context.bytes = std::move(*attribute.mutable_s());
    if (attribute.name() == "partition_name" || attribute.name() == "ep_cache_context") attribute.clear_s();
  }
  if (!embedded || context.name.size() < kShortestName || context.bytes.empty()) return std::nullopt;
  if (node.name() == context.name) node.clear_name();
  return context;
}

// Both names stand at `at`, with zeros behind the shorter one.
bool names_at(const Context& a, const Context& b, size_t at) {
  const size_t longest = std::max(a.name.size(), b.name.size());
  auto holds = [&](const Context& context) {
    if (context.bytes.size() - at < longest || context.bytes.compare(at, context.name.size(), context.name) != 0)
      return false;
    for (size_t i = at + context.name.size(); i < at + longest; ++i)
      if (context.bytes[i] != '\0') return false;
    return true;
  };
  return holds(a) && holds(b);
}

// At `field` stands the length of a text that ends with the name at `name`: "PICKLE/256/<name>".
bool length_at(const Context& context, size_t field, size_t name) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length |= static_cast<uint32_t>(static_cast<unsigned char>(context.bytes[field + i])) << (8 * i);
  return length == name - (field + kLengthBytes) + context.name.size();
}

// [from, name) in front of a name is equal but for that length.
bool equal_in_front(const Context& a, const Context& b, size_t from, size_t name) {
  size_t first = from;
  while (first < name && a.bytes[first] == b.bytes[first]) ++first;
  if (first == name) return true;
  if (name - first > kLongestPrefix) return false;
  const size_t lowest = std::max(from, first < kLengthBytes ? 0 : first - (kLengthBytes - 1));
  for (size_t field = lowest; field <= first && field + kLengthBytes <= name; ++field)
    if (length_at(a, field, name) && length_at(b, field, name)) {
      const size_t behind = field + kLengthBytes;
      return a.bytes.compare(behind, name - behind, b.bytes, behind, name - behind) == 0;
    }
  return false;
}

// Equal byte by byte but for the names.
bool equal_but_for_name(const Context& a, const Context& b) {
  if (a.bytes.size() != b.bytes.size()) return false;
  size_t at = 0;
  while (true) {
    const size_t name = a.bytes.find(a.name, at);
    if (name == std::string::npos) return a.bytes.compare(at, std::string::npos, b.bytes, at, std::string::npos) == 0;
    if (!equal_in_front(a, b, at, name) || !names_at(a, b, name)) return false;
    at = name + std::max(a.name.size(), b.name.size());
  }
}

}  // namespace

bool same_context(const Path& before, const Path& after) {
  const auto a = read_context(before), b = read_context(after);
  if (!a || !b) return false;
  return a->wrapper.SerializeAsString() == b->wrapper.SerializeAsString() && equal_but_for_name(*a, *b);
}

}  // namespace paritas::package_diff
