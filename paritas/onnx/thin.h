// Reads the protobuf wire format of a ModelProto just far enough to leave its large tensors out. What remains is small,
// whatever the size of the weights, and can be given to the protobuf library, which would copy every byte (and stops at
// 2 GiB). Field numbers: onnx-ml.proto. Wire format: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "paritas/base/error.h"

namespace paritas::onnx_model {

struct LeftOut {
  uint64_t offset = 0;  // bytes, from the start of the serialised model
  uint64_t size = 0;    // bytes
};

struct ThinModel {
  std::string bytes;              // a serialised ModelProto
  std::vector<LeftOut> left_out;  // entry N is what the external location weight_key(N) stands for
};

// "paritas:N": the external location of tensors whose data the thin model only refers to.
std::string weight_key(size_t number);

// Every raw_data, and every packed float_data or double_data whose bytes are the tensor's own, of kInlineLimit bytes or
// more is replaced by an external location: initialisers, attributes, bodies, sparse tensors, functions. Touches only
// the bytes between the large tensors. Costs memory in proportion to what remains. Fails for bytes that are no protobuf
// message or that nest deeper than any real graph.
Result<ThinModel> leave_out_large_tensors(std::span<const std::byte> model, const std::string& subject);

}  // namespace paritas::onnx_model
