#include "paritas/report/probe_checks_report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr size_t kRows = 8;

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

Json probe_json(const ProbeFigures& f) {
  return {{"node", f.node},
          {"op", f.op},
          {"tensor", f.tensor},
          {"island", f.island},
          {"representable", f.representable},
          {"max_abs", json_number(f.max_abs)},
          {"mean_abs", json_number(f.mean_abs)},
          {"rms", json_number(f.rms)},
          {"storage_max", json_number(f.storage_max)},
          {"storage_rms", json_number(f.storage_rms)},
          {"input_max", optional_number(f.input_max)},
          {"input_rms", optional_number(f.input_rms)},
          {"kernel_max", optional_number(f.kernel_max)},
          {"kernel_rms", optional_number(f.kernel_rms)},
          {"remainder", optional_number(f.remainder)}};
}

Json block_json(const BlockFigures& b) {
  return {{"path", b.path},
          {"depth", b.depth},
          {"tensors", b.tensors},
          {"probed", b.probed},
          {"device_only", b.device_only},
          {"nmse_sum", json_number(b.nmse_sum)},
          {"nmse_max", json_number(b.nmse_max)},
          {"x_storage_max", json_number(b.x_storage_max)},
          {"worst", b.worst.empty() ? Json(nullptr) : Json(b.worst)},
          {"accumulated_out", json_number(b.accumulated_out)}};
}

Json sum_error_json(const SumError& e) { return {{"max", json_number(e.max)}, {"mean", json_number(e.mean)}}; }

Json softmax_json(const SoftmaxCheck& c) {
  return {{"node", c.node},
          {"tensor", c.tensor},
          {"island", c.island},
          {"decomposed", c.decomposed},
          {"whole", c.whole},
          {"axes", c.axes},
          {"rows", c.rows},
          {"broken_rows", c.broken_rows},
          {"device", sum_error_json(c.device)},
          {"reference", sum_error_json(c.reference)},
          {"storage", c.storage ? sum_error_json(*c.storage) : Json(nullptr)}};
}

Json step_json(const NormStep& s) {
  Json local = nullptr;
  if (s.local)
    local = {
        {"max", json_number(s.local->max)}, {"rms", json_number(s.local->rms)}, {"device_only", s.local->device_only}};
  return {{"role", s.role},
          {"node", s.node},
          {"op", s.op},
          {"tensor", s.tensor},
          {"local", local},
          {"accumulated", optional_number(s.accumulated)},
          {"representable", s.representable}};
}

Json norm_json(const NormCheck& c) {
  Json json = {{"kind", c.kind},
               {"node", c.node},
               {"tensor", c.tensor},
               {"island", c.island},
               {"decomposed", c.decomposed},
               {"whole", c.whole},
               {"steps", Json::array()},
               {"implied", nullptr}};
  for (const NormStep& step : c.steps) json["steps"].push_back(step_json(step));
  if (c.implied)
    json["implied"] = {
        {"scale_max", json_number(c.implied->scale_max)}, {"scale_rms", json_number(c.implied->scale_rms)},
        {"shift_max", json_number(c.implied->shift_max)}, {"result_rms", json_number(c.implied->result_rms)},
        {"rest_rms", json_number(c.implied->rest_rms)},   {"rows", c.implied->rows},
        {"broken_rows", c.implied->broken_rows}};
  return json;
}

Json sum_json(const SumCheck& c) {
  return {{"node", c.node},
          {"op", c.op},
          {"tensor", c.tensor},
          {"island", c.island},
          {"terms", c.terms},
          {"left_rms", json_number(c.left_rms)},
          {"right_rms", json_number(c.right_rms)},
          {"operand_rms", json_number(c.operand_rms)},
          {"accumulation_rms", json_number(c.accumulation_rms)},
          {"kernel_rms", optional_number(c.kernel_rms)}};
}

template <class T, class Make>
Json array_of(const std::vector<T>& items, Make make) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(make(item));
  return array;
}

