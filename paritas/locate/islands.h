// What is probed together: single nodes, the device's fused groups, modules, known patterns, or what the user names.
#pragma once

#include <string>
#include <vector>

#include "paritas/onnx/edit.h"
#include "paritas/placement/node_table.h"

namespace paritas {

struct IslandChoice {
  enum class Kind {
    kFused,     // the device's fused groups where its op trace tells, else single nodes
    kNodes,     // single nodes
    kBlocks,    // all nodes of one innermost module path
    kPatterns,  // Softmax and normalisations that an exporter took apart
    kNamed,     // module paths, else nodes, that match `pattern`
  };
  Kind kind = Kind::kFused;
  std::string pattern;
  std::string text() const;  // as given
};
IslandChoice parse_islands(const std::string& text);

// A pattern must match something: an error names what there is.
Status check_islands(const IslandChoice& choice, const onnx_model::GraphIndex& index);

struct IslandGroup {
  std::string name;
  std::vector<int> nodes;  // ascending, two or more
};
// Disjoint. `fused`: the device's own groups. Only nodes that depend on input values.
std::vector<IslandGroup> island_groups(const IslandChoice& choice, const std::vector<FusedGroup>& fused,
                                       const onnx_model::Model& model, const onnx_model::GraphIndex& index,
                                       const onnx_model::ValueDependence& dependence);

}  // namespace paritas
