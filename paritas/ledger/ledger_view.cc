#include "paritas/ledger/ledger_view.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

namespace paritas {
namespace {

// Beginnings of a hash that are shorter are more likely names.
constexpr size_t kShortestHash = 6;

bool fits(const LedgerEntry& entry, const std::string& model) {
  if (model.empty() || entry.model == model) return true;
  return model.size() >= kShortestHash && entry.model_sha256.starts_with(model);
}

std::string experiment_key(const LedgerEntry& e) {
  Json key = to_json(e);
  for (const char* outcome :
       {"date", "tool_version", "model", "verdict", "outcome", "figures", "delivered", "result", "result_sha256"})
    key.erase(outcome);
  return dump_json(key, -1);
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The first way in which an outcome differs from the one before.
std::string contradiction(const std::vector<LedgerEntry>& runs) {
  for (size_t i = 1; i < runs.size(); ++i) {
    const LedgerEntry &a = runs[i - 1], &b = runs[i];
    const std::string when = fmt::format(
        "{} and {}{}", a.date, b.date,
        a.tool_version == b.tool_version ? "" : fmt::format(", by versions {} and {}", a.tool_version, b.tool_version));
    if (a.verdict != b.verdict)
      return fmt::format("the verdicts contradict each other: {} and {} ({})", a.verdict.empty() ? "none" : a.verdict,
                         b.verdict.empty() ? "none" : b.verdict, when);
    for (const auto& [name, value] : a.figures) {
      const auto other = b.figures.find(name);
      if (other == b.figures.end()) return fmt::format("{} is there only once ({})", name, when);
      if (!same_number(value, other->second))
        return fmt::format("{} differs: {:.6g} and {:.6g} ({})", name, value, other->second, when);
    }
    if (a.figures.size() != b.figures.size()) return fmt::format("one has figures that the other has not ({})", when);
    if (a.outcome != b.outcome) return fmt::format("\"{}\" and \"{}\" ({})", a.outcome, b.outcome, when);
  }
  return {};
}

// What an experiment alters for a measurement alone is nothing to deliver.
bool deliverable(const LedgerEntry& e) {
  return !e.change.empty() && e.kind != "inject" && e.kind != "pieces" && e.kind != "package";
}

uint64_t last_of(const LedgerExperiment& e) { return e.last; }
uint64_t last_of(const LedgerChange& c) { return last_of(c.experiments.back()); }
uint64_t last_of(const LedgerModel& m) { return last_of(m.changes.back()); }

template <class T>
void sort_by_last(std::vector<T>& items) {
  std::stable_sort(items.begin(), items.end(), [](const T& a, const T& b) { return last_of(a) < last_of(b); });
}

template <class T, class Fits>
T& find_or_add(std::vector<T>& items, Fits fits) {
  const auto it = std::find_if(items.begin(), items.end(), fits);
  return it == items.end() ? items.emplace_back() : *it;
}

}  // namespace

LedgerView view_of(const std::vector<LedgerEntry>& entries, const std::string& model) {
  LedgerView view;
  std::vector<const LedgerEntry*> order;
  for (const LedgerEntry& e : entries)
    if (fits(e, model))
      order.push_back(&e);
    else
      ++view.others;
  view.entries = order.size();
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->date < b->date; });
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < order.size(); ++i) {
    const LedgerEntry* e = order[i];
    LedgerModel& m = find_or_add(view.models, [&](const LedgerModel& x) { return x.sha256 == e->model_sha256; });
    m.sha256 = e->model_sha256;
    ++m.entries;
    if (std::find(m.names.begin(), m.names.end(), e->model) == m.names.end()) m.names.push_back(e->model);
    LedgerChange& c =
        find_or_add(m.changes, [&](const LedgerChange& x) { return !x.experiments.empty() && x.change == e->change; });
    c.change = e->change;
    if (e->kind == "package" && !e->delivered.empty())
      c.standing = "delivered in " + e->delivered;
    else if (c.standing.empty() && (deliverable(*e) || e->kind == "package"))
      c.standing = "tried, not delivered";
    // The key holds model and change, too: the place is one within `c`.
    const auto [place, added] = places.emplace(experiment_key(*e), c.experiments.size());
    if (added) c.experiments.emplace_back();
    c.experiments[place->second].runs.push_back(*e);
    c.experiments[place->second].last = i;
  }
  for (LedgerModel& m : view.models) {
    for (LedgerChange& c : m.changes) {
      for (LedgerExperiment& e : c.experiments) e.contradiction = contradiction(e.runs);
      sort_by_last(c.experiments);
    }
    sort_by_last(m.changes);
  }
  sort_by_last(view.models);
  return view;
}

Result<LedgerView> view_ledgers(const std::vector<Path>& files, const std::string& model) {
  std::vector<LedgerEntry> entries;
  std::vector<std::string> damaged;
  for (const Path& file : files) {
    PARITAS_ASSIGN(Ledger ledger, load_ledger(file));
    std::move(ledger.entries.begin(), ledger.entries.end(), std::back_inserter(entries));
    for (const std::string& line : ledger.damaged) damaged.push_back(file.string() + ": " + line);
  }
  LedgerView view = view_of(entries, model);
  for (const Path& file : files) view.files.push_back(file.string());
  view.damaged = std::move(damaged);
  return view;
}

Json to_json(const LedgerView& view) {
  Json json = {{"schema", "paritas.ledger-view/1"}, {"files", view.files},     {"entries", view.entries},
               {"entries_of_others", view.others},  {"damaged", view.damaged}, {"models", Json::array()}};
  for (const LedgerModel& m : view.models) {
    Json model = {{"sha256", m.sha256}, {"names", m.names}, {"entries", m.entries}, {"changes", Json::array()}};
    for (const LedgerChange& c : m.changes) {
      Json change = {{"change", c.change.empty() ? Json(nullptr) : Json(c.change)},
                     {"standing", c.standing.empty() ? Json(nullptr) : Json(c.standing)},
                     {"experiments", Json::array()}};
      for (const LedgerExperiment& e : c.experiments) {
        Json experiment = {{"contradiction", e.contradiction.empty() ? Json(nullptr) : Json(e.contradiction)},
                           {"runs", Json::array()}};
        for (const LedgerEntry& run : e.runs) experiment["runs"].push_back(to_json(run));
        change["experiments"].push_back(std::move(experiment));
      }
      model["changes"].push_back(std::move(change));
    }
    json["models"].push_back(std::move(model));
  }
  return json;
}

}  // namespace paritas
