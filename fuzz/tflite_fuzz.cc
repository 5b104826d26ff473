// Any bytes as a TFLite model: refused with a cause, or a model whose constants can be read and whose intermediate
// tensors can all be made outputs; the result is a model again, with the same graph and those outputs.
#include "fuzz/memory_file.h"
#include "paritas/tflite/promote.h"

namespace {

using namespace paritas;

void read_constants(const tflite::Model& model) {
  for (size_t g = 0; g < model.graphs().size(); ++g)
    for (const tflite::GraphTensor& tensor : model.graphs()[g].tensors) {
      const auto constant = model.constant(static_cast<int>(g), tensor.index);
      if (constant) require(constant->bytes.size() == byte_size(constant->dtype, constant->count()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile memory(data, size);
  const auto model = tflite::Model::load(memory.path());
  if (!model) {
    require(!model.error().cause.empty() && !model.error().subject.empty());
    return 0;
  }
  read_constants(*model);
  for (const tflite::Op& op : model->main().ops) require(!op.label().empty());
  const auto folder = ScratchFolder::create("/tmp");
  if (!folder) return 0;
  const Path promoted = folder->path() / "promoted.tflite";
  const auto more = tflite::promotable(*model);
  if (!tflite::promote(*model, more, promoted)) return 0;
  const auto again = tflite::Model::load(promoted);
  require(again.has_value());
  require(again->signatures().empty());
  require(again->main().ops.size() == model->main().ops.size());
  require(again->main().outputs.size() == model->main().outputs.size() + more.size());
  require(tflite::promotable(*again).empty());
  return 0;
}
