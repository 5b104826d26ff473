// Any bytes as a gates file and as an inline gate: refused with a cause, or gates that can be shown and applied, of
// which none lets NaN pass.
#include <cmath>

#include "fuzz/memory_file.h"
#include "paritas/judge/gates.h"
#include "paritas/judge/metric_table.h"

namespace {

using namespace paritas;

PairMetrics all_nan() {
  PairMetrics m;
  m.max_abs = m.mean_abs = m.mse = m.rmse = m.nmse = m.sqnr_db = m.cosine = m.cosine_distance = m.scale_ratio =
      m.max_rel = NAN;
  return m;
}

void apply(const Gate& gate) {
  bool counts_only = false;  // `differing` is no figure that can be NaN
  require(!gate.any.empty());
  for (const auto& all : gate.any)
    for (const Condition& condition : all) {
      require((!gate.task.empty() || is_metric(condition.metric)) && std::isfinite(condition.value));
      counts_only |= condition.metric == "differing";
    }
  require(!gate.text().empty());
  if (!gate.task.empty()) return;
  if (gate.role.empty() && gate.type.empty()) require(gate.matches(gate.tensor));
  require(!evaluate(gate, all_nan()).passed || counts_only);
  GateSet set;
  set.gates = {gate};
  MetricOptions options;
  static_cast<void>(set.configure(gate.tensor, options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto gate = parse_gate(text))
    apply(*gate);
  else
    require(!gate.error().cause.empty());
  if (const auto set = parse_gates_toml(text, "gates.toml")) {
    require(!set->empty());
    for (const Gate& gate : set->gates) apply(gate);
  } else {
    require(!set.error().cause.empty() && set.error().subject.rfind("gates.toml", 0) == 0);
  }
  return 0;
}
