// Any bytes as an ONNX TensorProto file.
#include "fuzz/read_found.h"
#include "paritas/vendor/tensor_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile file(data, size);
  read_found(find_tensor_proto_file(file.path()));
  return 0;
}
