// Reader of the profile that ONNX Runtime writes (session option enable_profiling): a JSON array of events in the form
// of Chrome's trace viewer. Keys read: cat, name, dur (microseconds), args.{provider, op_name, activation_size,
// output_size}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/files.h"

namespace paritas {

// One node of the executed graph. A partition that a provider compiled is one node, with a name that the provider made.
struct ProfiledNode {
  std::string name;
  std::string op;  // for a compiled partition a name too
  std::string provider;
  uint64_t calls = 0;
  uint64_t microseconds = 0;             // of all calls together
  std::optional<uint64_t> input_bytes;   // activations that one call read (weights not counted)
  std::optional<uint64_t> output_bytes;  // that one call wrote
};

struct OrtProfile {
  std::vector<ProfiledNode> nodes;  // in order of their first call; each name, operator and provider once
  uint64_t runs = 0;                // complete runs of the model
  uint64_t run_microseconds = 0;    // of all of them together

  uint64_t calls_on(const std::string& provider) const;
};

Result<OrtProfile> read_ort_profile(const Path& path);

}  // namespace paritas
