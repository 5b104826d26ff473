// What two packages say of their verification and their timings, side by side.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "paritas/compare/result_json.h"
#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/package/json_fields.h"

namespace paritas {

bool ComparedFigure::same() const {
  if (before.has_value() != after.has_value()) return false;
  return !before || *before == *after || (std::isnan(*before) && std::isnan(*after));
}

namespace package_diff {
namespace {

struct Figure {
  std::string unit;
  double value = 0;
};
// "chain", subject, figure
using FigureKey = std::array<std::string, 3>;

struct StoredCheck {
  std::string id, verdict, text;
};

struct Stored {
  std::string verdict;
  uint64_t samples = 0;
  std::vector<StoredCheck> checks;
  std::vector<FigureKey> order;
  std::map<FigureKey, Figure> figures;

  // Of several samples the worst stays.
  void add(const FigureKey& key, const std::string& unit, double value, bool lower_is_worse) {
    const auto [it, fresh] = figures.emplace(key, Figure{unit, value});
    if (fresh) {
      order.push_back(key);
      return;
    }
    double& kept = it->second.value;
    if (std::isnan(kept)) return;
    if (std::isnan(value) || (lower_is_worse ? value < kept : value > kept)) kept = value;
  }
};

void add_tensor(const std::string& scope, const TensorComparison& tensor, Stored& stored) {
  if (tensor.role == Role::kInput || !tensor.compared() || !tensor.metrics) return;
  const PairMetrics& m = *tensor.metrics;
  stored.add({scope, tensor.name, "differing"}, "elements", static_cast<double>(m.differing), false);
  if (m.names) return;
  stored.add({scope, tensor.name, "cosine"}, "1", m.cosine, true);
  stored.add({scope, tensor.name, "nmse"}, "1", m.nmse, false);
  stored.add({scope, tensor.name, "max_abs"}, "tensor", m.max_abs, false);
}

// One side's `cpu_parts` or `chain`: schema paritas.check/1.
Status read_judged(const Json& verification, const char* key, const std::string& scope, const std::string& subject,
                   Stored& stored) {
  const auto it = verification.find(key);
  if (it == verification.end() || it->is_null()) return {};
  const std::string where = fmt::format("{}, \"verification\", \"{}\"", subject, key);
  JsonFields fields(*it, where);
  fields.each("tasks", [&](const Json& task) -> Status {
    JsonFields inner(task, where + ", \"tasks\"");
    const std::string name = inner.text("name");
    inner.with("result", [&](const Json& result) -> Status {
      JsonFields of_result(result, where);
      of_result.with("outcome", [&](const Json& outcome) -> Status {
        JsonFields of_outcome(outcome, where);
        of_outcome.each("figures", [&](const Json& figure) -> Status {
          JsonFields f(figure, where + ", \"figures\"");
          const std::string figure_name = f.text("name"), unit = f.text("unit");
          const auto value = number_from_json(figure.value("value", Json()));
          PARITAS_TRY(f.status());
          if (!value) return input_error(f.where(), fmt::format("\"{}\" has no value", figure_name));
          stored.add({scope, name, figure_name}, unit, *value, false);
          return {};
        });
        return of_outcome.status();
      });
      return of_result.status();
    });
    return inner.status();
  });
  fields.with("comparison", [&](const Json& comparison) -> Status {
    PARITAS_ASSIGN(const CompareResult compared, compare_result_from_json(comparison, where));
    stored.samples = std::max(stored.samples, compared.samples);
    for (const TensorComparison& tensor : compared.tensors) add_tensor(scope, tensor, stored);
    return {};
  });
  return fields.status();
}

Result<Stored> read_stored(const Package& package) {
  Stored stored;
  const Json& verification = package.manifest.verification;
  if (verification.is_null()) return stored;
  const std::string subject = package.path_of(kManifestName).string();
  if (!verification.is_object())
    return input_error(subject, "\"verification\" is no result of paritas verify", "split the model again");
  JsonFields fields(verification, subject + ", \"verification\"");
  stored.verdict = fields.text("verdict");
  fields.each("checks", [&](const Json& check) -> Status {
    JsonFields inner(check, fields.where() + ", \"checks\"");
    stored.checks.push_back({inner.text("id"), inner.text("verdict"), inner.text("text")});
    return inner.status();
  });
  PARITAS_TRY(fields.status());
  PARITAS_TRY(read_judged(verification, "chain", "chain", subject, stored));
  PARITAS_TRY(read_judged(verification, "cpu_parts", "cpu parts", subject, stored));
  return stored;
}

void pair_checks(const Stored& before, const Stored& after, std::vector<ComparedCheck>& checks) {
  auto find = [](const Stored& stored, const std::string& id) {
    const auto it = std::find_if(stored.checks.begin(), stored.checks.end(), [&](const auto& c) { return c.id == id; });
    return it == stored.checks.end() ? nullptr : &*it;
  };
  for (const StoredCheck& a : before.checks) {
    ComparedCheck check{a.id, a.verdict, {}, a.text, {}};
    if (const StoredCheck* b = find(after, a.id)) {
      check.after = b->verdict;
      check.text_after = b->text;
    }
    checks.push_back(std::move(check));
  }
  for (const StoredCheck& b : after.checks)
    if (find(before, b.id) == nullptr) checks.push_back({b.id, {}, b.verdict, {}, b.text});
}

void pair_figures(const Stored& before, const Stored& after, std::vector<ComparedFigure>& figures) {
  auto add = [&](const FigureKey& key, const Figure* a, const Figure* b) {
    ComparedFigure figure{key[0], key[1], key[2], (a != nullptr ? a : b)->unit, {}, {}};
    if (a != nullptr) figure.before = a->value;
    if (b != nullptr) figure.after = b->value;
    figures.push_back(std::move(figure));
  };
  auto find = [](const Stored& stored, const FigureKey& key) {
    const auto it = stored.figures.find(key);
    return it == stored.figures.end() ? nullptr : &it->second;
  };
  for (const FigureKey& key : before.order) add(key, find(before, key), find(after, key));
  for (const FigureKey& key : after.order)
    if (find(before, key) == nullptr) add(key, nullptr, find(after, key));
}

// The conditions of every round, or nullopt when one states none.
std::optional<std::vector<Json>> conditions_of(const Json& rounds) {
  std::vector<Json> conditions;
  for (const Json& round : rounds) {
    const auto it = round.is_object() ? round.find("conditions") : round.end();
    if (it == round.end() || !it->is_object() || it->empty()) return std::nullopt;
    conditions.push_back(*it);
  }
  return conditions;
}

}  // namespace

Result<ComparedVerification> compare_verifications(const Package& before, const Package& after) {
  PARITAS_ASSIGN(const Stored a, read_stored(before));
  PARITAS_ASSIGN(const Stored b, read_stored(after));
  ComparedVerification compared;
  compared.before = a.verdict;
  compared.after = b.verdict;
  compared.samples_before = a.samples;
  compared.samples_after = b.samples;
  pair_checks(a, b, compared.checks);
  pair_figures(a, b, compared.figures);
  return compared;
}

ComparedTimings compare_timings(const Manifest& before, const Manifest& after) {
  ComparedTimings timings;
  for (const PackagePart& a : before.parts)
    for (const PackagePart& b : after.parts) {
      if (a.name != b.name) continue;
      ComparedFigure compiling{"build", a.name, "compiling", "s", {}, {}};
      if (a.compiled) compiling.before = a.build_seconds;
      if (b.compiled) compiling.after = b.build_seconds;
      if (a.compiled || b.compiled) timings.single.push_back(std::move(compiling));
      timings.single.push_back({"build", a.name, "opening the shipped file", "s", a.reload_seconds, b.reload_seconds});
    }
  timings.before = before.timings.is_array() ? before.timings : Json::array();
  timings.after = after.timings.is_array() ? after.timings : Json::array();
  if (timings.before.empty() || timings.after.empty()) {
    timings.text = timings.before.empty() && timings.after.empty() ? "neither package holds rounds of paritas bench"
                                                                   : "only one package holds rounds of paritas bench";
    return timings;
  }
  const auto a = conditions_of(timings.before), b = conditions_of(timings.after);
  if (!a || !b) {
    timings.text = "a round does not state its conditions: the rounds say nothing about each other";
    return timings;
  }
  auto like_first = [&](const Json& conditions) { return conditions == a->front(); };
  timings.same_conditions =
      std::all_of(a->begin(), a->end(), like_first) && std::all_of(b->begin(), b->end(), like_first);
  timings.text = timings.same_conditions
                     ? "all rounds state the same conditions; for a ratio let paritas bench alternate both packages"
                     : "the rounds were taken under different conditions: they say nothing about each other";
  return timings;
}

}  // namespace package_diff
}  // namespace paritas
