#include "paritas/report/weights_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kDefaultRows = 12;

// What is wrong first, then the largest in steps.
bool before(const WeightComparison* a, const WeightComparison* b) {
  const auto calm = [](WeightStatus s) { return s == WeightStatus::kEqual || s == WeightStatus::kWithinHalfStep; };
  if (calm(a->status) != calm(b->status)) return calm(b->status);
  if (a->max_steps != b->max_steps) return a->max_steps > b->max_steps;
  return a->max_abs > b->max_abs;
}

std::string note(const WeightComparison& w) {
  std::string text;
  if (w.beyond > 0)
    text = fmt::format("{} of {} beyond half a step", with_thousands(w.beyond), with_thousands(w.elements));
  if (w.saturated > 0) text += fmt::format(", {} of them at the type's limit", with_thousands(w.saturated));
  if (w.worst_channel && w.beyond > 0) text += fmt::format(", worst in channel {}", *w.worst_channel);
  return text;
}

}  // namespace

std::string terminal(const WeightsComparison& r, const Style& style) {
  const std::string verdict = r.same ? "SAME WEIGHTS" : "DIFFERENT WEIGHTS";
  std::string out =
      wrap(r.text, bold(style, verdict) + "   ", std::string(verdict.size() + 3, ' '), style.width) + "\n";
  out += fmt::format("first      {}\nsecond     {}\n\n", visible(r.first), visible(r.second));
  std::vector<const WeightComparison*> rows;
  for (const WeightComparison& row : r.weights) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), before);
  Table table({"weight", "read by", "first", "second", "", "max steps", "SQNR dB", "note"},
              {false, false, false, false, false, true, true, false});
  for (size_t i = 0; i < rows.size() && (style.verbose || i < kDefaultRows); ++i) {
    const WeightComparison& w = *rows[i];
    const bool compared = w.status != WeightStatus::kOnlyFirst && w.status != WeightStatus::kOnlySecond &&
                          w.status != WeightStatus::kShapeDiffers;
    table.row({w.name, w.reader, w.first_type, w.second_type, std::string(name(w.status)),
               compared && w.max_steps > 0 ? number(w.max_steps, 3) : "-", compared ? number(w.sqnr_db, 3) : "-",
               note(w)});
  }
  out += table.render(style);
  if (rows.size() > table.rows()) out += fmt::format("... and {} more (--verbose)\n", rows.size() - table.rows());
  for (const auto& [weight, why] : r.unread) out += fmt::format("not read: {}: {}\n", visible(weight), visible(why));
  out += "\n" + wrap(
                    "Shows whether the second file's weights are the first's, rounded to its codes. Does not show that "
                    "the graphs around them are the same, nor what rounding costs the network.",
                    "", "", style.width);
  return out;
}

Json to_json(const WeightsComparison& r) {
  Json json = {{"schema", "paritas.weights/1"},
               {"same", r.same},
               {"text", r.text},
               {"first", {{"path", r.first}, {"sha256", r.first_sha256}}},
               {"second", {{"path", r.second}, {"sha256", r.second_sha256}}},
               {"half_step", kHalfStep},
               {"clip_bounds", r.bounds},
               {"weights", Json::array()},
               {"unread", Json::array()}};
  for (const WeightComparison& w : r.weights) {
    Json row = {{"name", w.name},
                {"status", name(w.status)},
                {"shape", w.shape},
                {"first", w.first_type},
                {"second", w.second_type},
                {"reader", w.reader},
                {"elements", w.elements},
                {"differing", w.differing},
                {"beyond_half_step", w.beyond},
                {"saturated", w.saturated},
                {"max_abs", json_number(w.max_abs)},
                {"max_steps", json_number(w.max_steps)},
                {"sqnr_db", json_number(w.sqnr_db)}};
    if (w.worst_channel) row["worst_channel"] = *w.worst_channel;
    json["weights"].push_back(std::move(row));
  }
  for (const auto& [weight, why] : r.unread) json["unread"].push_back({{"name", weight}, {"reason", why}});
  return json;
}

}  // namespace paritas
