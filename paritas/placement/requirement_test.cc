#include "paritas/placement/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/placement/testing.h"

namespace paritas {
namespace {

using namespace paritas::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PlacementAudit audit_of(const PlacementEvidence& evidence) {
  static const SmallGraph graph = small_graph();
  AuditRequest request;
  request.model = &graph.model;
  request.index = &graph.index;
  request.requested = kDevice;
  return audit_placement(request, evidence).value();
}

PlacementAudit split() {
  PlacementEvidence evidence;
  evidence.assignment = split_assignment();
  return audit_of(evidence);
}

RequirementOutcome check(const std::string& text) {
  return check_requirement(parse_requirement(text).value(), split(), "m.onnx").value();
}

TEST(Requirements, AreParsedOrRefused) {
  EXPECT_EQ(parse_requirement("100%")->share, 1.0);
  EXPECT_EQ(parse_requirement("99.5%")->pattern, "");
  EXPECT_EQ(parse_requirement("/a=b/*=50%")->pattern, "/a=b/*");
  for (const char* wrong : {"100", "%", "all", "101%", "-1%", "=50%", "a=", "nan%", "5 %"})
    EXPECT_THAT(parse_requirement(wrong).error().message(), HasSubstr("is not PERCENT%")) << wrong;
}

TEST(Requirements, OnTheWholeGraphCountOptimisedNodes) {
  const RequirementOutcome all = check("100%");
  EXPECT_FALSE(all.met);
  EXPECT_TRUE(all.optimised);
  EXPECT_EQ(all.on_device, 2u);
  EXPECT_EQ(all.counted, 3u);
  EXPECT_THAT(all.missing, ElementsAre("Softmax:s", "Identity:i"));
  EXPECT_TRUE(check("66%").met);
  EXPECT_FALSE(check("67%").met);  // 66.67 %
  EXPECT_TRUE(check("0%").met);
}

// What profiles alone show; the profile need not name every node.
RequirementOutcome by_profile(const std::string& text, std::vector<ProfiledNode> nodes) {
  PlacementEvidence evidence;
  evidence.profile = FromFile<OrtProfile>{"profile.json", {std::move(nodes), 1, 5}};
  return check_requirement(parse_requirement(text).value(), audit_of(evidence), "m.onnx").value();
}

TEST(Requirements, ANodeIsOnTheDeviceWhenAllOfItIs) {
  for (const bool cpu_first : {false, true}) {
    std::vector<ProfiledNode> nodes = {ran("MatMul:m", "MatMul", kDevice, 5), ran("MatMul:m", "MatMul", kCpu, 5)};
    if (cpu_first) std::swap(nodes[0], nodes[1]);
    EXPECT_FALSE(by_profile("MatMul*=100%", nodes).met) << cpu_first;
  }
  EXPECT_TRUE(by_profile("MatMul*=100%", {ran("MatMul:m", "MatMul", kDevice, 5)}).met);
}

TEST(Requirements, WhatOnlySurroundsSuggestsIsNotShown) {
  std::vector<ProfiledNode> ends = {ran("MatMul:m", "MatMul", kDevice, 5), ran("Add:a", "Add", kDevice, 5),
                                    ran("Mul:y", "Mul", kDevice, 5)};
  EXPECT_FALSE(by_profile("100%", ends).met);
  EXPECT_THAT(by_profile("100%", ends).missing, ElementsAre("Softmax:s", "Identity:i"));
  ends.push_back(ran("Softmax:s", "Softmax", kDevice, 5));
  ends.push_back(ran("Identity:i", "Identity", kDevice, 5));
  EXPECT_TRUE(by_profile("100%", ends).met);
}

TEST(Requirements, OnPatternsCountSourceNodes) {
  EXPECT_TRUE(check("M*=100%").met);  // MatMul and Mul
  EXPECT_FALSE(check("op:Softmax=100%").met);
  EXPECT_THAT(check("op:Softmax=100%").missing, ElementsAre("Softmax:s"));
  EXPECT_FALSE(check("Identity*=1%").met);  // nobody shows where it is
  EXPECT_THAT(check("M*=100%").missing, IsEmpty());
}

TEST(Requirements, OnNothingAreMistakes) {
  const auto refused = [&](const char* text) {
    return check_requirement(parse_requirement(text).value(), split(), "m.onnx").error().message();
  };
  EXPECT_THAT(refused("Convolution*=100%"), HasSubstr("fits no node of m.onnx that depends on its inputs"));
  EXPECT_THAT(refused("Neg*=100%"), HasSubstr("fits no node"));  // a constant is nowhere
}

TEST(Requirements, ThatNothingIsKnownOfAreNotMet) {
  PlacementAudit nothing;
  nothing.nodes = {{"a", "Add"}};
  nothing.totals.source_nodes = 1;
  EXPECT_FALSE(check_requirement(parse_requirement("1%").value(), nothing, "m")->met);
  nothing = {};
  EXPECT_FALSE(check_requirement(parse_requirement("0%").value(), nothing, "m")->met);
}

}  // namespace
}  // namespace paritas
