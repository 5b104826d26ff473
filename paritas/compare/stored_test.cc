#include "paritas/compare/stored.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/compare/compare.h"
#include "paritas/compare/many.h"
#include "paritas/compare/result_json.h"
#include "paritas/compare/summary.h"
#include "paritas/compare/test_streams.h"

namespace paritas {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kSamples = 21;

// Values without a pattern that could hide a wrong order of adding.
std::vector<float> values(size_t sample, double error) {
  std::vector<float> v(50);
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(std::sin(static_cast<double>(i * 7 + sample * 3)) +
                              error * std::cos(static_cast<double>(i + sample)));
  return v;
}

std::pair<MemoryStream, MemoryStream> streams(size_t first, size_t end) {
  std::pair<MemoryStream, MemoryStream> pair{MemoryStream("ref"), MemoryStream("dev")};
  for (size_t s = first; s < end; ++s) {
    for (auto [stream, error] :
         {std::pair(&pair.first, 0.0), std::pair(&pair.second, 0.01 * static_cast<double>(s % 5))}) {
      stream->input("x", values(s, 0), s - first);
      stream->output("a", values(s, error), s - first);
      stream->intermediate("i", values(s + 9, error / 3), s - first);
    }
  }
  return pair;
}

// Ids of a part are those of the whole.
class Renumbered : public SampleStream {
 public:
  Renumbered(MemoryStream& stream, size_t first) : stream_(stream), first_(first) {}
  const RunInfo& info() const override { return stream_.info(); }
  const std::string& subject() const override { return stream_.subject(); }
  uint64_t sample_count() const override { return stream_.sample_count(); }
  Result<Sample> sample(uint64_t index) override {
    PARITAS_ASSIGN(Sample sample, stream_.sample(index));
    sample.id = "sample-" + std::to_string(first_ + index);
    return sample;
  }

