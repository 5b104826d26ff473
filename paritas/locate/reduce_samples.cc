#include "paritas/locate/reduce_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "paritas/judge/catalogue_samples.h"

namespace paritas {
namespace {

// Kinds of findings and notes that are kept apart; networks have far fewer.
constexpr size_t kMostGroups = 512;
constexpr size_t kMostNotes = 64;
constexpr size_t kMostReasons = 20;
constexpr size_t kMostNamed = 64;
constexpr uint64_t kFiguresPerNode = 11;

// A number that looks random but depends on `value` alone (finaliser of the SplitMix64 generator).
uint64_t scattered(uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

// A NaN is worse than anything.
bool worse_value(double a, double b, bool smaller_is_worse) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return smaller_is_worse ? a < b : a > b;
}

bool worse_sample(Verdict a, double a_nmse, Verdict b, double b_nmse) {
  return a != b ? a < b : worse_value(a_nmse, b_nmse, false);
}

// The finding's kind and the node or the cut that it is about; further nodes may differ from sample to sample.
std::string group_key(const Finding& finding) {
  std::string key = finding.id + "\n" + (finding.nodes.empty() ? "" : finding.nodes.front());
  if (finding.evidence.is_object() && finding.evidence.contains("cut")) key += "\n" + finding.evidence["cut"].dump();
  return key;
}

using catalogue::CellOutcome;

// Of two samples' outcomes of a cell, the one to be told: what breaks comes first, then what is not known.
int severity(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::kDeviates:
      return 4;
    case CellOutcome::kFailed:
      return 3;
    case CellOutcome::kDrawn:
      return 2;
    case CellOutcome::kUnknown:
      return 1;
    case CellOutcome::kHolds:
      return 0;
  }
  return 0;
}

template <class Figure>
std::optional<FigureOverSamples> conclude(Figure& figure) {
  if (figure.samples == 0) return std::nullopt;
  FigureOverSamples f;
  f.samples = figure.samples;
  f.median_of = figure.values.size();
  f.worst = figure.worst;
  f.worst_sample = figure.worst_sample;
  auto& values = figure.values;
  std::sort(values.begin(), values.end(),
            [&](double a, double b) { return worse_value(b, a, figure.smaller_is_worse); });
  f.median = values.empty() ? std::numeric_limits<double>::quiet_NaN()
                            : values[figure.smaller_is_worse ? values.size() / 2 : (values.size() - 1) / 2];
  values = {};
  return f;
}

template <class Figures>
std::optional<FiguresOverSamples> conclude_all(Figures& figures) {
  auto nmse = conclude(figures.nmse);
  if (!nmse) return std::nullopt;
  return FiguresOverSamples{*nmse, *conclude(figures.cosine), *conclude(figures.max_abs), figures.nonfinite_samples,
                            figures.nonfinite_sample};
}

}  // namespace

// As many samples as fit, or all: those whose numbers' hashes are smallest.
void SamplesReducer::choose_for_medians(size_t nodes) {
  const uint64_t bytes_per_sample = std::max<uint64_t>(1, nodes) * kFiguresPerNode * sizeof(double);
  const uint64_t fit = std::max(kLeastForMedian, median_bytes_ / bytes_per_sample);
  median_limit_ = std::numeric_limits<uint64_t>::max();
  if (fit >= asked_) return;
  std::vector<uint64_t> hashes;
  hashes.reserve(asked_);
  for (uint64_t i = 0; i < asked_; ++i) hashes.push_back(scattered(i));
  std::nth_element(hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(fit - 1), hashes.end());
  median_limit_ = hashes[fit - 1];
  result_.notes.push_back(fmt::format("medians are taken over {} of the {} samples", fit, asked_));
}

void SamplesReducer::take(Figure& figure, double value, const std::string& sample) const {
  if (figure.samples++ == 0 || worse_value(value, figure.worst, figure.smaller_is_worse)) {
    figure.worst = value;
    figure.worst_sample = sample;
  }
  if (counts_for_median_) figure.values.push_back(value);
}

void SamplesReducer::take(Figures& figures, const std::optional<RecordedFigures>& recorded,
                          const std::string& sample) const {
  if (!recorded) return;
  take(figures.nmse, recorded->nmse, sample);
  take(figures.cosine, recorded->cosine, sample);
  take(figures.max_abs, recorded->max_abs, sample);
  if (recorded->device_nonfinite > 0 && figures.nonfinite_samples++ == 0) figures.nonfinite_sample = sample;
}

