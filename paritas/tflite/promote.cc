#include "paritas/tflite/promote.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/tflite/reader.h"

namespace paritas::tflite {
namespace {

// An offset of a flatbuffer that is to point elsewhere: position in the file, new target in the file.
struct Redirection {
  uint64_t at = 0;
  uint64_t target = 0;
};

Status copy_range(const File& file, uint64_t from, uint64_t to, AtomicFile& out) {
  std::vector<std::byte> block(1 << 20);
  while (from < to) {
    const auto part = std::span(block).first(std::min<uint64_t>(block.size(), to - from));
    PARITAS_TRY(file.read(from, part));
    PARITAS_TRY(out.write(part));
    from += part.size();
  }
  return {};
}

std::span<const std::byte> bytes_of(const std::vector<uint32_t>& words) { return std::as_bytes(std::span(words)); }

Status write_redirected(const File& file, std::vector<Redirection> changes, const std::vector<uint32_t>& tail,
                        uint64_t padding, const Path& to) {
  PARITAS_ASSIGN(AtomicFile out, AtomicFile::create(to, /*overwrite=*/true));
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  uint64_t done = 0;
  for (const Redirection& change : changes) {
    PARITAS_TRY(copy_range(file, done, change.at, out));
    const auto offset = static_cast<uint32_t>(change.target - change.at);
    PARITAS_TRY(out.write(std::as_bytes(std::span(&offset, 1))));
    done = change.at + sizeof offset;
  }
  PARITAS_TRY(copy_range(file, done, file.size(), out));
  const std::vector<std::byte> zeros(padding);
  PARITAS_TRY(out.write(zeros));
  PARITAS_TRY(out.write(bytes_of(tail)));
  return out.commit();
}

// Tables of a hostile file may lie one upon the other: then the two offsets are more than that.
Status check_promoted(const Model& model, const std::vector<int>& tensors, const Path& to) {
  std::vector<int> outputs = model.main().outputs;
  outputs.insert(outputs.end(), tensors.begin(), tensors.end());
  const auto again = Model::load(to);
  const bool same = again && again->signatures().empty() && again->main().outputs == outputs &&
                    again->main().inputs == model.main().inputs &&
                    again->main().tensors.size() == model.main().tensors.size() &&
                    again->main().ops.size() == model.main().ops.size() &&
                    promotable(*again).size() + tensors.size() == promotable(model).size();
  if (same) return {};
  std::error_code ignored;
  std::filesystem::remove(to, ignored);
  return input_error(model.subject(), "parts of the file lie one upon the other, so that no output can be added to it",
                     "convert the model again, or record its outputs only (--marks none)");
}

}  // namespace

std::vector<int> promotable(const Model& model) {
  const Graph& graph = model.main();
  std::unordered_set<int> taken(graph.outputs.begin(), graph.outputs.end());
  std::vector<int> result;
  for (const Op& op : graph.ops)
    for (const int output : op.outputs) {
      const GraphTensor& tensor = graph.tensors[static_cast<size_t>(output)];
      if (tensor.dtype && !tensor.variable && !tensor.constant && taken.insert(output).second) result.push_back(output);
    }
  return result;
}

Status promote(const Model& model, const std::vector<int>& tensors, const Path& to) {
  PARITAS_ASSIGN(const Verified verified, verify_file(model.path()));
  const uint8_t* base = verified.flatbuffer.data();
  const container::SubGraph& graph = *verified.model->subgraphs()->Get(0);
  const auto* root = reinterpret_cast<const flatbuffers::Table*>(verified.model);
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(&graph);
  const uint8_t* outputs = table->GetAddressOf(container::SubGraph::VT_OUTPUTS);
  if (outputs == nullptr) return input_error(model.subject(), "its graph has no outputs, so none can be added");
  constexpr uint64_t kAlignment = 4;
  const uint64_t size = verified.file->size();
  const uint64_t padding = (kAlignment - size % kAlignment) % kAlignment;
  const uint64_t list = size + padding;

  std::vector<uint32_t> tail;
  const auto* old = graph.outputs();
  tail.push_back(old->size() + static_cast<uint32_t>(tensors.size()));
  for (const int32_t index : *old) tail.push_back(static_cast<uint32_t>(index));
  for (const int index : tensors) tail.push_back(static_cast<uint32_t>(index));
  std::vector<Redirection> changes = {{static_cast<uint64_t>(outputs - base), list}};
  if (const uint8_t* signatures = root->GetAddressOf(container::Model::VT_SIGNATURE_DEFS)) {
    changes.push_back({static_cast<uint64_t>(signatures - base), list + tail.size() * sizeof(uint32_t)});
    tail.push_back(0);  // an empty list
  }
  if (list + tail.size() * sizeof(uint32_t) > FLATBUFFERS_MAX_BUFFER_SIZE)
    return input_error(model.subject(), "is too large for its intermediate tensors to be made outputs",
                       "record its outputs only (--marks none)");
  PARITAS_TRY(write_redirected(*verified.file, std::move(changes), tail, padding, to));
  return check_promoted(model, tensors, to);
}

}  // namespace paritas::tflite
