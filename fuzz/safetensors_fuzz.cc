// Any bytes as a safetensors file: refused with a cause, or tensors that together cover the data exactly.
#include <vector>

#include "fuzz/memory_file.h"
#include "paritas/tensor/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile memory(data, size);
  const auto file = read_safetensors(memory.path());
  if (!file) {
    require(!file.error().cause.empty() && !file.error().subject.empty());
    return 0;
  }
  uint64_t at = file->tensors.empty() ? size : file->tensors.front().second.bytes.offset();
  for (const auto& [name, tensor] : file->tensors) {
    require(tensor.bytes.offset() == at);
    require(tensor.bytes.size() == byte_size(tensor.dtype, tensor.count()));
    at += tensor.bytes.size();
    const auto view = TensorView::of(tensor);
    require(view.has_value());
    std::vector<double> values(view->count());
    load_as_double(view->dtype(), view->bytes(), 0, values);
  }
  require(at == size);
  return 0;
}
