#include "paritas/locate/sample_record.h"

#include <array>

namespace paritas {
namespace {

std::optional<RecordedFigures> figures_of(const PairMetrics* m) {
  if (m == nullptr) return std::nullopt;
  return RecordedFigures{m->nmse, m->cosine, m->max_abs, m->nonfinite.device_only};
}

Json json_of(const std::optional<RecordedFigures>& figures) {
  if (!figures) return nullptr;
  return Json::array({json_number(figures->nmse), json_number(figures->cosine), json_number(figures->max_abs),
                      figures->device_nonfinite});
}

Json json_of(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

Json json_of(const RecordedNode& node) {
  return {{"name", node.name},
          {"op", node.op},
          {"tensor", node.tensor},
          {"accumulated", json_of(node.accumulated)},
          {"forced", json_of(node.forced)},
          {"local", json_of(node.local)},
          {"x_baseline", json_of(node.x_baseline)},
          {"sensitivity", json_of(node.sensitivity)},
          {"range", name(node.range)},
          {"consequential", node.consequential}};
}

Json json_of(const RecordedOutput& o) {
  return {{"name", o.name}, {"verdict", name(o.verdict)}, {"rule", o.rule}, {"figures", json_of(o.figures)}};
}

Json json_of(const RecordedCut& cut) {
  Json json = {{"name", cut.name},
               {"tensors", cut.tensors},
               {"split", name(cut.split)},
               {"verdict", name(cut.verdict)},
               {"cells", Json::array()}};
  for (const RecordedCell& cell : cut.cells) {
    Json outputs = Json::array();
    for (const RecordedOutput& output : cell.outputs) outputs.push_back(json_of(output));
    json["cells"].push_back({{"front_on_device", cell.front_on_device},
                             {"rear_on_device", cell.rear_on_device},
                             {"outcome", name(cell.outcome)},
                             {"verdict", name(cell.verdict)},
                             {"text", cell.text},
                             {"outputs", std::move(outputs)}});
  }
  return json;
}

RecordedOutput recorded(const TensorComparison& pair, bool class_ids) {
  return {pair.name, pair.verdict, pair.rule, class_ids || !pair.metrics ? std::nullopt : figures_of(&*pair.metrics)};
}

RecordedCut recorded(const CrossMatrix& matrix) {
  RecordedCut cut;
  cut.name = matrix.name;
  for (const CutTensorRow& row : matrix.tensors) cut.tensors.push_back(row.name);
  cut.split = matrix.split;
  cut.verdict = matrix.verdict;
  for (const MatrixCell& cell : matrix.cells) {
    RecordedCell r;
    r.front_on_device = cell.front_on_device;
    r.rear_on_device = cell.rear_on_device;
    r.outcome = cell.outcome;
    r.verdict = cell.verdict;
    r.text = cell.failure.empty() ? cell.deciding : cell.failure;
    for (const TensorComparison& pair : cell.outputs)
      r.outputs.push_back(recorded(pair, pair.metrics && pair.metrics->names));
    cut.cells.push_back(std::move(r));
  }
  return cut;
}

// Reads one record; the first thing that is not as it must be is kept.
class Reader {
 public:
  explicit Reader(const std::string& subject) : subject_(subject) {}

  Result<SampleRecord> read(const Json& json) {
    SampleRecord r;
    r.id = text(json, "id");
    r.verdict = verdict(json);
    r.reasons = texts(json, "reasons");
    each(json, "outputs", [&](const Json& j) { r.outputs.push_back(output(j)); });
    each(json, "nodes", [&](const Json& j) { r.nodes.push_back(node(j)); });
    r.ranked = texts(json, "ranked");
    r.first_divergence = text(json, "first_divergence");
    r.first_divergence_tensor = text(json, "first_divergence_tensor");
    each(json, "decisions", [&](const Json& j) {
      r.decisions.push_back({text(j, "node"), text(j, "op"), text(j, "tensor"), whole(j, "count"), whole(j, "moved")});
    });
    each(json, "cuts", [&](const Json& j) { r.cuts.push_back(cut(j)); });
    r.on_device = whole(json, "on_device");
    r.placed = whole(json, "placed");
    each(json, "findings", [&](const Json& j) { r.findings.push_back(finding(j)); });
    r.notes = texts(json, "notes");
    r.pinned = texts(json, "pinned");
    r.provenance = member(json, "provenance");
    if (!wrong_.empty())
      return input_error(subject_, "\"" + wrong_ + "\" is missing or not what it must be", "delete it to run it again");
    return r;
  }

 private:
  void fail(const std::string& key) {
    if (wrong_.empty()) wrong_ = key;
  }
  Json member(const Json& object, const char* key) {
    if (object.is_object())
      if (const auto it = object.find(key); it != object.end()) return *it;
    fail(key);
    return nullptr;
  }
  std::string text(const Json& object, const char* key) {
    const Json value = member(object, key);
    if (value.is_string()) return value.get<std::string>();
    fail(key);
    return {};
  }
  bool flag(const Json& object, const char* key) {
    const Json value = member(object, key);
    if (value.is_boolean()) return value.get<bool>();
    fail(key);
    return false;
  }
  uint64_t whole(const Json& object, const char* key) {
    const Json value = member(object, key);
    if (value.is_number_unsigned()) return value.get<uint64_t>();
    fail(key);
    return 0;
  }
  template <class Take>
  void each(const Json& object, const char* key, Take take) {
    const Json value = member(object, key);
    if (!value.is_array()) return fail(key);
    for (const Json& entry : value) take(entry);
  }
  std::vector<std::string> texts(const Json& object, const char* key) {
    std::vector<std::string> list;
    each(object, key, [&](const Json& entry) {
      if (!entry.is_string()) return fail(key);
      list.push_back(entry.get<std::string>());
    });
    return list;
  }
  std::optional<double> number(const Json& object, const char* key) {
    const Json value = member(object, key);
    if (value.is_null()) return std::nullopt;
    const auto read = number_from_json(value);
    if (!read) fail(key);
    return read;
  }
  std::optional<RecordedFigures> figures(const Json& object, const char* key) {
    const Json value = member(object, key);
    if (value.is_null()) return std::nullopt;
    std::array<double, 3> numbers{};
    bool fits = value.is_array() && value.size() == 4 && value[3].is_number_unsigned();
    for (size_t i = 0; fits && i < numbers.size(); ++i) {
      const auto read = number_from_json(value[i]);
      fits = read.has_value();
      if (fits) numbers[i] = *read;
    }
    if (!fits) {
      fail(key);
      return std::nullopt;
    }
    return RecordedFigures{numbers[0], numbers[1], numbers[2], value[3].get<uint64_t>()};
  }
  Verdict verdict(const Json& object) {
    const std::string word = text(object, "verdict");
    for (const Verdict v : {Verdict::kInvalid, Verdict::kDeviates, Verdict::kNotJudged, Verdict::kPass})
      if (word == name(v)) return v;
    fail("verdict");
    return Verdict::kInvalid;
  }
  RecordedNode node(const Json& j) {
    RecordedNode n;
    n.name = text(j, "name");
    n.op = text(j, "op");
    n.tensor = text(j, "tensor");
    n.accumulated = figures(j, "accumulated");
    n.forced = figures(j, "forced");
    n.local = figures(j, "local");
    n.x_baseline = number(j, "x_baseline");
    n.sensitivity = number(j, "sensitivity");
    const std::string range = text(j, "range");
    bool known = false;
    for (const RangeViolation v : {RangeViolation::kNone, RangeViolation::kOverflow, RangeViolation::kUnderflow})
      if (range == name(v)) {
        n.range = v;
        known = true;
      }
    if (!known) fail("range");
    n.consequential = flag(j, "consequential");
    return n;
  }
  // One of an enumeration's values, by its name.
  template <class Enum>
  Enum one_of(const Json& object, const char* key, std::initializer_list<Enum> values) {
    const std::string word = text(object, key);
    for (const Enum value : values)
      if (word == name(value)) return value;
    fail(key);
    return *values.begin();
  }
  RecordedOutput output(const Json& j) { return {text(j, "name"), verdict(j), text(j, "rule"), figures(j, "figures")}; }
  RecordedCut cut(const Json& j) {
    using catalogue::CellOutcome;
    RecordedCut c;
    c.name = text(j, "name");
    c.tensors = texts(j, "tensors");
    c.split = one_of(j, "split",
                     {SplitStatus::kNotMeasured, SplitStatus::kExact, SplitStatus::kOptimiser, SplitStatus::kWrong,
                      SplitStatus::kNotRepeatable, SplitStatus::kRandom});
    c.verdict = verdict(j);
    each(j, "cells", [&](const Json& k) {
      RecordedCell cell;
      cell.front_on_device = flag(k, "front_on_device");
      cell.rear_on_device = flag(k, "rear_on_device");
      cell.outcome = one_of(k, "outcome",
                            {CellOutcome::kFailed, CellOutcome::kHolds, CellOutcome::kDeviates, CellOutcome::kUnknown,
                             CellOutcome::kDrawn});
      cell.verdict = verdict(k);
      cell.text = text(k, "text");
      each(k, "outputs", [&](const Json& o) { cell.outputs.push_back(output(o)); });
      c.cells.push_back(std::move(cell));
    });
    return c;
  }
  Finding finding(const Json& j) {
    Finding f;
    f.id = text(j, "id");
    const std::string severity = text(j, "severity");
    if (severity != name(Severity::kFault) && severity != name(Severity::kNote)) fail("severity");
    f.severity = severity == name(Severity::kFault) ? Severity::kFault : Severity::kNote;
    f.nodes = texts(j, "nodes");
    f.text = text(j, "text");
    f.shows = text(j, "shows");
    f.does_not_show = text(j, "does_not_show");
    f.next = text(j, "next");
    f.evidence = member(j, "evidence");
    return f;
  }

  const std::string& subject_;
  std::string wrong_;
};

}  // namespace

SampleRecord record_of(const LocateResult& result, const std::string& id) {
  SampleRecord r;
  r.id = id;
  r.verdict = result.verdict;
  r.reasons = result.reasons;
  for (const OutputRow& row : result.outputs) r.outputs.push_back(recorded(row.pair, row.class_ids()));
  if (result.cross_matrices)
    for (const CrossMatrix& matrix : result.cross_matrices->cuts) r.cuts.push_back(recorded(matrix));
  for (const NodeRow& row : result.nodes) {
    if (!is_float(row.dtype)) continue;
    RecordedNode n;
    n.name = row.name;
    n.op = row.op;
    n.tensor = row.tensor;
    n.accumulated = figures_of(row.accumulated ? &*row.accumulated : nullptr);
    n.forced = figures_of(row.accumulated_forced ? &*row.accumulated_forced : nullptr);
    n.local = figures_of(row.local ? &row.local->metrics : nullptr);
    if (row.local) n.x_baseline = row.local->x_baseline;
    n.sensitivity = row.sensitivity;
    n.range = row.range;
    n.consequential = row.consequential;
    r.nodes.push_back(std::move(n));
  }
  r.ranked = result.ranked;
  r.first_divergence = result.first_divergence;
  r.first_divergence_tensor = result.first_divergence_tensor;
  for (const DecisionReport& d : result.decisions) r.decisions.push_back({d.node, d.op, d.tensor, d.count, d.moved});
  r.placed = result.placement.total();
  r.on_device = result.placement.on(result.placement.requested);
  r.findings = result.findings;
  r.notes = result.notes;
  r.pinned = result.pinned;
  r.provenance = {{"reference", to_json(result.reference_info)}, {"device", to_json(result.device_info)}};
  return r;
}

Json to_json(const SampleRecord& r) {
  Json json = {{"id", r.id}, {"verdict", name(r.verdict)}, {"reasons", r.reasons}};
  auto fill = [&json](const char* key, const auto& items, auto make) {
    Json array = Json::array();
    for (const auto& item : items) array.push_back(make(item));
    json[key] = std::move(array);
  };
  fill("outputs", r.outputs, [](const RecordedOutput& o) { return json_of(o); });
  fill("cuts", r.cuts, [](const RecordedCut& c) { return json_of(c); });
  fill("nodes", r.nodes, [](const RecordedNode& n) { return json_of(n); });
  json["ranked"] = r.ranked;
  json["first_divergence"] = r.first_divergence;
  json["first_divergence_tensor"] = r.first_divergence_tensor;
  fill("decisions", r.decisions, [](const RecordedDecision& d) {
    return Json{{"node", d.node}, {"op", d.op}, {"tensor", d.tensor}, {"count", d.count}, {"moved", d.moved}};
  });
  json["on_device"] = r.on_device;
  json["placed"] = r.placed;
  fill("findings", r.findings, [](const Finding& f) { return to_json(f); });
  json["notes"] = r.notes;
  json["pinned"] = r.pinned;
  json["provenance"] = r.provenance;
  return json;
}

Result<SampleRecord> sample_record_from_json(const Json& json, const std::string& subject) {
  return Reader(subject).read(json);
}

}  // namespace paritas
