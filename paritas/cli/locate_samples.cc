#include "paritas/cli/locate_samples.h"

#include <CLI/CLI.hpp>

#include "paritas/vendor/import.h"

namespace paritas::cli {

void add_samples_flags(CLI::App& command, SamplesFlags& flags) {
  command
      .add_option("--inputs", flags.inputs,
                  "Take inputs from a recording, test_data_set folders or anything else that compare reads; -i then "
                  "gives inputs that are the same for every sample")
      ->type_name("FOLDER|FILE");
  command.add_option("--samples", flags.samples, "Only samples FIRST to END - 1")->type_name("FIRST:END");
  command
      .add_option("--resume", flags.resume,
                  "Keep what each sample came to in FOLDER; a run that was ended goes on from there")
      ->type_name("FOLDER");
}

Result<std::unique_ptr<SampleSource>> sample_source(const SamplesFlags& flags, const RunOptions& run,
                                                    const Path& model) {
  SampleRange range;
  if (!flags.samples.empty()) {
    PARITAS_ASSIGN(range, parse_sample_range(flags.samples));
  }
  PARITAS_ASSIGN(auto given, load_inputs(run.inputs));
  if (flags.inputs.empty()) {
    if (range.first >= given.size()) return usage_error("--samples " + flags.samples, "there are fewer samples");
    return given_samples(std::move(given), range);
  }
  if (given.size() != 1)
    return usage_error("--input", "gives several samples, and so does --inputs",
                       "give with --input what is the same for every sample");
  ImportOptions options;
  options.model = model;
  options.with_names_and_format = false;
  PARITAS_ASSIGN(auto stream, open_any(flags.inputs, options));
  PARITAS_ASSIGN(const auto loaded, onnx_model::Model::load(model));
  return recorded_samples(std::move(stream), loaded, std::move(given.front()), range);
}

bool many(const SamplesFlags& flags, const SampleSource& samples) {
  return samples.count() > 1 || !flags.resume.empty();
}

}  // namespace paritas::cli
