#include "paritas/vendor/qnn_cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/files.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHeader =
    "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier,ONNX Source Ops\n";

std::string op(const std::string& name, const std::string& cycles, const std::string& sources) {
  return "0,NODE," + cycles + ",CYCLES,BACKEND,SUB-EVENT," + name + ":OpId_7 (cycles)," + sources + "\n";
}

std::string refusal(const std::string& text) {
  const auto cycles = parse_qnn_cycles(text, "qnn.csv");
  return cycles ? "accepted" : cycles.error().message();
}

TEST(QnnCycles, CollectsOperationsOverExecutions) {
  const std::string run = "0,BACKEND,111,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles),\n" +
                          op("/a", "100", "/x;/y") + "0,NODE,3,CYCLES,BACKEND,SUB-EVENT,Input OpId_2 (cycles),\n" +
                          "0,NODE,4,CYCLES,BACKEND,SUB-EVENT,OpId_31 (cycles),\n" + op("/b", "4", "") +
                          "0,EXECUTE,9,US,BACKEND,ROOT,QNN (execute) time,\n";
  const QnnCycles cycles =
      parse_qnn_cycles(kHeader + "0,FINALIZE,5,US,BACKEND,ROOT,QNN (finalize) time,\n" + run + run, "qnn.csv").value();
  ASSERT_EQ(cycles.ops.size(), 2u);
  EXPECT_EQ(cycles.ops[0].name, "/a");
  EXPECT_THAT(cycles.ops[0].sources, ElementsAre("/x", "/y"));
  EXPECT_EQ(cycles.ops[0].calls, 2u);
  EXPECT_EQ(cycles.ops[0].cycles, 200u);
  EXPECT_THAT(cycles.ops[1].sources, IsEmpty());
  EXPECT_EQ(cycles.op_cycles(), 208u);
  EXPECT_EQ(cycles.other_cycles, 14u);
  EXPECT_EQ(cycles.accelerator_cycles, 222u);
  EXPECT_EQ(cycles.executions, 2u);
}

TEST(QnnCycles, QuotedFieldsAndLineEnds) {
  const QnnCycles cycles = parse_qnn_cycles(
                               "Message,Time,Unit of Measurement,Event Level,Event Identifier\r\n"
                               "NODE,5,CYCLES,SUB-EVENT,\"/a,\"\"b\"\":OpId_1 (cycles)\"\r\n",
                               "qnn.csv")
                               .value();
  EXPECT_EQ(cycles.ops[0].name, "/a,\"b\"");
  EXPECT_EQ(cycles.ops[0].cycles, 5u);
}

TEST(QnnCycles, ReadsWhatTheProviderWrote) {
  const QnnCycles cycles =
      read_qnn_cycles(Path(PARITAS_SOURCE_DIR) / "tests/cases/data/placement/qnn_cycles.csv").value();
  EXPECT_EQ(cycles.executions, 2u);  // two partitions
  EXPECT_EQ(cycles.accelerator_cycles, 13697u + 20654u);
  EXPECT_EQ(cycles.op_cycles() + cycles.other_cycles, cycles.accelerator_cycles);
  EXPECT_THAT(cycles.ops[0].sources,
              ElementsAre("gemm_input_reshape", "/q/MatMul/MatMulAddFusion", "gemm_output_reshape"));
}

TEST(QnnCycles, WhatIsNoProfileIsRefusedWithTheCause) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("has no column \"Message\""));
  EXPECT_THAT(refusal(kHeader), HasSubstr("names no device operation"));
  EXPECT_THAT(refusal(kHeader + "0,NODE,5\n"), AllOf(HasSubstr("line 2 has 3 fields"), HasSubstr("cut off")));
  EXPECT_THAT(refusal(kHeader + op("/a", "-5", "")), HasSubstr("line 2: \"-5\" is no number of cycles"));
  EXPECT_THAT(refusal(kHeader + op("/a", "99999999999999999999", "")), HasSubstr("no number of cycles"));
  EXPECT_THAT(refusal(kHeader + "0,NODE,5,CYCLES,\"BACKEND"), HasSubstr("a quote is not closed"));
  EXPECT_THAT(refusal(kHeader + "0,NODE,5,CYCLES,\"B\"x,,,\n"), HasSubstr("text behind a closing quote"));
  std::string large = kHeader;
  for (int i = 0; i < 20; ++i) large += op("/a", "1152921504606846976", "");
  EXPECT_THAT(refusal(large), HasSubstr("more than 64 bits hold"));
}

}  // namespace
}  // namespace paritas
