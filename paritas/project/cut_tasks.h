// The tasks of a project as judges of the cells of a cross matrix.
#pragma once

#include "paritas/locate/cuts.h"
#include "paritas/project/project.h"

namespace paritas {

// Runs every task but commands (those read recordings, and a cell has none) on one sample: `inputs` are what was fed.
// `labels`: of a classification, by task, for this sample alone. An empty function when there is no such task.
JudgeTasks cell_judge(const Project& project, const NamedTensors& inputs,
                      const std::map<std::string, std::vector<int64_t>>& labels,
                      const std::map<std::string, Quantisation>& quantisation);

}  // namespace paritas
