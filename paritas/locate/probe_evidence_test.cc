#include "paritas/locate/probe_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A Softmax "/s" that makes "p", a finding about it, and whether its error alone was material.
struct Case {
  ProbeChecks checks;
  std::vector<NodeRow> rows;
  Sensitivities sensitivities;
  std::vector<Finding> findings;

  explicit Case(double share) {
    NodeRow row;
    row.name = "/s";
    row.tensor = "p";
    rows.push_back(row);
    sensitivities.alone["p"].share = share;
    Finding f;
    f.id = "local-cause";
    f.nodes = {"/s"};
    f.text = "text.";
    f.evidence = Json::object();
    findings.push_back(f);
  }

  const Finding& added() {
    add_probe_evidence(checks, rows, sensitivities, findings);
    return findings.front();
  }
};

SoftmaxCheck sums(double device, double storage) {
  SoftmaxCheck check;
  check.node = "/s";
  check.rows = 4;
  check.device.max = device;
  check.storage = SumError{storage, storage / 2};
  return check;
}

TEST(ProbeEvidence, SumsFarBeyondStorageAreNamedWhereInjectionConvicts) {
  Case c(0.9);
  c.checks.softmax = {sums(0.5, 0.001)};
  EXPECT_THAT(c.added().text, HasSubstr("sum to 1 only within 0.5"));
}

TEST(ProbeEvidence, WithoutAConvictionFiguresStayFigures) {
  Case c(0.01);
  c.checks.softmax = {sums(0.5, 0.001)};
  EXPECT_EQ(c.added().text, "text.");
  Case other(0.9);
  other.findings[0].nodes = {"/elsewhere"};
  other.checks.softmax = {sums(0.5, 0.001)};
  EXPECT_EQ(other.added().text, "text.");
}

TEST(ProbeEvidence, WhatStoringCostsIsNoEvidence) {
  Case c(0.9);
  c.checks.softmax = {sums(0.002, 0.001)};
  EXPECT_EQ(c.added().text, "text.");
  c.checks.softmax[0].storage.reset();  // no storage type is known
  c.checks.softmax[0].device.max = 0.5;
  EXPECT_EQ(c.added().text, "text.");
}

TEST(ProbeEvidence, AStatisticMustExplainTheError) {
  for (const double rest : {0.05, 0.4}) {
    Case c(0.9);
    NormCheck check;
    check.node = "/n";
    NormStep step;
    step.node = "/s";
    check.steps = {step};
    check.implied = ImpliedStatistic{};
    check.implied->scale_rms = 0.5;
    check.implied->result_rms = 0.5;
    check.implied->rest_rms = rest;
    c.checks.norms = {check};
    EXPECT_EQ(c.added().evidence.contains("implied_statistic"), rest == 0.05);
    // By the division alone, nothing is known of the steps before it.
    Case apart(0.9);
    check.whole = false;
    apart.checks.norms = {check};
    EXPECT_EQ(apart.added().text, "text.");
  }
}

TEST(ProbeEvidence, AKernelBeyondSumsInTheStorageType) {
  Case c(0.9);
  SumCheck check;
  check.node = "/s";
  check.terms = 32;
  check.accumulation_rms = 0.1;
  check.kernel_rms = 0.2;
  c.checks.sums = {check};
  EXPECT_EQ(c.added().text, "text.");
  c.checks.sums[0].kernel_rms = 1;
  EXPECT_THAT(c.added().text, HasSubstr("10 times what rounding every one of 32 partial sums would cost"));
}

}  // namespace
}  // namespace paritas
