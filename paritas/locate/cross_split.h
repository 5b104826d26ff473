// Do the halves of a cut compose to the whole, on the reference? The premise of every other cell. Internal to locate.
#pragma once

#include "paritas/locate/cross_cell.h"
#include "paritas/locate/cross_worker.h"

namespace paritas {

class SplitCheck {
 public:
  // All must outlive this object. `whole`: outputs of the uncut model. What is found out is added to `findings`.
  SplitCheck(const CrossMatrixRequest& request, const CellJudge& judge, CrossWorker& reference,
             const NamedTensors& whole, std::vector<Finding>& findings)
      : request_(request), judge_(judge), reference_(reference), whole_(whole), findings_(findings) {}

  // Fills split, the first cell and, where the split is wrong, everything. `composed`: the halves on the reference.
  Status check(const onnx_model::Cut& cut, const onnx_model::Halves& halves, const Composed& composed,
               CrossMatrix& matrix);

 private:
  bool is_drawn(const std::string& tensor) const;
  Result<bool> equal_outputs(const NamedTensors& a, const NamedTensors& b) const;
  void all_drawn(CrossMatrix& matrix) const;
  Result<catalogue::SplitFacts> largest_difference(const onnx_model::Cut& cut, const NamedTensors& a,
                                                   const NamedTensors& b,
                                                   std::vector<std::pair<std::string, PairMetrics>>* all) const;
  int repeats_needed() const;
  Status explain_difference(const onnx_model::Cut& cut, const onnx_model::Halves& halves, const Composed& composed,
                            CrossMatrix& matrix);
  Status invalid(Finding finding, CrossMatrix& matrix);
  Status first_difference(const onnx_model::Cut& cut, const onnx_model::Halves& halves, CrossWorker& worker,
                          catalogue::SplitFacts& facts) const;

  const CrossMatrixRequest& request_;
  const CellJudge& judge_;
  CrossWorker& reference_;
  const NamedTensors& whole_;
  std::vector<Finding>& findings_;
  int plain_workers_ = 0;
};

}  // namespace paritas
