// Runs everything that locate needs and gathers the evidence.
#pragma once

#include "paritas/locate/evidence.h"
#include "paritas/locate/locate.h"

namespace paritas {

struct Gathering {
  Evidence evidence;
  double seconds_reference = 0, seconds_device = 0, seconds_probes = 0;
  int device_sessions = 0;
  std::vector<std::string> notes;
};

// `model` is pinned. The runners work side by side; `probes` is a second worker of the device target.
Result<Gathering> gather(const LocateRequest& request, const onnx_model::Model& model, Runner& reference,
                         Runner& device, Runner& probes);

}  // namespace paritas