// Pointers to the items, those that `before` prefers first, stable.
template <class T, class Before>
std::vector<const T*> sorted(const std::vector<T>& items, Before before) {
  std::vector<const T*> order;
  for (const T& item : items) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [&](const T* a, const T* b) { return before(*a, *b); });
  return order;
}

// Title, the first rows, and how many there are besides.
template <class T>
std::string block(const std::string& title, const std::string& explanation, Table table,
                  const std::vector<const T*>& items, const Style& style,
                  const std::function<std::vector<std::string>(const T&)>& cells) {
  if (items.empty()) return {};
  const size_t shown = style.verbose ? items.size() : std::min(items.size(), kRows);
  for (size_t i = 0; i < shown; ++i) table.row(cells(*items[i]));
  std::string out = bold(style, title) + " (" + explanation + ")\n" + table.render(style, "  ");
  if (shown < items.size()) out += fmt::format("     ... {} more\n", items.size() - shown);
  return out + "\n";
}

std::string small(double value) { return fmt::format("{:.3g}", value); }
std::string small(const std::optional<double>& value) { return value ? small(*value) : "-"; }

std::string kernel_block(const ProbeChecks& checks, const Style& style) {
  std::vector<const ProbeFigures*> order;
  for (const ProbeFigures& f : checks.probes)
    if (f.remainder && *f.remainder > 0) order.push_back(&f);
  // In units of what storing costs, since tensors have different units.
  std::stable_sort(order.begin(), order.end(), [](const ProbeFigures* a, const ProbeFigures* b) {
    return *a->remainder * b->storage_max > *b->remainder * a->storage_max;
  });
  return block<ProbeFigures>("Kernel remainder",
                             "local max error less what rounding the result and the inputs costs at most",
                             Table({"node", "op", "max", "rms", "mean", "storage", "inputs", "remainder"},
                                   {false, false, true, true, true, true, true, true}),
                             order, style, [](const ProbeFigures& f) -> std::vector<std::string> {
                               return {f.node,
                                       f.op,
                                       small(f.max_abs),
                                       small(f.rms),
                                       small(f.mean_abs),
                                       small(f.storage_max),
                                       small(f.input_max),
                                       small(f.remainder)};
                             });
}

std::string module_block(const ProbeChecks& checks, const Style& style) {
  const auto order = sorted(checks.blocks, [](const BlockFigures& a, const BlockFigures& b) {
    return a.device_only != b.device_only ? a.device_only > b.device_only : a.nmse_sum > b.nmse_sum;
  });
  return block<BlockFigures>("Modules", "local errors of their tensors; out: accumulated NMSE of what leaves them",
                             Table({"module", "probed", "nan/inf", "NMSE sum", "worst node", "x storage", "out"},
                                   {false, true, true, true, false, true, true}),
                             order, style, [](const BlockFigures& b) -> std::vector<std::string> {
                               return {b.path,
                                       fmt::format("{}/{}", b.probed, b.tensors),
                                       std::to_string(b.device_only),
                                       scientific(b.nmse_sum),
                                       b.worst.empty() ? "-" : b.worst,
                                       b.x_storage_max > 0 ? small(b.x_storage_max) + " x" : "-",
                                       scientific(b.accumulated_out)};
                             });
}

std::string softmax_block(const ProbeChecks& checks, const Style& style) {
  const auto order = sorted(checks.softmax, [](const SoftmaxCheck& a, const SoftmaxCheck& b) {
    return a.broken_rows != b.broken_rows ? a.broken_rows > b.broken_rows : a.device.max > b.device.max;
  });
  return block<SoftmaxCheck>("Softmax sums", "|sum - 1| along its axis, and what storing the reference costs",
                             Table({"node", "rows", "largest", "storage", "mean", "storage", "note"},
                                   {false, true, true, true, true, true, false}),
                             order, style, [](const SoftmaxCheck& c) -> std::vector<std::string> {
                               std::string note =
                                   c.decomposed ? (c.whole ? "decomposed" : "decomposed: of its last node alone") : "";
                               if (c.broken_rows > 0)
                                 note += fmt::format("{}{} rows NaN/Inf", note.empty() ? "" : "; ", c.broken_rows);
                               return {c.node,
                                       std::to_string(c.rows),
                                       small(c.device.max),
                                       c.storage ? small(c.storage->max) : "-",
                                       small(c.device.mean),
                                       c.storage ? small(c.storage->mean) : "-",
                                       note};
                             });
}

