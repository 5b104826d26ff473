#include "paritas/vendor/ort_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string node(const std::string& name, const std::string& rest) {
  return R"({"cat" : "Node","pid" :1,"tid" :1,"ts" :9,"ph" : "X","name" :")" + name + "\"," + rest + "}";
}

std::string kernel(const std::string& name, int duration, const std::string& provider = "CPUExecutionProvider") {
  return node(name + "_kernel_time", "\"dur\" :" + std::to_string(duration) +
                                         R"(,"args" : {"op_name" : "Add","provider" : ")" + provider +
                                         R"(","activation_size" : "128","output_size" : "64"})");
}

const std::string kRun =
    R"({"cat" : "Session","pid" :1,"tid" :1,"dur" :70,"ts" :1,"ph" : "X","name" :"model_run","args" : {}})";

class OrtProfileTest : public ::testing::Test {
 protected:
  Result<OrtProfile> read(const std::string& text) { return read_ort_profile(folder_.write("profile.json", text)); }
  std::string refusal(const std::string& text) {
    const auto profile = read(text);
    return profile ? "accepted" : profile.error().message();
  }
  TestFolder folder_;
};

TEST_F(OrtProfileTest, CollectsNodesOverRuns) {
  const auto profile =
      read("[\n" + kRun + ",\n" + kernel("/a", 5) + "," + node("/a_fence_before", "\"dur\" :9,\"args\" : {}") + "," +
           kernel("/b", 7, "DeviceProvider") + "," + kernel("/a", 6) + "," + kRun + "\n]\n")
          .value();
  ASSERT_EQ(profile.nodes.size(), 2u);
  EXPECT_EQ(profile.nodes[0].name, "/a");
  EXPECT_EQ(profile.nodes[0].op, "Add");
  EXPECT_EQ(profile.nodes[0].calls, 2u);
  EXPECT_EQ(profile.nodes[0].microseconds, 11u);
  EXPECT_EQ(profile.nodes[0].input_bytes, 128u);  // of one call
  EXPECT_EQ(profile.nodes[0].output_bytes, 64u);
  EXPECT_EQ(profile.runs, 2u);
  EXPECT_EQ(profile.run_microseconds, 140u);
  EXPECT_EQ(profile.calls_on("CPUExecutionProvider"), 2u);
  EXPECT_EQ(profile.calls_on("DeviceProvider"), 1u);
}

TEST_F(OrtProfileTest, ANodeOnTwoProvidersStaysTwo) {
  const auto profile = read("[" + kernel("/a", 5) + "," + kernel("/a", 6, "DeviceProvider") + "]").value();
  EXPECT_EQ(profile.nodes.size(), 2u);
}

TEST_F(OrtProfileTest, ReadsWhatTheRuntimeWrote) {
  const auto profile = read_ort_profile(Path(PARITAS_SOURCE_DIR) / "tests/cases/data/placement/profile.json").value();
  ASSERT_EQ(profile.nodes.size(), 3u);
  EXPECT_EQ(profile.nodes[1].name, "/attn/Softmax");
  EXPECT_EQ(profile.nodes[1].provider, "CPUExecutionProvider");
  EXPECT_EQ(profile.nodes[1].output_bytes, 128u);  // [1,4,8] float32
  EXPECT_EQ(profile.nodes[2].input_bytes, 256u);   // two of them
  EXPECT_EQ(profile.runs, 1u);
}

TEST_F(OrtProfileTest, WhatIsNoProfileIsRefusedWithTheCause) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("{}"), HasSubstr("expected an array"));
  EXPECT_THAT(refusal("[]"), HasSubstr("holds no event"));
  EXPECT_THAT(refusal("[" + kRun + "]"), HasSubstr("names no node that ran"));
  EXPECT_THAT(refusal(("[" + kernel("/a", 5)).substr(0, 40)),
              AllOf(HasSubstr("profile.json"), HasSubstr("not valid JSON")));
  EXPECT_THAT(refusal("[" + kernel("/a", -5) + "]"), HasSubstr("has no credible duration"));
  EXPECT_THAT(refusal("[" + node("/a_kernel_time", "\"args\" : {\"provider\" : \"P\"}") + "]"),
              HasSubstr("has no credible duration"));
  EXPECT_THAT(refusal("[" + node("/a_kernel_time", "\"dur\" :1,\"args\" : {}") + "]"), HasSubstr("names no provider"));
  EXPECT_THAT(refusal("[" + node("/a_kernel_time", "\"dur\" :1.5") + "]"), HasSubstr("\"dur\" to be a whole number"));
  EXPECT_THAT(refusal("[" + node("/a_kernel_time", "\"dur\" :1,\"args\" : {\"output_size\" : \"-1\"}") + "]"),
              HasSubstr("a size to be a number"));
  EXPECT_THAT(refusal("[7]"), HasSubstr("expected an object"));
}

}  // namespace
}  // namespace paritas
