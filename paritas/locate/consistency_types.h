// How far each side of a comparison moves by itself, as plain data. Units as in metrics/pair_metrics.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/metrics/pair_metrics.h"

namespace paritas {

enum class NoiseSource {
  kDeviceRepeats,          // one device session, run several times
  kDeviceRebuild,          // the model built a second time for the device
  kDeviceRows,             // rows of a batch that were fed alike, on the device
  kReferenceRows,          // the same on the reference
  kReferenceOptimisation,  // the reference with its runtime's optimiser on and off
};
std::string_view name(NoiseSource source);  // "device repeats"
std::string_view shows(NoiseSource source);
std::string_view does_not_show(NoiseSource source);
bool of_reference(NoiseSource source);

// One output, compared with itself.
struct NoiseFigure {
  std::string output;
  bool shape_changed = false;  // then there are no metrics
  PairMetrics metrics;         // first run (row) as reference, the run that differs most (all rows) as device
  bool moves() const { return shape_changed || metrics.differing > 0; }
};

struct NoiseCheck {
  NoiseSource source = NoiseSource::kDeviceRepeats;
  enum class Status { kMeasured, kNotApplicable, kFailed };
  Status status = Status::kMeasured;
  std::string reason;                // unless measured
  std::string setting;               // what was varied: "none against all", "2 rows"
  uint64_t runs = 0;                 // that were compared with the first
  std::vector<NoiseFigure> outputs;  // of the model, in its order; float, integer and bool alike
};
std::string_view name(NoiseCheck::Status status);  // "measured", "not applicable", "failed"

// A number format below float32 that the graph itself prescribes.
struct DeclaredPrecision {
  std::string format;            // "uint8", "float16"
  bool computed = false;         // nodes compute or requantise in it; else constants are only kept in it
  uint64_t nodes = 0;            // that make or read tensors of it; bodies of If, Loop and Scan are counted
  uint64_t constants = 0;        // kept in it
  std::vector<std::string> ops;  // operators of these nodes, each once, sorted
};

// The worst of an output's checks.
struct NoiseFloor {
  std::string output;
  NoiseSource source = NoiseSource::kDeviceRepeats;  // of which check
  bool shape_changed = false;
  PairMetrics metrics;
};

struct Consistency {
  std::vector<NoiseCheck> checks;  // one a source, in the order of NoiseSource
  std::vector<DeclaredPrecision> reference_precision;
  std::vector<NoiseFloor> floors;  // outputs that move in some check, in the model's order
  int device_sessions = 0;
  double seconds = 0;

  const NoiseFloor* floor_of(const std::string& output) const {
    for (const NoiseFloor& floor : floors)
      if (floor.output == output) return &floor;
    return nullptr;
  }
};

}  // namespace paritas