void SamplesReducer::add(uint64_t number, const SampleRecord& record) {
  if (result_.diagnosed++ == 0) {
    choose_for_medians(record.nodes.size());
    result_.provenance = record.provenance;
    result_.pinned = record.pinned;
  }
  other_pins_ = other_pins_ || record.pinned != result_.pinned;
  counts_for_median_ = scattered(number) <= median_limit_;
  SampleOutcome outcome;
  outcome.id = record.id;
  outcome.verdict = record.verdict;
  if (!record.reasons.empty()) outcome.reason = record.reasons.front();
  outcome.first_divergence = record.first_divergence;
  outcome.first_divergence_tensor = record.first_divergence_tensor;
  outcome.on_device = record.on_device;
  outcome.placed = record.placed;
  add_outputs(record, outcome);
  add_nodes(record);
  add_decisions(record, outcome);
  add_cuts(record);
  add_findings(record, outcome);
  for (const std::string& note : record.notes) {
    auto it = std::find_if(notes_.begin(), notes_.end(), [&](const auto& n) { return n.first == note; });
    if (it != notes_.end())
      ++it->second;
    else if (notes_.size() < kMostNotes)
      notes_.emplace_back(note, 1);
    else
      ++notes_left_out_;
  }
  result_.samples.push_back(std::move(outcome));
}

void SamplesReducer::add_failure(uint64_t, const std::string& id, const Error& error) {
  SampleOutcome outcome;
  outcome.id = id;
  outcome.failure = error.message();
  result_.samples.push_back(std::move(outcome));
}

// The sample's NMSE. It is of finite pairs: what the device alone makes NaN or infinite is worse than any.
double SamplesReducer::add_output(std::vector<Output>& outputs, const RecordedOutput& o,
                                  const std::string& sample) const {
  auto it = std::find_if(outputs.begin(), outputs.end(), [&](const auto& other) { return other.row.name == o.name; });
  const bool first = it == outputs.end();
  if (first) {
    outputs.emplace_back();
    it = std::prev(outputs.end());
    it->row.name = o.name;
  }
  OutputOverSamples& row = it->row;
  const double nmse = !o.figures                        ? 0
                      : o.figures->device_nonfinite > 0 ? std::numeric_limits<double>::infinity()
                                                        : o.figures->nmse;
  (o.verdict == Verdict::kInvalid     ? row.invalid
   : o.verdict == Verdict::kDeviates  ? row.deviates
   : o.verdict == Verdict::kNotJudged ? row.not_judged
                                      : row.passed)++;
  if (first || worse_sample(o.verdict, nmse, row.verdict, it->worst_nmse)) {
    row.verdict = o.verdict;
    row.rule = o.rule;
    row.worst_sample = sample;
    it->worst_nmse = nmse;
  }
  take(it->figures, o.figures, sample);
  return nmse;
}

void SamplesReducer::add_outputs(const SampleRecord& record, SampleOutcome& outcome) {
  for (const RecordedOutput& o : record.outputs) {
    const double nmse = add_output(outputs_, o, record.id);
    if (o.figures && worse_value(nmse, outcome.nmse, false)) outcome.nmse = nmse;
  }
}

void SamplesReducer::add_cell(Cell& cell, const RecordedCell& recorded, const std::string& sample) const {
  CellOverSamples& row = cell.row;
  (recorded.outcome == CellOutcome::kHolds      ? row.holds
   : recorded.outcome == CellOutcome::kDeviates ? row.deviates
   : recorded.outcome == CellOutcome::kUnknown  ? row.not_judged
   : recorded.outcome == CellOutcome::kFailed   ? row.failed
                                                : row.drawn)++;
  double nmse = 0;
  for (const RecordedOutput& o : recorded.outputs) {
    const double of_output = add_output(cell.outputs, o, sample);
    if (worse_value(of_output, nmse, false)) nmse = of_output;
  }
  const int now = severity(recorded.outcome), before = severity(cell.worst);
  if (!row.worst_sample.empty() && (now < before || (now == before && !worse_value(nmse, cell.worst_nmse, false))))
    return;
  cell.worst = recorded.outcome;
  cell.worst_nmse = nmse;
  row.worst_sample = sample;
  row.text = recorded.text;
}

// Cuts of one name are the same only where they cut at the same tensors.
void SamplesReducer::add_cuts(const SampleRecord& record) {
  for (const RecordedCut& c : record.cuts) {
    auto it = std::find_if(cuts_.begin(), cuts_.end(),
                           [&](const Cut& cut) { return cut.row.name == c.name && cut.row.tensors == c.tensors; });
    if (it == cuts_.end()) {
      cuts_.emplace_back();
      it = std::prev(cuts_.end());
      it->row.name = c.name;
      it->row.tensors = c.tensors;
      it->row.verdict = c.verdict;
    }
    CutOverSamples& row = it->row;
    ++row.samples;
    row.verdict = worse(row.verdict, c.verdict);
    auto split = std::find_if(row.splits.begin(), row.splits.end(), [&](const auto& s) { return s.first == c.split; });
    if (split == row.splits.end()) split = row.splits.insert(row.splits.end(), {c.split, 0});
    ++split->second;
    for (const RecordedCell& cell : c.cells) {
      auto at = std::find_if(it->cells.begin(), it->cells.end(), [&](const Cell& other) {
        return other.row.front_on_device == cell.front_on_device && other.row.rear_on_device == cell.rear_on_device;
      });
      if (at == it->cells.end()) {
        it->cells.emplace_back();
        at = std::prev(it->cells.end());
        at->row.front_on_device = cell.front_on_device;
        at->row.rear_on_device = cell.rear_on_device;
      }
      add_cell(*at, cell, record.id);
    }
  }
}

