#include "paritas/report/search_report.h"
#include "paritas/report/visible.h"

#include <fmt/format.h>

namespace paritas {
namespace {

Json test_json(const RestoreTest& test) {
  return {{"restored", test.islands.size()},
          {"islands", test.islands.size() <= 64 ? Json(test.islands) : Json(nullptr)},  // null: too many to repeat
          {"outcome", test.outcome},
          {"text", test.text},
          {"sample", test.sample.empty() ? Json(nullptr) : Json(test.sample)},
          {"samples_run", test.samples_run},
          {"elsewhere", test.elsewhere},
          {"device_sessions", test.device_sessions},
          {"seconds", test.seconds}};
}

std::string_view status(const RestoreSearch& search) {
  if (search.needless) return "needless";
  if (search.all) return search.budget_spent ? "budget spent" : "nothing smaller than all";
  if (search.minimal) return "minimal";
  return search.budget_spent ? "best so far" : "not shown to be minimal";
}

}  // namespace

Json to_json(const RestoreSearch& search) {
  Json json = {{"status", status(search)},
               {"islands", search.all ? Json(nullptr) : Json(search.islands)},
               {"nodes", search.all ? Json(nullptr) : Json(search.nodes)},
               {"minimal", search.minimal},
               {"budget_spent", search.budget_spent},
               {"undecided", search.undecided},
               {"samples", search.samples},
               {"decided_by", Json::array()},
               {"device_sessions", search.device_sessions},
               {"seconds", search.seconds},
               {"tests", Json::array()}};
  for (const auto& [sample, sets] : search.decided_by)
    json["decided_by"].push_back({{"sample", sample}, {"sets", sets}});
  for (const RestoreTest& test : search.tests) json["tests"].push_back(test_json(test));
  return json;
}

std::string search_block(const RestoreSearch& search, const Style& style) {
  std::string out =
      bold(style, "Search") + fmt::format("         {}; {} sets tried on {} sample{}, {} device sessions, {:.1f} s\n",
                                          status(search), search.tests.size(), search.samples,
                                          search.samples == 1 ? "" : "s", search.device_sessions, search.seconds);
  if (search.samples > 1)
    for (const auto& [sample, sets] : search.decided_by)
      out += fmt::format("{:15}{} set{} did not hold on {}\n", "", sets, sets == 1 ? "" : "s", visible(sample));
  if (search.needless || search.all) return out;
  const size_t shown = style.verbose ? search.islands.size() : std::min<size_t>(search.islands.size(), 8);
  for (size_t i = 0; i < shown; ++i) out += std::string(15, ' ') + visible(search.islands[i]) + "\n";
  if (shown < search.islands.size()) out += fmt::format("{:15}... and {} more\n", "", search.islands.size() - shown);
  return out;
}

}  // namespace paritas
