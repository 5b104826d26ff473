#include "paritas/judge/metric_table.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MetricTable, EveryNameHasAUnitADescriptionAndIsAMetric) {
  for (const MetricName& metric : metric_names()) {
    EXPECT_TRUE(is_metric(metric.name));
    EXPECT_FALSE(metric.unit.empty());
    EXPECT_FALSE(metric.description.empty());
  }
  EXPECT_FALSE(is_metric("cos"));
  EXPECT_FALSE(metric_value(PairMetrics(), "cos"));
}

TEST(MetricTable, JsonHasTheFieldsOfTheTableAndWritesNonfiniteAsText) {
  PairMetrics m;
  m.count = m.finite = 4;
  m.max_abs = 2;
  m.sqnr_db = INFINITY;
  m.nmse = NAN;
  m.max_ulp = (uint64_t{1} << 53) + 1;
  m.outside = 3;
  m.worst_outside = 7;
  m.nonfinite.nan_other = 1;
  const Json json = to_json(m);
  EXPECT_EQ(json["sqnr_db"], "inf");
  EXPECT_EQ(json["nmse"], "nan");
  EXPECT_EQ(json["max_abs"], 2.0);
  EXPECT_EQ(json["max_ulp"], (uint64_t{1} << 53) + 1);
  EXPECT_EQ(json["outside"], 3);
  EXPECT_EQ(json["worst_outside"], 7.0);
  EXPECT_EQ(json["nonfinite"]["nan_other"], 1);
  for (const char* key :
       {"mean_abs", "mse", "rmse", "cosine", "cosine_distance", "scale_ratio", "max_rel", "differing", "max_abs_index"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_FALSE(json.contains("abs_p50"));
  EXPECT_FALSE(json.contains("max_integer_difference"));
}

TEST(MetricTable, JsonIsReadBackToTheBit) {
  PairMetrics m;
  m.count = m.finite = 10;
  m.cosine = 0.9;
  m.max_abs = 0.5;
  m.reference_min = -1;
  m.reference_max = m.reference_max_abs = 3;
  m.epsilon = 0x1p-10;
  m.steps = StepFigures{0.25, 2, 0.125};
  m.storage.emplace();
  m.storage->max_abs = 0.05;
  m.mean_abs = 1.0 / 3;
  m.nmse = INFINITY;
  m.outside = 7;
  m.worst_outside = INFINITY;
  m.abs_quantiles = {0.1, 0.2, 0.3, 1.0 / 7};
  m.max_ulp = (uint64_t{1} << 63) + 1;
  m.nonfinite.device_only = 2;
  m.nonfinite.nan_other = 2;
  m.zero_norm = true;
  m.codes.emplace();
  m.codes->steps[3] = 9;
  m.codes->device.levels = 5;
  m.storage->lost_energy = 1e-300;
  const Json json = to_json(m);
  const auto parsed = parse_json(dump_json(json), "r").value();
  const auto again = pair_metrics_from_json(parsed, "r");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(to_json(*again), json);
  Json broken = json;
  broken["mean_abs"] = "much";
  EXPECT_THAT(pair_metrics_from_json(broken, "r.json").error().message(),
              AllOf(HasSubstr("r.json"), HasSubstr("\"mean_abs\" is not a number")));
}

}  // namespace
}  // namespace paritas