void SamplesReducer::conclude_cuts() {
  for (Cut& cut : cuts_) {
    for (Cell& cell : cut.cells) {
      for (Output& output : cell.outputs) {
        output.row.figures = conclude_all(output.figures);
        cell.row.outputs.push_back(std::move(output.row));
      }
      cut.row.cells.push_back(std::move(cell.row));
    }
    result_.cuts.push_back(std::move(cut.row));
  }
}

void SamplesReducer::add_nodes(const SampleRecord& record) {
  for (const RecordedNode& n : record.nodes) {
    const auto [it, added] = node_at_.emplace(n.tensor, nodes_.size());
    if (added) {
      nodes_.emplace_back();
      nodes_.back().row.name = n.name;
      nodes_.back().row.op = n.op;
      nodes_.back().row.tensor = n.tensor;
    }
    Node& node = nodes_[it->second];
    ++node.row.samples;
    take(node.accumulated, n.accumulated, record.id);
    take(node.forced, n.forced, record.id);
    take(node.local, n.local, record.id);
    if (n.x_baseline) take(node.x_baseline, *n.x_baseline, record.id);
    if (n.sensitivity) take(node.sensitivity, *n.sensitivity, record.id);
    node.row.overflow += n.range == RangeViolation::kOverflow;
    node.row.underflow += n.range == RangeViolation::kUnderflow;
    node.row.consequential += n.consequential;
  }
}

void SamplesReducer::add_decisions(const SampleRecord& record, SampleOutcome& outcome) {
  for (const RecordedDecision& d : record.decisions) {
    auto& all = result_.decisions;
    auto it = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.tensor == d.tensor; });
    if (it == all.end()) it = all.insert(all.end(), {d.node, d.op, d.tensor, d.count, 0, 0, {}});
    if (d.moved == 0) continue;
    ++outcome.decisions_changed;
    ++it->changed;
    if (d.moved > it->worst) {
      it->worst = d.moved;
      it->worst_sample = record.id;
    }
  }
}

// A group is told with the numbers of the worst sample that it holds on.
void SamplesReducer::add_findings(const SampleRecord& record, const SampleOutcome& outcome) {
  const size_t place = result_.samples.size();
  for (const Finding& finding : record.findings) {
    const std::string key = group_key(finding);
    auto it = std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.first == key; });
    const bool first = it == groups_.end();
    if (first) {
      if (groups_.size() == kMostGroups) {
        ++groups_left_out_;
        continue;
      }
      groups_.emplace_back(key, Group{});
      it = std::prev(groups_.end());
    }
    Group& group = it->second;
    if (first || worse_sample(outcome.verdict, outcome.nmse, group.verdict, group.nmse)) {
      group.told = finding;
      group.told_from = record.id;
      group.verdict = outcome.verdict;
      group.nmse = outcome.nmse;
    }
    group.holds.resize(place + 1, false);
    group.holds[place] = true;
  }
}

void SamplesReducer::conclude_samples() {
  VerdictBuilder builder;
  const SampleOutcome* worst = nullptr;
  std::vector<const SampleOutcome*> diagnosed;
  for (const SampleOutcome& s : result_.samples) {
    const std::string of = " (" + s.id + ")";
    if (!s.failure.empty()) {
      builder.invalid(s.id + " could not be diagnosed: " + s.failure);
      continue;
    }
    diagnosed.push_back(&s);
    if (worst == nullptr || worse_sample(s.verdict, s.nmse, worst->verdict, worst->nmse)) worst = &s;
    builder.add(s.verdict, s.reason + of);
  }
  result_.verdict = builder.verdict();
  result_.reasons = builder.reasons();
  result_.reasons.resize(std::min<size_t>(result_.reasons.size(), builder.deciding()));  // the others are in the table
  if (result_.reasons.size() > kMostReasons) {
    const size_t more = result_.reasons.size() - kMostReasons;
    result_.reasons.resize(kMostReasons);
    result_.reasons.push_back(fmt::format("... and {} more", more));
  }
  if (diagnosed.empty()) return;
  result_.worst_sample = worst->id;
  std::stable_sort(diagnosed.begin(), diagnosed.end(),
                   [](const auto* a, const auto* b) { return worse_value(b->nmse, a->nmse, false); });
  result_.median_sample = diagnosed[(diagnosed.size() - 1) / 2]->id;
}

