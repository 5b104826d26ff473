// `paritas locate` over many samples: which samples, and where they are kept while it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paritas/cli/common.h"
#include "paritas/locate/samples.h"

namespace paritas::cli {

struct SamplesFlags {
  std::string inputs;   // a recording, or another source of samples
  std::string samples;  // "A:B"
  std::string resume;   // folder
};
void add_samples_flags(CLI::App& command, SamplesFlags& flags);

// The samples that -i, --inputs and --samples name together.
Result<std::unique_ptr<SampleSource>> sample_source(const SamplesFlags& flags, const RunOptions& run,
                                                    const Path& model);
// Whether they are to be diagnosed as many: more than one, or a state was asked for.
bool many(const SamplesFlags& flags, const SampleSource& samples);

}  // namespace paritas::cli
