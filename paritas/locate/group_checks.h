// Errors of chosen tensors by groups: heads, tokens, channels, levels, queries, classes.
#pragma once

#include <string>
#include <vector>

#include "paritas/base/error.h"
#include "paritas/metrics/groups.h"
#include "paritas/onnx/graph_index.h"

namespace paritas {

struct Evidence;

struct GroupRequest {
  std::string text;    // as given
  std::string tensor;  // or a node, by its first output
  std::vector<int64_t> axes;
  std::vector<std::string> names;  // as many as axes, or none
};
// "TENSOR: axis=1", "TENSOR: axes=1,2 names=head,token"
Result<GroupRequest> parse_groups(const std::string& text);
// The tensor must be there; a node's name becomes that of its first output.
Status resolve_groups(std::vector<GroupRequest>& requests, const onnx_model::GraphIndex& index);

struct GroupReport {
  std::string tensor, node;
  std::vector<std::string> names;  // "head (axis 1)", one an axis
  std::string run;                 // local, accumulated
  GroupFigures figures;
};
// Local and accumulated (with the reference's decisions where they were fed) of each request; tensors without either
// give a note. Errors: axes beyond the tensor.
Result<std::vector<GroupReport>> group_reports(const Evidence& evidence, const std::vector<GroupRequest>& requests,
                                               std::vector<std::string>& notes);

}  // namespace paritas
