#include "paritas/vendor/benchmark_model.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using testing::HasSubstr;

// As the format's description has it; no file of the real tool.
const char* kText =
    "STARTING!\n"
    "Profiling Info for Benchmark Initialization:\n"
    "============================== Run Order ==============================\n"
    "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
    "\t         AllocateTensors\t    0.100\t    0.050\t100.000%\t100.000%\t   500.000\t        2\tAllocateTensors/0\n"
    "\n"
    "Timings (microseconds): count=1 curr=100\nMemory (bytes): count=0\n1 nodes observed\n\n"
    "Operator-wise Profiling Info for Regular Benchmark Runs:\n"
    "============================== Run Order ==============================\n"
    "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
    "\t                QUANTIZE\t    0.010\t    0.011\t  1.000%\t  1.000%\t     0.000\t        1\t[a:0, b]:0\n"
    "\t   TfLiteXNNPackDelegate\t    1.010\t    1.011\t 98.000%\t 99.000%\t     0.000\t        1\t[c]:64\n"
    "\t                 SOFTMAX\t    0.010\t    0.011\t  1.000%\t100.000%\t     0.000\t        1\t[probs]:63\n"
    "\n"
    "============================== Top by Computation Time ==============================\n"
    "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
    "\t   TfLiteXNNPackDelegate\t    1.010\t    1.011\t 98.000%\t 99.000%\t     0.000\t        1\t[c]:64\n"
    "\n"
    "Number of nodes executed: 3\n"
    "============================== Summary by node type ==============================\n"
    "\t             [Node type]\t  [count]\t  [avg ms]\t    [avg %]\t    [cdf %]\t  [mem KB]\t[times called]\n"
    "\t                 SOFTMAX\t        1\t     0.010\t     1.000%\t   100.000%\t     0.000\t        1\n"
    "\n"
    "Timings (microseconds): count=50 first=1 curr=2 min=1 max=3 avg=2 std=1\n"
    "Memory (bytes): count=0\n"
    "3 nodes observed\n\n"
    "Delegate internal: \n"
    "============================== Run Order ==============================\n"
    "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
    "\t        DelegateOpInvoke\t    0.010\t    0.011\t  1.000%\t  1.000%\t     0.000\t        1\tConvolution:0\n"
    "\n"
    "Timings (microseconds): count=50 first=1\nMemory (bytes): count=0\n1 nodes observed\n\n";

const char* kCsv =
    "============================== Run Order ==============================\n"
    "node type, first, avg_ms, %, cdf%, mem KB, times called, name\n"
    "CONV_2D/a, b, 0.01, 0.011, 1%, 1%, 0, 1, [a\t b]:0\n"
    "ADD, 0.01, 0.011, 1%, 1%, 0, 2, [c]:1\n"
    "\n"
    "Number of nodes executed: 2\n"
    "============================== Summary by node type ==============================\n"
    "node type, count, avg_ms, avg %, cdf %, mem KB, times called\n"
    "ADD, 1, 0.01, 50%, 50%, 0, 2\n"
    "\n"
    "Timings (microseconds): count=4 first=1\nMemory (bytes): count=0\n2 nodes observed\n";

std::string refused(std::string text) {
  const auto profile = parse_op_profile(text, "profile.txt");
  return profile ? "accepted" : profile.error().message();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.rfind(from), from.size(), to);
  return text;
}

TEST(OpProfile, TheTableForPeople) {
  const OpProfile profile = parse_op_profile(kText, "profile.txt").value();
  ASSERT_EQ(profile.ops.size(), 3U);
  EXPECT_EQ(profile.runs, 50U);
  EXPECT_EQ(profile.ops[0].type, "QUANTIZE");
  EXPECT_EQ(profile.ops[0].name, "[a:0, b]");
  EXPECT_EQ(profile.ops[0].node, 0);
  EXPECT_EQ(profile.ops[0].calls, 1U);
  EXPECT_DOUBLE_EQ(profile.ops[1].first_ms, 1.010);
  EXPECT_DOUBLE_EQ(profile.ops[1].average_ms, 1.011);
  EXPECT_EQ(profile.ops[1].node, 64);
  EXPECT_EQ(profile.ops[2].node, 63);
  ASSERT_EQ(profile.in_delegates.size(), 1U);
  EXPECT_EQ(profile.in_delegates[0].name, "Convolution");
}

TEST(OpProfile, TheCsv) {
  const OpProfile profile = parse_op_profile(kCsv, "profile.csv").value();
  ASSERT_EQ(profile.ops.size(), 2U);
  EXPECT_EQ(profile.ops[0].type, "CONV_2D/a, b");
  EXPECT_EQ(profile.ops[0].name, "[a, b]");
  EXPECT_EQ(profile.ops[1].calls, 2U);
  EXPECT_EQ(profile.runs, 4U);
}

TEST(OpProfile, OlderTablesMixInWhatDelegatesReport) {
  const std::string text =
      with(with(kCsv, "ADD, 0.01, 0.011, 1%, 1%, 0, 2, [c]:1", "DelegateOpInvoke, 1, 1, 1%, 1%, 0, 1, Delegate/Conv:7"),
           "ADD, 1, 0.01, 50%, 50%, 0, 2\n", "");
  const OpProfile profile = parse_op_profile(text, "profile.csv").value();
  EXPECT_EQ(profile.ops.size(), 1U);
  ASSERT_EQ(profile.in_delegates.size(), 1U);
  EXPECT_EQ(profile.in_delegates[0].name, "Conv");
}

TEST(OpProfile, WhatIsNotWholeIsRefused) {
  EXPECT_THAT(refused(""), HasSubstr("no operator profile"));
  const std::string csv = kCsv;
  EXPECT_THAT(refused(csv.substr(0, csv.find("2 nodes observed"))), HasSubstr("not whole"));
  EXPECT_THAT(refused(csv.substr(0, csv.find("ADD,"))), HasSubstr("not whole"));
  EXPECT_THAT(refused(with(csv, "2 nodes observed", "3 nodes observed")),
              HasSubstr("has 2 rows, it says that there were 3"));
  EXPECT_THAT(refused(with(csv, "0, 2, [c]:1", "0, 2")), HasSubstr("line 4: has 7 columns, the table has 8"));
  EXPECT_THAT(refused(with(csv, "0, 2, [c]:1", "0, often, [c]:1")), HasSubstr("line 4: is no row"));
  EXPECT_THAT(refused(with(csv, "[c]:1", "[c]:0")), HasSubstr("lists the node 0 twice"));
  EXPECT_THAT(refused(with(csv, "times called, name", "name")), HasSubstr("the columns"));
  EXPECT_THAT(refused(csv + csv), HasSubstr("several benchmarks"));
}

TEST(OpProfile, TablesOfSubgraphsAreCountedAndLeftOut) {
  const OpProfile profile =
      parse_op_profile("Primary graph profile:\n" + std::string(kCsv) + "\nSubgraph (index: 1) profile:\n" + kCsv, "p")
          .value();
  EXPECT_EQ(profile.ops.size(), 2U);
  EXPECT_EQ(profile.subgraphs, 1U);
}

}  // namespace
}  // namespace paritas
