// ONNX TensorProto files (.pb) and the test_data_set_N folders of ONNX's own tests: input_K.pb and output_K.pb.
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

// One serialised TensorProto. Its raw_data stays in the file. `name` is what the proto says, possibly nothing.
struct TensorFile {
  std::string name;
  FoundTensor tensor;
};
Result<TensorFile> find_tensor_proto(const Path& path);

// A single .pb file: named by the proto, else by the file.
Result<Found> find_tensor_proto_file(const Path& path);

// One test_data_set_N, or a folder that holds several. Names come from the protos; nameless ones get the model's, whose
// K-th input input_K.pb is by definition of the layout; without a model they are refused.
Result<Found> find_test_data(const Path& folder, const ImportContext& context);

}  // namespace paritas
