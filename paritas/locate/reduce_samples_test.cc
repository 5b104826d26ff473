#include "paritas/locate/reduce_samples.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SampleRecord record(uint64_t number, double nmse, Verdict verdict = Verdict::kPass) {
  SampleRecord r;
  r.id = fmt::format("sample-{:06}", number);
  r.verdict = verdict;
  r.reasons = {"y: cosine"};
  const RecordedFigures figures{nmse, 1 - nmse, nmse, std::isfinite(nmse) ? 0U : 1U};
  r.outputs.push_back({"y", verdict, "cosine>=0.9", figures});
  RecordedNode node;
  node.name = node.tensor = "n";
  node.op = "Mul";
  node.local = figures;
  node.consequential = verdict == Verdict::kDeviates;
  r.nodes.push_back(node);
  return r;
}

Finding fault(const std::string& node, const std::string& text) {
  Finding f;
  f.id = "local-cause";
  f.severity = Severity::kFault;
  f.nodes = {node};
  f.text = text;
  f.evidence = Json::object();
  return f;
}

TEST(SamplesReducer, MedianWorstAndWhichSample) {
  SamplesReducer reducer(4);
  const double values[] = {0.25, 0.5, 0.125, 0.0625};
  for (uint64_t i = 0; i < 4; ++i) reducer.add(i, record(i, values[i]));
  const SamplesResult result = reducer.finish();
  ASSERT_EQ(result.nodes.size(), 1);
  const FiguresOverSamples& local = *result.nodes[0].local;
  EXPECT_EQ(local.nmse.median, 0.125);  // the lower of the middle two
  EXPECT_EQ(local.nmse.worst, 0.5);
  EXPECT_EQ(local.nmse.worst_sample, "sample-000001");
  EXPECT_EQ(local.cosine.median, 0.75);
  EXPECT_EQ(local.cosine.worst, 0.5);
  EXPECT_EQ(result.worst_sample, "sample-000001");
  EXPECT_EQ(result.median_sample, "sample-000002");
  EXPECT_EQ(result.verdict, Verdict::kPass);
}

TEST(SamplesReducer, NotANumberIsWorstAndStandsInLineForTheMedian) {
  SamplesReducer reducer(3);
  reducer.add(0, record(0, NAN));
  reducer.add(1, record(1, 0.5));
  reducer.add(2, record(2, INFINITY));
  const SamplesResult result = reducer.finish();
  const FiguresOverSamples& local = *result.nodes[0].local;
  EXPECT_TRUE(std::isnan(local.nmse.worst));
  EXPECT_EQ(local.nmse.worst_sample, "sample-000000");
  EXPECT_EQ(local.nmse.median, INFINITY);
  EXPECT_EQ(local.nonfinite_samples, 2);
  EXPECT_EQ(local.nonfinite_sample, "sample-000000");
}

TEST(SamplesReducer, PassOnlyIfEverySamplePasses) {
  SamplesReducer reducer(3);
  reducer.add(0, record(0, 0.5));
  reducer.add(1, record(1, 0.1, Verdict::kDeviates));
  reducer.add(2, record(2, 0.2, Verdict::kNotJudged));
  const SamplesResult result = reducer.finish();
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("(sample-000001)")));
  EXPECT_EQ(result.worst_sample, "sample-000001");  // by verdict first
  EXPECT_EQ(result.outputs[0].deviates, 1);
  EXPECT_EQ(result.outputs[0].passed, 1);
  EXPECT_EQ(result.outputs[0].worst_sample, "sample-000001");
  EXPECT_THAT(result.ranked, ElementsAre("n"));
}

TEST(SamplesReducer, NaNOnTheDeviceAloneIsWorseThanAnyNmse) {
  SamplesReducer reducer(2);
  SampleRecord broken = record(0, 0.01, Verdict::kDeviates);
  broken.outputs[0].figures->device_nonfinite = 1;
  reducer.add(0, broken);
  reducer.add(1, record(1, 0.9, Verdict::kDeviates));
  const SamplesResult result = reducer.finish();
  EXPECT_EQ(result.worst_sample, "sample-000000");
  EXPECT_EQ(result.outputs[0].worst_sample, "sample-000000");
}

TEST(SamplesReducer, AFailedSampleIsNamedAndInvalid) {
  SamplesReducer reducer(2);
  reducer.add(0, record(0, 0.1));
  reducer.add_failure(1, "sample-000001", Error{ErrorKind::kRuntime, "device", "it died", "", ""});
  const SamplesResult result = reducer.finish();
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.diagnosed, 1);
  EXPECT_EQ(result.reasons.front(), "sample-000001 could not be diagnosed: device: it died");
}

TEST(SamplesReducer, FindingsAreCountedAndToldFromTheWorst) {
  SamplesReducer reducer(4);
  for (uint64_t i = 0; i < 4; ++i) {
    SampleRecord r = record(i, 0.1 * static_cast<double>(i), i >= 2 ? Verdict::kDeviates : Verdict::kPass);
    if (i >= 2) r.findings.push_back(fault("n", fmt::format("from {}.", i)));
    if (i == 2) r.findings.push_back(fault("m", "once."));
    r.first_divergence = i == 2 ? "m" : i == 3 ? "n" : "";
    reducer.add(i, r);
  }
  const SamplesResult result = reducer.finish();
  ASSERT_EQ(result.findings.size(), 3);
  EXPECT_EQ(result.findings[0].holds, 2);
  EXPECT_THAT(result.findings[0].samples, ElementsAre("sample-000002", "sample-000003"));
  EXPECT_THAT(result.findings[0].finding.text, HasSubstr("In sample-000003: from 3."));
  EXPECT_TRUE(result.findings[0].in_worst);
  EXPECT_FALSE(result.findings[0].in_median);
  EXPECT_EQ(result.findings[1].holds, 1);
  EXPECT_EQ(result.findings[2].finding.id, "divergence-varies");
}