void SamplesReducer::conclude_nodes() {
  for (Output& output : outputs_) {
    output.row.figures = conclude_all(output.figures);
    result_.outputs.push_back(std::move(output.row));
  }
  for (Node& node : nodes_) {
    node.row.accumulated = conclude_all(node.accumulated);
    node.row.accumulated_forced = conclude_all(node.forced);
    node.row.local = conclude_all(node.local);
    node.row.x_baseline = conclude(node.x_baseline);
    node.row.sensitivity = conclude(node.sensitivity);
    result_.nodes.push_back(std::move(node.row));
  }
  std::vector<const NodeOverSamples*> order;
  for (const NodeOverSamples& node : result_.nodes)
    if (node.local) order.push_back(&node);
  std::stable_sort(order.begin(), order.end(), [](const NodeOverSamples* a, const NodeOverSamples* b) {
    if (a->consequential != b->consequential) return a->consequential > b->consequential;
    return a->consequential == 0 && worse_value(a->local->nmse.worst, b->local->nmse.worst, false);
  });
  std::set<std::string> seen;
  for (const NodeOverSamples* node : order)
    if (seen.insert(node->name).second) result_.ranked.push_back(node->name);
}

void SamplesReducer::conclude_findings() {
  auto place_of = [&](const std::string& id) {
    return static_cast<size_t>(std::find_if(result_.samples.begin(), result_.samples.end(),
                                            [&](const SampleOutcome& s) { return s.id == id; }) -
                               result_.samples.begin());
  };
  const size_t worst = place_of(result_.worst_sample), median = place_of(result_.median_sample);
  for (auto& [key, group] : groups_) {
    FindingOverSamples f;
    for (size_t i = 0; i < group.holds.size(); ++i)
      if (group.holds[i] && f.holds++ < kMostNamed) f.samples.push_back(result_.samples[i].id);
    f.told_from = group.told_from;
    f.in_worst = worst < group.holds.size() && group.holds[worst];
    f.in_median = median < group.holds.size() && group.holds[median];
    catalogue::OverSamplesFacts facts{f.holds,
                                      result_.diagnosed,
                                      f.told_from,
                                      f.in_worst,
                                      f.in_median,
                                      result_.worst_sample,
                                      result_.median_sample,
                                      {},
                                      0,
                                      0,
                                      {},
                                      0};
    const std::string node = group.told.nodes.empty() ? "" : group.told.nodes.front();
    for (const NodeOverSamples& row : result_.nodes)
      if (row.name == node && row.local) {
        facts.node = node;
        facts.local_median = row.local->nmse.median;
        facts.local_worst = row.local->nmse.worst;
        facts.local_worst_sample = row.local->nmse.worst_sample;
        facts.local_nonfinite = row.local->nonfinite_samples;
        break;
      }
    f.finding = catalogue::over_samples(group.told, facts);
    result_.findings.push_back(std::move(f));
  }
  // Faults first, what holds on more samples before what holds on fewer.
  std::stable_sort(result_.findings.begin(), result_.findings.end(), [](const auto& a, const auto& b) {
    if (a.finding.severity != b.finding.severity) return a.finding.severity == Severity::kFault;
    return a.holds > b.holds;
  });
  std::map<std::string, uint64_t> divergences;
  for (const SampleOutcome& s : result_.samples)
    if (!s.first_divergence.empty()) ++divergences[s.first_divergence];
  if (divergences.size() > 1) {
    FindingOverSamples f;
    f.finding = catalogue::divergence_varies({divergences.begin(), divergences.end()}, result_.diagnosed);
    for (const auto& [node, samples] : divergences) f.holds += samples;
    f.told_from = result_.worst_sample;
    f.in_worst = true;
    result_.findings.push_back(std::move(f));
  }
}

SamplesResult SamplesReducer::finish() {
  result_.asked = asked_;
  conclude_samples();
  conclude_nodes();
  conclude_cuts();
  conclude_findings();
  for (const auto& [note, samples] : notes_)
    result_.notes.push_back(samples == result_.diagnosed
                                ? note
                                : fmt::format("{} (on {} of {} samples)", note, samples, result_.diagnosed));
  if (other_pins_)
    result_.notes.push_back("samples have different shapes: the free dimensions that are shown are of the first");
  if (notes_left_out_ > 0) result_.notes.push_back(fmt::format("{} further notes of single samples", notes_left_out_));
  if (groups_left_out_ > 0)
    result_.notes.push_back(fmt::format("{} further findings of single samples are left out", groups_left_out_));
  return std::move(result_);
}

}  // namespace paritas
