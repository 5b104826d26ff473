// What an ONNX model states beside nodes and weights. Internal to delivery.
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/delivery/compare_packages_types.h"

namespace paritas::package_diff {

// The same content gives the same bytes.
std::string serialized(const google::protobuf::MessageLite& message);

// Facts of the area "graph": IR version, operator sets, declared inputs and outputs with their order, initialisers that
// are inputs too (so that a caller can replace them), metadata, and whatever else the file states. Functions, nodes and
// constants are compared elsewhere. Descriptions, the graph's name and the producer are no facts. Declared types of
// intermediate tensors do not matter by themselves.
void compare_frames(const ::onnx::ModelProto& before, const ::onnx::ModelProto& after, const std::string& part,
                    std::vector<PackageFact>& facts);

}  // namespace paritas::package_diff
