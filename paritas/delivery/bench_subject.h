// What can be timed: a model, or a package of parts.
#pragma once

#include "paritas/delivery/bench_types.h"

namespace paritas {

// The target as an application would use it: full optimisation where the user asks for none in particular, and the
// highest clock where the provider has a choice. What the user gave stays.
Target as_application(Target target);

// One stage. A file whose free dimensions the target does not take is pinned to the inputs' shapes (a copy is opened).
Result<BenchSubject> model_subject(const std::string& path, const Target& target, const NamedTensors& inputs,
                                   const std::map<std::string, int64_t>& dims);

// A stage for every part, opened from the shipped files, device parts without fallback to the CPU. Held against the
// reference in the package, judged by its gates. Without `inputs`: the first sample of that reference.
Result<BenchSubject> package_subject(const std::string& folder, const RuntimeSearch& search,
                                     const NamedTensors& inputs);

}  // namespace paritas
