#include "paritas/report/groups_report.h"
#include "paritas/report/visible.h"

#include <fmt/format.h>

namespace paritas {
namespace {

std::string_view kind(UnevenSet::Kind kind) {
  switch (kind) {
    case UnevenSet::Kind::kOne:
      return "one";
    case UnevenSet::Kind::kPeriod:
      return "period";
    case UnevenSet::Kind::kWindow:
      break;
  }
  return "window";
}

}  // namespace

Json to_json(const GroupReport& report) {
  const GroupFigures& g = report.figures;
  Json json = {{"tensor", report.tensor},
               {"node", report.node},
               {"run", report.run},
               {"axes", g.axes},
               {"names", report.names},
               {"sizes", g.sizes},
               {"groups", g.groups},
               {"error_energy", json_number(g.error_energy)},
               {"reference_energy", json_number(g.reference_energy)},
               {"largest", Json::array()},
               {"uneven", Json::array()}};
  for (const GroupError& e : g.largest)
    json["largest"].push_back({{"index", e.index},
                               {"count", e.count},
                               {"error_energy", json_number(e.error_energy)},
                               {"reference_energy", json_number(e.reference_energy)},
                               {"error_share", json_number(e.error_share)},
                               {"reference_share", json_number(e.reference_share)},
                               {"nmse", json_number(e.nmse)},
                               {"max_abs", json_number(e.max_abs)},
                               {"device_only", e.device_only}});
  for (const UnevenSet& s : g.uneven)
    json["uneven"].push_back({{"kind", kind(s.kind)},
                              {"axis", s.axis},
                              {"where", to_string(s)},
                              {"first", s.first},
                              {"last", s.last},
                              {"period", s.period},
                              {"share", json_number(s.share)},
                              {"fair", json_number(s.fair)},
                              {"reference_share", json_number(s.reference_share)}});
  return json;
}

std::string group_block(const GroupReport& report, const Style& style) {
  std::vector<std::string> header = report.names;
  std::vector<bool> right(header.size(), true);
  for (const char* column : {"error share", "energy share", "NMSE", "max abs", "nan/inf"}) {
    header.emplace_back(column);
    right.push_back(true);
  }
  Table table(std::move(header), std::move(right));
  const size_t shown =
      style.verbose ? report.figures.largest.size() : std::min<size_t>(report.figures.largest.size(), 4);
  for (size_t i = 0; i < shown; ++i) {
    const GroupError& e = report.figures.largest[i];
    std::vector<std::string> cells;
    for (int64_t index : e.index) cells.push_back(std::to_string(index));
    for (std::string& cell :
         std::vector<std::string>{percent(e.error_share), percent(e.reference_share), scientific(e.nmse),
                                  fmt::format("{:.3g}", e.max_abs), std::to_string(e.device_only)})
      cells.push_back(std::move(cell));
    table.row(std::move(cells));
  }
  std::string out = bold(style, "Groups") + fmt::format("         {}, {} error\n", visible(report.tensor), report.run);
  out += table.render(style, "  ");
  if (report.figures.groups > shown) out += fmt::format("     ... {} more\n", report.figures.groups - shown);
  for (const UnevenSet& set : report.figures.uneven)
    out += fmt::format("  {} of axis {} hold{} {} of the error\n", to_string(set), set.axis,
                       set.kind == UnevenSet::Kind::kOne ? "s" : "", percent(set.share));
  return out + "\n";
}

}  // namespace paritas
