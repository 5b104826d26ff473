// Any bytes as a cut file and as the text of --cut: refused with a cause, or cuts whose names and tensors are there.
#include "fuzz/memory_file.h"
#include "paritas/locate/cuts.h"

using namespace paritas;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto file = parse_cut_file(text, "fuzz")) {
    require(!file->cuts.empty());
    for (const StoredCut& cut : file->cuts) require(!cut.tensors.empty());
  } else {
    require(!file.error().cause.empty());
  }
  if (const auto spec = onnx_model::parse_cut(text, "fuzz")) {
    require(!spec->patterns.empty());
    for (const auto& pattern : spec->patterns) require(!pattern.empty());
  }
  return 0;
}
