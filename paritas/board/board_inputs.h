// Samples as files that a command of the user can read.
#pragma once

#include "paritas/board/board.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

struct InputFile {
  std::string name;  // of the tensor
  std::string file;  // relative to the folder of inputs
};

// Writes one file a tensor (below a folder of the sample's number when there are several samples), input_list.txt with
// a line a sample, paths relative to `folder`, and inputs.json with names, types and shapes. Characters of names that
// are not letters, digits, "." or "-" become "_"; two tensors whose files would be one are an error. Returns the files
// of the first sample.
Result<std::vector<InputFile>> write_inputs(const std::vector<NamedTensors>& samples, bool npy, const Path& folder);

}  // namespace paritas