const NormStep* step_of(const NormCheck& check, const char* role) {
  for (const NormStep& step : check.steps)
    if (step.role == role) return &step;
  return nullptr;
}

std::string step_cell(const NormStep* step) {
  if (step == nullptr || !step->local) return "-";
  if (step->local->device_only > 0) return "nan/inf";
  return small(step->local->rms);
}

std::string norm_block(const ProbeChecks& checks, const Style& style) {
  auto worst = [](const NormCheck& c) {
    double largest = 0;
    for (const NormStep& s : c.steps)
      if (s.local) largest = std::max(largest, s.local->device_only > 0 ? INFINITY : s.local->rms);
    return largest;
  };
  const auto order = sorted(checks.norms, [&](const NormCheck& a, const NormCheck& b) { return worst(a) > worst(b); });
  return block<NormCheck>("Normalisations",
                          "relative errors, rms: of steps by themselves; scale: the statistic that the result implies",
                          Table({"node", "kind", "square", "mean", "root", "result", "scale", "rest"},
                                {false, false, true, true, true, true, true, true}),
                          order, style, [](const NormCheck& c) -> std::vector<std::string> {
                            return {c.node,
                                    c.kind + (c.decomposed ? ", decomposed" : ""),
                                    step_cell(step_of(c, "square")),
                                    step_cell(step_of(c, "mean")),
                                    step_cell(step_of(c, "root")),
                                    step_cell(step_of(c, "result")),
                                    c.implied ? small(c.implied->scale_rms) : "-",
                                    c.implied ? small(c.implied->rest_rms) : "-"};
                          });
}

std::string sum_block(const ProbeChecks& checks, const Style& style) {
  const auto order = sorted(checks.sums, [](const SumCheck& a, const SumCheck& b) { return a.terms > b.terms; });
  return block<SumCheck>(
      "Sums of products",
      "rms: estimates for rounded operands (grows as sqrt K) and partial sums (as K); measured kernel",
      Table({"node", "op", "K", "operands", "partial sums", "kernel"}, {false, false, true, true, true, true}), order,
      style, [](const SumCheck& c) -> std::vector<std::string> {
        return {c.node,
                c.op,
                std::to_string(c.terms),
                small(c.operand_rms),
                small(c.accumulation_rms),
                small(c.kernel_rms)};
      });
}

}  // namespace

Json to_json(const ProbeChecks& checks) {
  return {{"islands", checks.islands},
          {"sessions", checks.sessions},
          {"seconds", json_number(checks.seconds)},
          {"probes", array_of(checks.probes, probe_json)},
          {"blocks", array_of(checks.blocks, block_json)},
          {"softmax", array_of(checks.softmax, softmax_json)},
          {"norms", array_of(checks.norms, norm_json)},
          {"sums", array_of(checks.sums, sum_json)},
          {"not_probed", checks.not_probed}};
}

std::string probe_checks_blocks(const ProbeChecks& checks, const Style& style) {
  std::string out = module_block(checks, style) + kernel_block(checks, style) + softmax_block(checks, style) +
                    norm_block(checks, style) + sum_block(checks, style);
  if (checks.not_probed > 0)
    out += fmt::format("{} of these operators could not be checked: no probe hands out their result\n\n",
                       checks.not_probed);
  return out;
}

}  // namespace paritas
