// Equal rows: a batch of which every row is fed with the same values should answer the same in every row.
#pragma once

#include <string>

#include "paritas/onnx/edit.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

struct EqualRows {
  std::string not_applicable;  // why; empty: `inputs` holds the batch
  int64_t rows = 0;
  bool repinned = false;  // the given sample has one row: the free dimension takes two
  NamedTensors inputs;    // every row holds row 0
};
// Inputs without dimensions are fed as they are; all others must have one leading dimension in common.
Result<EqualRows> equal_rows(const onnx_model::Model& given, const NamedTensors& inputs);

// A tensor whose rows (first dimension) all hold row 0 of `tensor`, `rows` of them. Nullopt when rows do not end on
// whole bytes or there is none.
Result<std::optional<Tensor>> repeat_first_row(const Tensor& tensor, int64_t rows);

}  // namespace paritas
