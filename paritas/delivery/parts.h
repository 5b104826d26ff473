// A model taken apart at one or more cuts: models of the parts, with stable names for what they hand on. Nothing is
// evaluated here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/onnx/cut.h"
#include "paritas/package/manifest.h"

namespace paritas {

// Boundary tensors under their names in the package.
struct NamedCuts {
  onnx_model::Model model;                        // the whole, with these names
  std::vector<PackageCut> cuts;                   // without dtype, shape and sizes
  std::vector<std::vector<std::string>> tensors;  // of each cut, by the new names
};

// Resolves each cut's patterns on the whole model (pinned), in the order in which the parts follow each other, and
// renames. `names`: of the boundary tensors, in graph order cut by cut; empty: "feature_0", "feature_1"... Graph inputs
// and outputs that are cut keep their names and take none.
Result<NamedCuts> name_cuts(const onnx_model::Model& model, const std::vector<onnx_model::CutSpec>& cuts,
                            const std::vector<std::string>& names);

struct ModelPart {
  onnx_model::Model model;
  std::vector<PackagePort> inputs, outputs;  // names in the session are those in the package
  uint64_t nodes = 0;                        // that depend on input values
};

// `tensors` by name, as a run of the whole gave them: graph inputs, boundary tensors, outputs. `constants`: what
// part_constants() asked for.
Result<std::vector<ModelPart>> take_apart(const NamedCuts& named, const std::map<std::string, Tensor>& tensors,
                                          const std::map<std::string, Tensor>& constants);

// Tensors whose values become constants of a part: see Cut::constants.
Result<std::vector<std::string>> part_constants(const NamedCuts& named);

}  // namespace paritas
