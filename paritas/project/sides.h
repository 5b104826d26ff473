// The two sides of a check as streams: recordings of runs that were just made, or what the project file points to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "paritas/project/project.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/vendor/import.h"

namespace paritas {

// How to open a side; it is opened anew by everything that reads it.
struct OpenSide {
  Path path;              // recording or dump
  std::string subject;    // for messages
  ImportOptions options;  // of dumps
};

// With the declared quantisation where the recording has none. `renames`: name on disk -> name in the stream.
Result<std::unique_ptr<SampleStream>> open_side(const OpenSide& side,
                                                const std::map<std::string, Quantisation>& quantisation,
                                                const std::map<std::string, std::string>& renames);

}  // namespace paritas
