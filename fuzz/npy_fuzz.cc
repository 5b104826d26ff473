// Any bytes as a .npy file: refused with a cause, or a tensor whose every byte can be read.
#include <vector>

#include "fuzz/memory_file.h"
#include "paritas/tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile file(data, size);
  const auto tensor = read_npy(file.path());
  if (!tensor) {
    require(!tensor.error().cause.empty() && !tensor.error().subject.empty());
    return 0;
  }
  require(tensor->bytes.size() <= size);
  require(tensor->bytes.size() == byte_size(tensor->dtype, tensor->count()));
  const auto view = TensorView::of(*tensor);
  require(view.has_value());
  std::vector<double> values(view->count());
  load_as_double(view->dtype(), view->bytes(), 0, values);
  return 0;
}
