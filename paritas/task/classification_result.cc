#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/task/classification.h"

namespace paritas {
namespace {

// Below this many rows the intervals are so wide that the sample is called thin (at 30 rows without an error, Wilson's
// interval still reaches down to 0.89).
constexpr uint64_t kThinRows = 30;
// A device that gives one answer to everything is called stale when the reference's first probability moves by more.
constexpr double kMovingProbability = 0.05;

bool faulty(const ClassificationSide& side) { return side.fault != RowFault::kNone; }

double share(uint64_t part, uint64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

std::string row_text(const ClassificationRow& row) { return fmt::format("{} row {}", row.sample, row.row); }

// Facts over all rows that decide about issues.
struct Facts {
  uint64_t reference_faults = 0, device_faults = 0, device_infinite = 0;
  uint64_t dead_reference = 0;  // constant on the reference, more than two classes
  uint64_t dead_device = 0;     // constant on the device alone, more than two classes
  uint64_t undecidable = 0;     // constant on the reference, any number of classes
  uint64_t compared = 0;        // both sides free of faults, reference not constant
  uint64_t labelled = 0;
  bool one_reference_class = true;  // the same unique first class in every row
  bool device_always_equal = true;
  bool reference_moves = false;
  std::string first_reference_fault, first_device_fault, first_dead_device;
};

void note_first(std::string& where, const ClassificationRow& row) {
  if (where.empty()) where = row_text(row);
}

Facts gather(const std::vector<ClassificationRow>& rows) {
  Facts f;
  const ClassificationRow* first = nullptr;
  for (const ClassificationRow& row : rows) {
    if (faulty(row.reference)) {
      ++f.reference_faults;
      note_first(f.first_reference_fault, row);
      continue;
    }
    f.labelled += row.label.has_value();
    f.device_infinite += row.device_only_infinite;
    f.undecidable += row.reference.constant;
    f.dead_reference += row.reference.constant && row.classes > 2;
    if (first == nullptr) first = &row;
    f.one_reference_class &= row.reference.first.size() == 1 && row.reference.first == first->reference.first;
    f.device_always_equal &= row.device.digest == first->device.digest;
    f.reference_moves |=
        row.reference.first != first->reference.first ||
        std::abs(row.reference.top.front().probability - first->reference.top.front().probability) > kMovingProbability;
    if (faulty(row.device)) {
      ++f.device_faults;
      note_first(f.first_device_fault, row);
      continue;
    }
    if (row.device.constant && !row.reference.constant && row.classes > 2) {
      ++f.dead_device;
      note_first(f.first_dead_device, row);
    }
    f.compared += !row.reference.constant;
  }
  return f;
}

void add_issues(const Facts& f, ClassificationResult& result) {
  TaskOutcome& out = result.outcome;
  const uint64_t n = result.judged;
  if (f.reference_faults > 0)
    out.issue(Verdict::kInvalid,
              fmt::format("{} of {} reference rows are no answer: NaN, infinity or no distribution (first: {})",
                          f.reference_faults, result.rows.size(), f.first_reference_fault));
  if (result.rows.empty()) out.issue(Verdict::kInvalid, "no row was compared");
  if (f.device_faults > 0)
    out.issue(Verdict::kDeviates,
              fmt::format("{} of {} device rows are no answer: NaN, infinity or no distribution (first: {})",
                          f.device_faults, n, f.first_device_fault));
  if (f.device_infinite > 0)
    out.issue(Verdict::kDeviates, fmt::format("{} logits are infinite on the device only", f.device_infinite));
  if (f.dead_device > 0)
    out.issue(Verdict::kDeviates,
              fmt::format("in {} of {} rows the device gives every class the same value (first: {})", f.dead_device, n,
                          f.first_dead_device));
  if (n > 0 && (f.dead_reference > 0 || f.undecidable == n))
    out.issue(Verdict::kNotJudged,
              fmt::format("in {} of {} rows the reference gives every class the same value: they prove nothing",
                          f.undecidable, n));
  if (n > 1 && f.device_always_equal && f.reference_moves)
    out.issue(Verdict::kDeviates,
              fmt::format("the device gives the same values in all {} rows, the reference does not: a stale buffer, or "
                          "an input that was not read",
                          n));
}

void count_rows(ClassificationResult& result) {
  for (const ClassificationRow& row : result.rows) {
    if (faulty(row.reference)) continue;
    ++result.judged;
    if (faulty(row.device)) continue;
    result.top1_same += row.top1 == Agreement::kSame;
    result.top1_undecided += row.top1 == Agreement::kUndecided;
    result.topk_same += row.topk == Agreement::kSame;
    result.topk_undecided += row.topk == Agreement::kUndecided;
    result.order_same += row.same_order;
  }
  result.top1_interval = wilson(result.top1_same, result.judged);
}

void add_agreement(ClassificationResult& result, const Facts& f) {
  TaskOutcome& out = result.outcome;
  const uint64_t n = result.judged;
  const char* const top1[] = {"top1_agreement", "top1_agreement_low"};
  const char* const topk[] = {"topk_agreement", "topk_order_agreement"};
  // With one row and nothing decided, a share of 0 would be a judgement about the device that nobody made.
  if (n == 0 || f.undecidable == n) {
    const std::string why = n == 0 ? "no row has a usable reference" : "the reference never prefers a class";
    for (const char* figure : {"rows", "top1_undecided", "topk_undecided", top1[0], top1[1], topk[0], topk[1]})
      out.leave_out(figure, why, n == 0 ? Verdict::kInvalid : Verdict::kNotJudged);
    return;
  }
  out.add("rows", "rows", static_cast<double>(n));
  out.add(top1[0], "1", share(result.top1_same, n));
  out.add(top1[1], "1", result.top1_interval.low);
  out.add("top1_undecided", "rows", static_cast<double>(result.top1_undecided));
  uint64_t classes = result.rows.front().classes;
  for (const ClassificationRow& row : result.rows) classes = std::min(classes, row.classes);
  if (static_cast<uint64_t>(result.spec.k) >= classes) {
    for (const char* figure : {topk[0], topk[1], "topk_undecided"})
      out.leave_out(figure, fmt::format("the first {} of {} classes are all of them", result.spec.k, classes),
                    Verdict::kNotJudged);
  } else {
    out.add(topk[0], "1", share(result.topk_same, n));
    out.add(topk[1], "1", share(result.order_same, n));
    out.add("topk_undecided", "rows", static_cast<double>(result.topk_undecided));
  }
}

void add_differences(ClassificationResult& result, const Facts& f) {
  TaskOutcome& out = result.outcome;
  const std::pair<const char*, const char*> figures[] = {{"max_probability_difference", "1"},
                                                         {"mean_probability_difference", "1"},
                                                         {"max_top1_probability_difference", "1"},
                                                         {"max_kl_divergence", "nats"},
                                                         {"mean_kl_divergence", "nats"}};
  std::string why;
  Verdict verdict = Verdict::kNotJudged;
  if (result.judged == 0) {
    why = "no row has a usable reference";
    verdict = Verdict::kInvalid;
  } else if (f.device_faults > 0) {
    why = fmt::format("{} device rows hold no distribution", f.device_faults);
    verdict = Verdict::kDeviates;
  } else if (f.compared == 0) {
    why = "the reference gives every class the same value in every row";
  }
  if (!why.empty()) {
    for (const auto& figure : figures) out.leave_out(figure.first, why, verdict);
    return;
  }
  double largest = 0, mean = 0, first = 0, kl = 0, kl_sum = 0;
  for (const ClassificationRow& row : result.rows) {
    if (faulty(row.reference)) continue;
    largest = std::max(largest, row.max_probability_difference);
    first = std::max(first, row.first_probability_difference);
    kl = std::max(kl, row.kl_divergence);
    mean += row.mean_probability_difference;
    kl_sum += row.kl_divergence;
  }
  const auto n = static_cast<double>(result.judged);
  const double values[] = {largest, mean / n, first, kl, kl_sum / n};
  for (size_t i = 0; i < std::size(figures); ++i) out.add(figures[i].first, figures[i].second, values[i]);
}

AccuracyCount accuracy(const std::vector<ClassificationRow>& rows, bool of_device) {
  AccuracyCount count;
  for (const ClassificationRow& row : rows) {
    if (faulty(row.reference) || !row.label) continue;
    const LabelHit hit = *(of_device ? row.device : row.reference).hit;
    (hit == LabelHit::kRight ? count.right : hit == LabelHit::kTied ? count.tied : count.wrong) += 1;
  }
  const uint64_t n = count.right + count.tied + count.wrong;
  count.share = n == 0 ? 0 : share(count.right, n);
  count.interval = wilson(count.right, n);
  return count;
}

void add_accuracy(ClassificationResult& result, const Facts& f) {
  TaskOutcome& out = result.outcome;
  if (f.labelled == 0) {
    for (const char* figure :
         {"labelled_rows", "reference_accuracy", "device_accuracy", "accuracy_drop", "accuracy_drop_high"})
      out.leave_out(figure, "no labels were given", Verdict::kNotJudged);
    return;
  }
  result.reference_accuracy = accuracy(result.rows, false);
  result.device_accuracy = accuracy(result.rows, true);
  uint64_t classes = 2;
  for (const ClassificationRow& row : result.rows) {
    if (faulty(row.reference) || !row.label) continue;
    classes = std::max(classes, row.classes);
    const bool same_tie = !faulty(row.device) && row.top1 == Agreement::kSame;
    const bool reference = *row.reference.hit != LabelHit::kWrong;
    const bool device = *row.device.hit == LabelHit::kRight || (same_tie && *row.device.hit == LabelHit::kTied);
    result.lost += reference && !device;
    result.gained += device && !reference;
  }
  result.drop_interval = paired_difference(result.lost, result.gained, f.labelled);
  out.add("labelled_rows", "rows", static_cast<double>(f.labelled));
  out.add("reference_accuracy", "1", result.reference_accuracy->share);
  out.add("device_accuracy", "1", result.device_accuracy->share);
  // Where the reference does no better than guessing, its labels or their order are wrong, and a device can lose
  // nothing.
  if (result.reference_accuracy->interval.low <= 1.0 / static_cast<double>(classes)) {
    const std::string why =
        fmt::format("{} of {} rows right does not show that the reference beats guessing among {} classes",
                    result.reference_accuracy->right, f.labelled, classes);
    out.leave_out("accuracy_drop", why, Verdict::kNotJudged);
    out.leave_out("accuracy_drop_high", why, Verdict::kNotJudged);
    return;
  }
  const double lost = static_cast<double>(result.lost), gained = static_cast<double>(result.gained);
  out.add("accuracy_drop", "1", (lost - gained) / static_cast<double>(f.labelled));
  out.add("accuracy_drop_high", "1", result.drop_interval.high);
}

void add_claims(ClassificationResult& result, const Facts& f) {
  TaskOutcome& out = result.outcome;
  const uint64_t n = result.judged;
  if (n == 0) return;
  out.shows.push_back(fmt::format("first class the same in {} of {} rows (95 % interval {:.3f} to {:.3f})",
                                  result.top1_same, n, result.top1_interval.low, result.top1_interval.high));
  if (result.top1_undecided > 0)
    out.notes.push_back(
        fmt::format("{} rows are undecided: a tie for the first place, with a class in common; they do "
                    "not count as agreement",
                    result.top1_undecided));
  out.does_not_show.push_back("how the device answers for inputs unlike these");
  if (f.labelled == 0)
    out.does_not_show.push_back("whether either side is right: without labels this is agreement, not accuracy");
  if (n < kThinRows) out.does_not_show.push_back(fmt::format("a rate: {} rows are a thin sample", n));
  if (n > 1 && f.one_reference_class)
    out.does_not_show.push_back(
        fmt::format("that the device tells classes apart: class {} is the reference's first in every row",
                    result.rows.front().reference.first.empty() ? -1 : result.rows.front().reference.first.front()));
  if (f.labelled > 0 && (result.reference_accuracy->tied > 0 || result.device_accuracy->tied > 0))
    out.notes.push_back(
        fmt::format("the label shares the first place in {} reference and {} device rows; accuracy "
                    "counts them as wrong, the drop against the device",
                    result.reference_accuracy->tied, result.device_accuracy->tied));
}

Json side_json(const ClassificationSpec& spec, const ClassificationSide& side) {
  const char* const fault = side.fault == RowFault::kNone        ? nullptr
                            : side.fault == RowFault::kNonfinite ? "nonfinite"
                                                                 : "no distribution";
  Json json = {{"fault", fault == nullptr ? Json(nullptr) : Json(fault)}, {"constant", side.constant}};
  json["top"] = Json::array();
  for (const ClassProbability& c : side.top) {
    Json entry = {{"class", c.class_index}, {"probability", json_number(c.probability)}};
    if (!spec.class_names.empty()) entry["name"] = spec.class_names[static_cast<size_t>(c.class_index)];
    json["top"].push_back(std::move(entry));
  }
  json["first"] = side.first;
  if (side.hit) json["label"] = name(*side.hit);
  return json;
}

Json row_json(const ClassificationSpec& spec, const ClassificationRow& row) {
  Json json = {{"sample", row.sample}, {"row", row.row}};
  if (row.label) json["label"] = *row.label;
  json["reference"] = side_json(spec, row.reference);
  json["device"] = side_json(spec, row.device);
  if (faulty(row.reference) || faulty(row.device)) return json;
  json["top1"] = name(row.top1);
  json["topk"] = name(row.topk);
  json["same_order"] = row.same_order;
  json["max_probability_difference"] = json_number(row.max_probability_difference);
  json["max_probability_difference_class"] = row.max_probability_difference_class;
  json["mean_probability_difference"] = json_number(row.mean_probability_difference);
  json["top1_probability_difference"] = json_number(row.first_probability_difference);
  json["kl_divergence"] = json_number(row.kl_divergence);
  return json;
}

Json accuracy_json(const std::optional<AccuracyCount>& count) {
  if (!count) return nullptr;
  return {{"right", count->right},
          {"tied", count->tied},
          {"wrong", count->wrong},
          {"share", json_number(count->share)},
          {"interval", to_json(count->interval)}};
}

}  // namespace

ClassificationResult conclude_classification(const ClassificationSpec& spec,
                                             std::vector<ClassificationSample> samples) {
  ClassificationResult result;
  result.spec = spec;
  result.samples = samples.size();
  for (ClassificationSample& sample : samples) {
    for (ClassificationRow& row : sample.rows) result.rows.push_back(std::move(row));
    for (TaskIssue& issue : sample.issues) result.outcome.issues.push_back(std::move(issue));
  }
  count_rows(result);
  const Facts facts = gather(result.rows);
  add_issues(facts, result);
  add_agreement(result, facts);
  add_differences(result, facts);
  add_accuracy(result, facts);
  add_claims(result, facts);
  return result;
}

Json to_json(const ClassificationResult& result) {
  Json json = {
      {"type", "classification"},
      {"name", result.spec.name},
      {"output", result.spec.output},
      {"values", name(result.spec.values)},
      {"k", result.spec.k},
      {"samples", result.samples},
      {"rows_compared", result.judged},
      {"top1", {{"same", result.top1_same}, {"undecided", result.top1_undecided}}},
      {"top1_interval", to_json(result.top1_interval)},
      {"topk", {{"same", result.topk_same}, {"undecided", result.topk_undecided}, {"order", result.order_same}}},
      {"reference_accuracy", accuracy_json(result.reference_accuracy)},
      {"device_accuracy", accuracy_json(result.device_accuracy)},
      {"lost", result.lost},
      {"gained", result.gained}};
  if (result.reference_accuracy) json["drop_interval"] = to_json(result.drop_interval);
  json["outcome"] = to_json(result.outcome);
  json["rows"] = Json::array();
  for (const ClassificationRow& row : result.rows) json["rows"].push_back(row_json(result.spec, row));
  return json;
}

}  // namespace paritas
