// What a command of the user left, held against the model.
#pragma once

#include "paritas/board/board.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/vendor/model_facts.h"

namespace paritas {

struct BoardResult {
  std::vector<NamedTensors> samples;  // by the model's names where it knows them
  std::vector<TensorInfo> tensors;    // of all samples; nodes and quantisation are not filled in
  std::vector<std::string> notes;
};

// Reads `samples` samples from `folder`. Errors: nothing there; another number of samples; an output of the model that
// is missing; a file whose size or shape is not that of the model; two tensors that are one of the model's.
Result<BoardResult> read_outputs(const Board& board, const Path& folder, const ModelFacts& model, uint64_t samples,
                                 const Path& scratch);

}  // namespace paritas
