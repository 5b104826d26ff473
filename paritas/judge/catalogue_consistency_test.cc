#include "paritas/judge/catalogue_consistency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas::catalogue {
namespace {

NoiseFacts facts(const char* check, const char* setting) {
  NoiseFacts facts;
  facts.check = check;
  facts.setting = setting;
  facts.shows = "how far";
  facts.does_not_show = "why";
  facts.outputs = {{"logits", false, 0.0129, 9.06, 1, true}};
  return facts;
}

TEST(CatalogueConsistency, ReferenceNoise) {
  const Finding f = reference_noise(facts("reference optimisation", "none against all"));
  EXPECT_EQ(f.id, "reference-noise");
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_EQ(f.text,
            "The reference moves by itself (reference optimisation: none against all): logits by up to 0.0129 (9.1 dB, "
            "1 elements); a gate fails on that alone.");
  EXPECT_EQ(f.shows, "how far");
  EXPECT_EQ(f.does_not_show, "why");
  EXPECT_FALSE(f.next.empty());
  EXPECT_EQ(f.evidence["outputs"][0]["output"], "logits");
}

TEST(CatalogueConsistency, DeviceNoise) {
  NoiseFacts given = facts("device repeats", "3 runs of one session");
  given.outputs = {{"y", true, 0, 0, 0, false}};
  const Finding f = device_noise(given);
  EXPECT_EQ(f.id, "device-noise");
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_EQ(f.text, "The device moves by itself (device repeats: 3 runs of one session): y (its shape changes).");
  EXPECT_FALSE(f.next.empty());
}

TEST(CatalogueConsistency, RandomOperators) {
  const Finding f =
      random_operators({{"ids", "scores"}, {{"rnd", "RandomNormalLike", "", false}, {"l", "Bernoulli", "Loop", true}}});
  EXPECT_EQ(f.id, "random-operators");
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_EQ(f.text,
            "ids, scores depend on random numbers: \"rnd\" (RandomNormalLike) and 1 more draw anew in each session, so "
            "that what differs may be the draw.");
  EXPECT_THAT(f.nodes, ::testing::ElementsAre("rnd", "l"));
  EXPECT_FALSE(f.shows.empty() || f.does_not_show.empty() || f.next.empty());
  EXPECT_EQ(f.evidence["operators"][1]["inside"], "Loop");
  EXPECT_EQ(
      random_operators({{"y"}, {{"rnd", "Bernoulli", "", true}}}).text,
      "y depends on random numbers: \"rnd\" (Bernoulli) has a seed, which makes both sides draw alike only in the "
      "first runs of sessions on the CPU, so that what differs may be the draw.");
  EXPECT_EQ(random_reason({{"rnd", "RandomNormalLike", "", false}}),
            "cannot tell: depends on \"rnd\" (RandomNormalLike), drawn anew in every session");
  EXPECT_EQ(
      random_reason({{"l", "Bernoulli", "Loop", true}}),
      "cannot tell: depends on \"l\" (Loop with Bernoulli inside), whose seed makes both sides draw alike only in "
      "the first runs of sessions on the CPU");
}

}  // namespace
}  // namespace paritas::catalogue