 private:
  MemoryStream& stream_;
  size_t first_;
};

CompareOptions options() {
  CompareOptions made;
  made.gates.gates.push_back(parse_gate("a: cosine>=0.99").value());
  made.quantiles = true;
  return made;
}

CompareResult compare_range(size_t first, size_t end, bool part) {
  auto [x, y] = streams(first, end);
  Renumbered a(x, first), b(y, first);
  CompareOptions o = options();
  if (part) o.part = Part{first, kSamples, kSamples};
  return compare_streams(a, b, o).value();
}

TEST(MergeParts, AnyNumberOfPartsGivesTheWholeToTheBit) {
  const std::string whole = dump_json(to_json(compare_range(0, kSamples, false)));
  for (const size_t count : {1u, 3u, 7u}) {
    std::vector<CompareResult> parts;
    std::vector<std::string> names;
    for (size_t k = count; k-- > 0;) {  // in any order
      const CompareResult part = compare_range(k * kSamples / count, (k + 1) * kSamples / count, true);
      // Through a file, as on another machine.
      parts.push_back(compare_result_from_json(parse_json(dump_json(to_json(part)), "p").value(), "p").value());
      names.push_back("part " + std::to_string(k));
    }
    const auto merged = merge_parts(std::move(parts), names);
    ASSERT_TRUE(merged) << merged.error().message();
    EXPECT_EQ(dump_json(to_json(*merged)), whole) << count << " parts";
  }
}

TEST(MergeParts, GapsOverlapsAndStrangersAreErrors) {
  const auto merge = [](std::vector<CompareResult> parts) {
    std::vector<std::string> names;
    for (size_t i = 0; i < parts.size(); ++i) names.push_back(std::to_string(i));
    const auto merged = merge_parts(std::move(parts), names);
    return merged ? std::string("merged") : merged.error().message();
  };
  EXPECT_THAT(merge({compare_range(0, 5, true), compare_range(6, kSamples, true)}),
              HasSubstr("samples 5 to 5 are missing"));
  EXPECT_THAT(merge({compare_range(0, 5, true), compare_range(4, kSamples, true)}), HasSubstr("begins with sample 4"));
  CompareResult other = compare_range(5, kSamples, true);
  other.gates_sha256 = "another";
  EXPECT_THAT(merge({compare_range(0, 5, true), other}), HasSubstr("another comparison"));
  // What is missing at an end is missing as well.
  EXPECT_THAT(merge({compare_range(0, 5, true)}), HasSubstr("samples 5 to 20 are missing"));
  EXPECT_THAT(merge({compare_range(5, kSamples, true)}), HasSubstr("samples 0 to 4 are missing"));
  other = compare_range(5, kSamples, true);
  other.settings = {"ranked scores = ids"};
  EXPECT_THAT(merge({compare_range(0, 5, true), other}), HasSubstr("another comparison"));
  other = compare_range(5, kSamples, true);
  other.device_info.start = "2026-01-01T00:00:00Z";  // recorded again in between
  EXPECT_THAT(merge({compare_range(0, 5, true), other}), HasSubstr("another comparison"));
}

TEST(Parts, SidesOfDifferentLengthAreInvalidInEveryPart) {
  auto [x, y] = streams(0, 3);
  CompareOptions o = options();
  o.part = Part{0, 3, 2};
  EXPECT_EQ(compare_streams(x, y, o)->verdict, Verdict::kInvalid);
}

// Ids and counts: no cosine, and a baseline does not compare one either. Quantised values have theirs.
TEST(Summaries, PlainIntegersHaveNoDirection) {
  TensorComparison t;
  t.name = "ids";
  t.metrics = PairMetrics{};
  t.metrics->differing = 1;
  t.metrics->cosine = 0.5;
  t.metrics->nmse = 0.25;
  const auto metrics = [&] {
    std::vector<std::string> names;
    const auto summaries = summarise({t});
    for (const MetricSummary& m : summaries.at(0).metrics) names.push_back(m.metric);
    return names;
  };
  EXPECT_THAT(metrics(), Contains("cosine"));
  t.metrics->max_integer_difference = 3;
  for (const char* absent : {"cosine", "nmse", "sqnr_db"}) EXPECT_THAT(metrics(), Not(Contains(absent)));
  for (const char* present : {"differing", "max_abs"}) EXPECT_THAT(metrics(), Contains(present));
  CompareResult now, before;
  now.tensors = before.tensors = {t};
  for (CompareResult* result : {&now, &before}) result->tensors[0].status = PairStatus::kCompared;
  now.tensors[0].metrics->cosine = 0.1;
  EXPECT_TRUE(compare_with_baseline(now, before, "old.json").changes.empty());
}

TEST(Summaries, NameTheWorstSample) {
  const CompareResult result = compare_range(0, kSamples, false);
  ASSERT_EQ(result.summaries.front().name, "a");
  double worst = 2;
  std::string sample;
  for (const TensorComparison& t : result.tensors)
    if (t.name == "a" && t.metrics->cosine < worst) {
      worst = t.metrics->cosine;
      sample = t.sample;
    }
  for (const MetricSummary& m : result.summaries.front().metrics)
    if (m.metric == "cosine") {
      EXPECT_EQ(m.worst, worst);
      EXPECT_EQ(m.worst_sample, sample);
      EXPECT_EQ(m.samples, kSamples);
      EXPECT_LE(m.p99, m.median);
    }
}

TEST(JudgeAgain, UsesStoredFiguresAndSaysSo) {
  const CompareResult stored = compare_range(0, kSamples, false);
  const auto strict = judge_again(stored, load_gates(std::nullopt, {"a: cosine>=0.9999999"}).value());
  ASSERT_TRUE(strict);
  EXPECT_EQ(strict->verdict, Verdict::kDeviates);
  EXPECT_TRUE(strict->decided_afterwards);
  EXPECT_THAT(strict->notes, Contains(HasSubstr("decided afterwards")));
  EXPECT_EQ(judge_again(stored, load_gates(std::nullopt, {"a: cosine>=0.9"}).value())->verdict, Verdict::kPass);
}

TEST(Parts, APartThatWasJudgedAfterwardsMarksTheWhole) {
  CompareResult part = compare_range(0, 5, true);
  part.decided_afterwards = true;
  EXPECT_TRUE(merge_parts({part, compare_range(5, kSamples, true)}, {"p0", "p1"})->decided_afterwards);
}

TEST(Baseline, GrowthToInfinityIsWorse) {
  CompareResult before = compare_range(0, 1, false), after = before;
  for (TensorComparison& t : after.tensors)
    if (t.name == "a") t.metrics->nmse = t.metrics->max_abs = std::numeric_limits<double>::infinity();
  const BaselineComparison since = compare_with_baseline(after, before, "before.json");
  ASSERT_EQ(since.changes.size(), 2u);
  for (const Regression& r : since.changes) EXPECT_TRUE(r.worse) << r.metric;
}

TEST(JudgeAgain, GatesThatCannotFailProveNothingAfterwardsEither) {
  const CompareResult stored = compare_range(0, kSamples, false);
  const auto blind = judge_again(stored, load_gates(std::nullopt, {"a: max_abs>=0"}).value()).value();
  EXPECT_EQ(blind.verdict, Verdict::kNotJudged);
  EXPECT_THAT(blind.notes, Contains(HasSubstr("\"a: max_abs >= 0\" (--gate) cannot fail")));
  const auto judged = judge_again(blind, load_gates(std::nullopt, {"a: cosine>=0.9"}).value()).value();
  EXPECT_EQ(judged.verdict, Verdict::kPass);
  EXPECT_THAT(judged.notes, Not(Contains(HasSubstr("cannot fail"))));  // that was about other gates
}

TEST(JudgeAgain, GatesThatCannotBeServedAreNoPass) {
  const CompareResult stored = compare_range(0, kSamples, false);
  const auto result = judge_again(stored, load_gates(std::nullopt, {"a: outside<=0, atol=100"}).value());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::kNotJudged);
  EXPECT_THAT(result->notes, Contains(HasSubstr("cannot serve")));
  EXPECT_FALSE(judge_again(stored, load_gates(std::nullopt, {"b: cosine>=0"}).value()));
}

