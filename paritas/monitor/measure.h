// The figures of one sample.
#pragma once

#include "paritas/judge/gates.h"
#include "paritas/monitor/layers.h"
#include "paritas/monitor/monitor.h"
#include "paritas/monitor/record.h"
#include "paritas/project/project.h"

namespace paritas {

struct MeasureContext {
  const std::vector<LayerPair>* pairs = nullptr;
  const MonitorSide* reference = nullptr;
  const MonitorSide* device = nullptr;
  const GateSet* gates = nullptr;    // the user's
  const GateSet* profile = nullptr;  // that flags
  const Project* project = nullptr;
  std::optional<DType> storage_type;
  int threads = 1;
};

std::string declared_role(const Project& project, const std::string& output);

Result<std::vector<LayerRecord>> measure_layers(const MeasureContext& context, const NamedTensors& reference,
                                                const NamedTensors& device);

// Ranges and boundary cases of what is fed, by channel where `input` declares its layout.
Result<InputRecord> measure_input(const std::string& name, const ProjectInput* input, const Tensor& tensor);

}  // namespace paritas
