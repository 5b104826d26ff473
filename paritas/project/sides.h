// The two sides of a check as streams: recordings of runs that were just made, or what the project file points to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "paritas/project/project.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/vendor/import.h"

namespace paritas {

// What a side is read from. It is opened once, since opening may mean decoding hundreds of megabytes.
struct OpenSide {
  Path path;                             // recording or dump
  std::string subject;                   // for messages
  ImportOptions options;                 // of dumps
  std::shared_ptr<SampleStream> stream;  // as on disk; nullptr before open_side()

  const RunInfo& info() const { return stream->info(); }
};

Status open_side(OpenSide& side);

// The opened side with the declared quantisation where it has none of its own. `renames`: name on disk -> name in the
// stream. Views of one side share what was opened: they are read one after the other.
std::unique_ptr<SampleStream> view(const OpenSide& side, const std::map<std::string, Quantisation>& quantisation,
                                   const std::map<std::string, std::string>& renames);

}  // namespace paritas