TEST(JudgeAgain, DifferentInputsStayDifferent) {
  MemoryStream x("ref"), y("dev");
  x.input("x", {1}).output("a", {1, 2, 3, 4});
  y.input("x", {2}).output("a", {1, 2, 3, 4});
  const CompareResult stored = compare_streams(x, y, options()).value();
  EXPECT_EQ(judge_again(stored, load_gates(std::nullopt, {"a: cosine>=0.9"}).value())->verdict, Verdict::kInvalid);
}

TEST(Baseline, ShowsWhatBecameWorseSince) {
  const CompareResult before = compare_range(0, kSamples, false);
  CompareResult now = before;
  for (TensorComparison& t : now.tensors)
    if (t.name == "i") {
      t.metrics->max_abs *= 3;
      t.metrics->cosine = 1 - 2 * (1 - t.metrics->cosine);
    }
  std::erase_if(now.tensors, [](const TensorComparison& t) { return t.name == "a" && t.sample == "sample-3"; });
  now.device_info.runtime.version = "2";
  const BaselineComparison since = compare_with_baseline(now, before, "old.json");
  EXPECT_THAT(since.gone, Contains("a"));
  EXPECT_THAT(since.provenance, Contains(HasSubstr("runtime version")));
  ASSERT_FALSE(since.changes.empty());
  for (const Regression& r : since.changes) {
    EXPECT_EQ(r.tensor, "i");
    EXPECT_TRUE(r.worse);
  }
  EXPECT_TRUE(compare_with_baseline(before, before, "same").changes.empty());
}

TEST(Stored, ForeignAndBrokenFilesAreRefused) {
  Json json = to_json(compare_range(0, 2, false));
  EXPECT_FALSE(compare_result_from_json(Json::array(), "r"));
  const auto check = compare_result_from_json({{"schema", "paritas.check/1"}, {"tasks", Json::array()}}, "r");
  EXPECT_THAT(check.error().message(), HasSubstr("a result of paritas check"));
  EXPECT_THAT(check.error().message(), HasSubstr("paritas compare --samples"));
  for (const char* key : {"schema", "tensors", "samples", "gates", "provenance", "notes"}) {
    Json broken = json;
    broken.erase(key);
    EXPECT_FALSE(compare_result_from_json(broken, "r")) << key;
  }
  Json lying = json;
  lying["tensors"][0].erase("metrics");
  EXPECT_THAT(compare_result_from_json(lying, "r").error().message(), HasSubstr("were changed after"));
  // Edited figures, verdicts, sample counts, and tensors that were taken out.
  for (const char* pointer : {"/tensors/0/metrics/max_abs", "/tensors/0/verdict", "/samples", "/first_sample"}) {
    Json edited = json;
    edited[Json::json_pointer(pointer)] = pointer == std::string("/tensors/0/verdict") ? Json("invalid") : Json(7);
    EXPECT_FALSE(compare_result_from_json(edited, "r")) << pointer;
  }
  Json shorter = json;
  shorter["tensors"].erase(0);
  EXPECT_FALSE(compare_result_from_json(shorter, "r"));
}

CompareResult pair(const std::vector<float>& x, const std::vector<float>& y, const std::string& a,
                   const std::string& b) {
  MemoryStream s("s"), t("t");
  s.output("a", x).edit_info().provider = a;
  t.output("a", y).edit_info().provider = b;
  CompareOptions o;
  o.inputs_unverified = true;
  return compare_streams(s, t, o).value();
}

TEST(Many, SaysWhichDifferenceExistsWithoutTheAccelerator) {
  const std::string cpu = "CPUExecutionProvider", npu = "NPU";
  ManyResult result =
      conclude_many({"host", "board", "npu"},
                    {pair({1, 2}, {1, 3}, cpu, cpu), pair({1, 2}, {1, 4}, cpu, npu), pair({1, 3}, {1, 4}, cpu, npu)});
  EXPECT_THAT(result.findings, Contains(HasSubstr("host and board differ with no accelerator")));
  EXPECT_THAT(result.findings, Contains(HasSubstr("not the accelerator's alone")));
  result = conclude_many({"host", "board", "npu"}, {pair({1, 2}, {1, 2}, cpu, cpu), pair({1, 2}, {1, 4}, cpu, npu),
                                                    pair({1, 2}, {1, 4}, cpu, npu)});
  EXPECT_THAT(result.findings,
              Contains(HasSubstr("Only pairs with the accelerator (a delegate, or a simulated device) differ")));
  result = conclude_many({"a", "b", "c"}, {pair({1}, {2}, "", ""), pair({1}, {2}, "", npu), pair({1}, {2}, "", npu)});
  EXPECT_THAT(result.findings, Contains(HasSubstr("nothing is concluded")));
}

}  // namespace
}  // namespace paritas