TEST(SamplesReducer, MedianOfAPartWhenNotAllFit) {
  // 200 samples, room for the least: 64.
  SamplesReducer reducer(200, 1);
  for (uint64_t i = 0; i < 200; ++i) reducer.add(i, record(i, static_cast<double>(i)));
  const SamplesResult result = reducer.finish();
  const FigureOverSamples& nmse = result.nodes[0].local->nmse;
  EXPECT_EQ(nmse.samples, 200);
  EXPECT_EQ(nmse.median_of, 64);
  EXPECT_EQ(nmse.worst, 199);
  EXPECT_NEAR(nmse.median, 99.5, 30);  // 64 of 200: the median of the part is near that of the whole
  EXPECT_THAT(result.notes, ElementsAre("medians are taken over 64 of the 200 samples"));
}

using catalogue::CellOutcome;

SampleRecord with_cut(uint64_t number, CellOutcome outcome, double nmse, SplitStatus split = SplitStatus::kExact) {
  SampleRecord r = record(number, nmse);
  RecordedCut cut;
  cut.name = "half";
  cut.tensors = {"mid"};
  cut.split = split;
  cut.verdict = outcome == CellOutcome::kDeviates ? Verdict::kDeviates : Verdict::kPass;
  RecordedCell cell;
  cell.front_on_device = true;
  cell.outcome = outcome;
  cell.text = fmt::format("figure of {}", number);
  if (outcome != CellOutcome::kFailed)
    cell.outputs.push_back({"y", cut.verdict, "rule", RecordedFigures{nmse, 1 - nmse, nmse, 0}});
  cut.cells = {cell};
  r.cuts = {cut};
  return r;
}

TEST(SamplesReducer, CellsOfCutsAreCountedWithMedianAndWorst) {
  SamplesReducer reducer(5);
  reducer.add(0, with_cut(0, CellOutcome::kHolds, 0.125));
  reducer.add(1, with_cut(1, CellOutcome::kDeviates, 0.25));
  reducer.add(2, with_cut(2, CellOutcome::kDeviates, 0.5, SplitStatus::kOptimiser));
  reducer.add(3, with_cut(3, CellOutcome::kFailed, 0));
  SampleRecord other = with_cut(4, CellOutcome::kHolds, 0.75);
  other.cuts[0].tensors = {"elsewhere"};  // the same name, but another cut
  reducer.add(4, other);
  const SamplesResult result = reducer.finish();
  ASSERT_EQ(result.cuts.size(), 2U);
  const CutOverSamples& cut = result.cuts[0];
  EXPECT_EQ(cut.samples, 4U);
  EXPECT_EQ(cut.verdict, Verdict::kDeviates);
  EXPECT_THAT(cut.splits, ElementsAre(std::pair(SplitStatus::kExact, uint64_t{3}),
                                      std::pair(SplitStatus::kOptimiser, uint64_t{1})));
  ASSERT_EQ(cut.cells.size(), 1U);
  const CellOverSamples& cell = cut.cells[0];
  EXPECT_EQ(cell.holds, 1U);
  EXPECT_EQ(cell.deviates, 2U);
  EXPECT_EQ(cell.failed, 1U);
  EXPECT_EQ(cell.worst_sample, "sample-000002");
  EXPECT_EQ(cell.text, "figure of 2");
  ASSERT_EQ(cell.outputs.size(), 1U);
  EXPECT_EQ(cell.outputs[0].figures->cosine.samples, 3U);
  EXPECT_EQ(cell.outputs[0].figures->nmse.median, 0.25);
  EXPECT_EQ(cell.outputs[0].figures->cosine.worst, 0.5);
}

TEST(SamplesReducer, FindingsOfOtherCutsAreOthers) {
  SamplesReducer reducer(1);
  SampleRecord r = record(0, 0.5);
  for (const char* cut : {"one", "two"}) {
    Finding f = fault("", cut);
    f.nodes.clear();
    f.id = "cut-front";
    f.evidence = {{"cut", cut}};
    r.findings.push_back(f);
  }
  reducer.add(0, r);
  EXPECT_EQ(reducer.finish().findings.size(), 2U);
}

TEST(SampleRecord, CutsAreReadBack) {
  const SampleRecord r = with_cut(0, CellOutcome::kDrawn, 0.25, SplitStatus::kRandom);
  const auto again = sample_record_from_json(to_json(r), "r.json");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(to_json(*again), to_json(r));
  Json broken = to_json(r);
  broken["cuts"][0]["split"] = "perhaps";
  EXPECT_THAT(sample_record_from_json(broken, "r.json").error().message(), HasSubstr("\"split\""));
}

}  // namespace
}  // namespace paritas
