#include "paritas/placement/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/placement/testing.h"

namespace paritas {
namespace {

using namespace paritas::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class Audit : public ::testing::Test {
 protected:
  AuditRequest request() const {
    AuditRequest made;
    made.model = &graph_.model;
    made.index = &graph_.index;
    made.requested = kDevice;
    return made;
  }
  Result<PlacementAudit> audit(const PlacementEvidence& evidence) const { return audit_placement(request(), evidence); }
  static const NodePlacement& node(const PlacementAudit& audit, const std::string& name) {
    for (const NodePlacement& each : audit.nodes)
      if (each.name == name) return each;
    ADD_FAILURE() << "no node " << name;
    return audit.nodes.front();
  }
  static PlacementEvidence assignment() {
    PlacementEvidence evidence;
    evidence.assignment = split_assignment();
    return evidence;
  }
  // All sources of the same session.
  static PlacementEvidence everything() {
    PlacementEvidence evidence = assignment();
    evidence.profile = FromFile<OrtProfile>{"profile.json", split_profile()};
    evidence.op_trace = FromFile<OpTrace>{"trace.json", split_trace()};
    QnnCycles cycles;
    cycles.ops = {{"mm", {"MatMul:m/MatMulAddFusion"}, 1, 900}, {"y", {"Mul:y"}, 1, 0}};
    cycles.other_cycles = 100;
    cycles.accelerator_cycles = 1000;
    cycles.executions = 2;
    evidence.cycles = FromFile<QnnCycles>{"qnn.csv", cycles};
    return evidence;
  }
  SmallGraph graph_ = small_graph();
};

TEST_F(Audit, SessionAssignmentAloneGivesPlacesAndCounts) {
  const PlacementAudit result = audit(assignment()).value();
  EXPECT_EQ(node(result, "MatMul:m").place, Place::kDevice);
  EXPECT_EQ(node(result, "Add:a").place, Place::kDevice);  // by the fusion's name
  EXPECT_THAT(node(result, "Add:a").seen_as, ElementsAre("MatMul:m/MatMulAddFusion"));
  EXPECT_EQ(node(result, "Softmax:s").place, Place::kFallbackCpu);
  EXPECT_EQ(node(result, "Neg:c").place, Place::kConstant);
  EXPECT_EQ(node(result, "Identity:i").place, Place::kUnknown);  // between two places
  EXPECT_EQ(result.totals.source_nodes, 6u);
  EXPECT_EQ(result.totals.optimised_nodes, 3u);
  EXPECT_EQ(result.totals.optimised_on_device, 2u);
  EXPECT_EQ(result.totals.device_partitions, 2u);
  EXPECT_DOUBLE_EQ(result.device_share(), 2.0 / 3.0);
  EXPECT_THAT(result.optimised, ElementsAre(Pair(kCpu, 1), Pair(kDevice, 2)));
  EXPECT_THAT(result.contradictions, IsEmpty());
}

TEST_F(Audit, ANodeThatNobodyNamesIsWhereEverythingAroundItIs) {
  PlacementEvidence evidence;
  evidence.assignment = {assigned("MatMul:m/MatMulAddFusion", "Gemm", kDevice, 0),
                         assigned("Softmax:s", "Softmax", kDevice, 0), assigned("Mul:y", "Mul", kDevice, 0)};
  const PlacementAudit result = audit(evidence).value();
  EXPECT_EQ(node(result, "Identity:i").place, Place::kDevice);
  EXPECT_TRUE(node(result, "Identity:i").inferred);
  EXPECT_THAT(node(result, "Identity:i").evidence, IsEmpty());
  EXPECT_EQ(result.totals.inferred, 1u);
  EXPECT_EQ(result.totals.crossings, 0u);
}

TEST_F(Audit, ThreeCpusAreToldApart) {
  AuditRequest made = request();
  made.planned = {"op:Softmax"};
  EXPECT_EQ(node(audit_placement(made, assignment()).value(), "Softmax:s").place, Place::kPlannedCpu);
  made.planned = {"Soft*"};
  EXPECT_EQ(node(audit_placement(made, assignment()).value(), "Softmax:s").place, Place::kPlannedCpu);
  made.planned = {"Mul*"};
  EXPECT_EQ(node(audit_placement(made, assignment()).value(), "Softmax:s").place, Place::kFallbackCpu);
  made.cpu_backend = true;
  const PlacementAudit vendor = audit_placement(made, assignment()).value();
  EXPECT_EQ(node(vendor, "Mul:y").place, Place::kVendorCpu);
  EXPECT_EQ(vendor.on_device(), 0u);  // the provider took it, the accelerator did not
  EXPECT_EQ(vendor.totals.optimised_on_device, 2u);
  made = request();
  made.requested = kCpu;  // a half that was planned for the CPU
  PlacementEvidence cpu;
  cpu.assignment = {assigned("Softmax:s", "Softmax", kCpu, 0)};
  EXPECT_EQ(node(audit_placement(made, cpu).value(), "Softmax:s").place, Place::kPlannedCpu);
  EXPECT_EQ(audit_placement(made, cpu)->on_device(), 0u);
  cpu.profile = FromFile<OrtProfile>{"profile.json", {{ran("Softmax:s", "Softmax", kCpu, 5)}, 1, 5}};
  EXPECT_FALSE(audit_placement(made, cpu)->totals.device_share_by_time.has_value());  // of no device
}

TEST_F(Audit, TheOpTraceTellsOfAVendorsCpuBackEnd) {
  PlacementEvidence evidence;
  evidence.op_trace = FromFile<OpTrace>{"trace.json", split_trace()};
  evidence.op_trace->content.backend = "cpu";
  const PlacementAudit result = audit(evidence).value();
  EXPECT_TRUE(result.cpu_backend);
  EXPECT_EQ(node(result, "Mul:y").place, Place::kVendorCpu);
}

TEST_F(Audit, AllSourcesOfOneSessionAgree) {
  const PlacementAudit result = audit(everything()).value();
  EXPECT_THAT(result.contradictions, IsEmpty());
  EXPECT_THAT(node(result, "Mul:y").evidence,
              ElementsAre(EvidenceSource::kAssignment, EvidenceSource::kOpTrace, EvidenceSource::kCycles));
  EXPECT_THAT(node(result, "Softmax:s").evidence,
              ElementsAre(EvidenceSource::kAssignment, EvidenceSource::kProfile, EvidenceSource::kOpTrace));
  EXPECT_EQ(node(result, "Softmax:s").microseconds, 10u);
  EXPECT_EQ(node(result, "MatMul:m").cycles, 900u);
  EXPECT_TRUE(node(result, "MatMul:m").cycles_shared);  // with the Add
  EXPECT_THAT(node(result, "MatMul:m").device_ops, ElementsAre("FullyConnected"));
  EXPECT_DOUBLE_EQ(*result.totals.device_share_by_time, 0.9);
  EXPECT_EQ(result.totals.device_cycles, 900u);
  EXPECT_EQ(result.totals.other_cycles, 100u);
  EXPECT_EQ(result.executed_ops, 1u);
  ASSERT_THAT(result.partitions, SizeIs(3));
  EXPECT_EQ(result.partitions[0].name, "DeviceExecutionProvider 1");
  EXPECT_EQ(result.partitions[0].microseconds, 60u);
  EXPECT_EQ(result.partitions[1].microseconds, 10u);
  EXPECT_EQ(result.partitions[2].microseconds, 30u);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("1 of 2 device operations have 0 cycles"), HasSubstr("m.onnx")));
}

TEST_F(Audit, CrossingsAreTensorsBetweenPartitions) {
  const PlacementAudit result = audit(assignment()).value();
  // a (device 1) goes to Softmax on the CPU and to Mul in the other partition; s goes to Mul through an Identity whose
  // place is unknown. 1 x 4 float32 are 16 bytes.
  ASSERT_THAT(result.crossings, SizeIs(2));
  EXPECT_EQ(result.crossings[0].tensor, "a");
  EXPECT_THAT(result.crossings[0].to, ElementsAre(kCpu, "DeviceExecutionProvider 2"));
  EXPECT_EQ(result.crossings[0].bytes, 16u);
  EXPECT_EQ(result.crossings[1].tensor, "s");
  EXPECT_THAT(result.crossings[1].to, ElementsAre("DeviceExecutionProvider 2"));
  EXPECT_EQ(result.totals.crossings, 3u);
  EXPECT_EQ(result.totals.crossing_bytes, 48u);
}

TEST_F(Audit, PlacesOfOneNodeThatDifferAreAContradiction) {
  PlacementEvidence evidence = assignment();
  evidence.profile = FromFile<OrtProfile>{"profile.json", split_profile()};
  evidence.profile->content.nodes.push_back(ran("Mul:y", "Mul", kCpu, 5));
  const PlacementAudit result = audit(evidence).value();
  ASSERT_THAT(result.contradictions, SizeIs(1));
  EXPECT_EQ(
      result.contradictions[0].text,
      "1 node has two places: on DeviceExecutionProvider by the session assignment, on CPUExecutionProvider by the "
      "profile");
  EXPECT_THAT(result.contradictions[0].nodes, ElementsAre("Mul:y"));
}

TEST_F(Audit, ANodeThatTheTraceLeavesMayBeAnywhereButOnTheDevice) {
  PlacementEvidence evidence = assignment();
  evidence.op_trace = FromFile<OpTrace>{"trace.json", split_trace()};
  EXPECT_THAT(audit(evidence)->contradictions, IsEmpty());
  evidence.op_trace->content.left.push_back({"Mul:y", "Mul", ""});  // it is in a partition too: a copy of it
  EXPECT_THAT(audit(evidence)->contradictions, IsEmpty());
  evidence.op_trace->content.ops.pop_back();
  const PlacementAudit result = audit(evidence).value();
  ASSERT_THAT(result.contradictions, SizeIs(1));
  EXPECT_THAT(result.contradictions[0].text, HasSubstr("not on DeviceExecutionProvider by the op trace"));
  // Without any other source: not on the device, and no more. One that names the provider tells more.
  PlacementEvidence alone;
  alone.op_trace = FromFile<OpTrace>{"trace.json", split_trace()};
  EXPECT_EQ(node(audit(alone).value(), "Softmax:s").place, Place::kElsewhere);
  EXPECT_EQ(audit(alone)->totals.optimised_nodes, 3u);
}

TEST_F(Audit, CountsThatDifferAreContradictions) {
  PlacementEvidence evidence = everything();
  evidence.profile->content.nodes.pop_back();  // a partition that never ran
  evidence.op_trace->content.taken_nodes = 3;
  evidence.cycles->content.ops[0].name = "nn";
  std::vector<std::string> texts;
  const PlacementAudit result = audit(evidence).value();
  for (const auto& contradiction : result.contradictions) texts.push_back(contradiction.text);
  EXPECT_THAT(texts, ElementsAre("the session assignment has 2 nodes on the device, the op trace 3",
                                 "the session assignment has 2 partitions on the device, the profile 1",
                                 "the profile has 1 partitions on the device, the op trace 2",
                                 "the profile has 1 executions of partitions, the cycles 2",
                                 "1 of 2 device operations that have cycles are not in the op trace (\"nn\")"));
}

TEST_F(Audit, EvidenceOfAnotherModelIsRefusedWithHowManyNamesMap) {
  PlacementEvidence evidence;
  OrtProfile profile;
  for (const char* name : {"conv1", "conv2", "conv3", "conv4"}) profile.nodes.push_back(ran(name, "Conv", kCpu, 1));
  profile.nodes.push_back(ran("Mul:y", "Mul", kCpu, 1));
  evidence.profile = FromFile<OrtProfile>{"other.json", profile};
  const auto refused = audit(evidence);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message(),
              AllOf(HasSubstr("other.json: is of another model: 1 of its 5 node names lead to a node of test.onnx"),
                    HasSubstr("\"conv1\" does not")));
  // A quarter is enough, and what does not map is listed.
  evidence.profile->content.nodes.erase(evidence.profile->content.nodes.begin());
  EXPECT_THAT(audit(evidence)->unmapped, ElementsAre("conv2", "conv3", "conv4"));
}

// Names alone prove nothing: exporters number nodes alike.
TEST_F(Audit, AProfileWithOtherOperatorsIsRefusedOrNamed) {
  PlacementEvidence evidence;
  OrtProfile profile;
  for (const char* name : {"MatMul:m", "Add:a", "Softmax:s", "Mul:y"})
    profile.nodes.push_back(ran(name, "Conv", kDevice, 1));
  evidence.profile = FromFile<OrtProfile>{"other.json", profile};
  const auto refused = audit(evidence);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message(),
              AllOf(HasSubstr("other.json: is of another model: 0 of its 4 node names lead to a node of test.onnx"),
                    HasSubstr("\"Add:a\" has another operator than Add")));
  // What ONNX Runtime makes of an operator under the node's own name is no other operator.
  evidence.profile->content.nodes = {ran("MatMul:m", "QLinearMatMul", kDevice, 1),
                                     ran("Add:a", "QLinearAdd", kDevice, 1),
                                     ran("Softmax:s", "BiasSoftmax", kDevice, 1), ran("Mul:y", "Conv", kDevice, 1)};
  const PlacementAudit result = audit(evidence).value();
  ASSERT_THAT(result.contradictions, SizeIs(1));
  EXPECT_EQ(result.contradictions[0].text,
            "the profile has another operator than the model for 1 node (\"Mul:y\" is Conv there and Mul in the "
            "model), and is not believed about it");
  EXPECT_THAT(result.contradictions[0].nodes, ElementsAre("Mul:y"));
  EXPECT_EQ(node(result, "MatMul:m").provider, kDevice);
  EXPECT_EQ(node(result, "Mul:y").evidence.size(), 0u);
}

TEST_F(Audit, NamesThatTheRuntimeMadeUpCountForNothing) {
  PlacementEvidence evidence = assignment();
  evidence.assignment.push_back(assigned("gemm_input_reshape_token_3", "Reshape", kDevice, 0));
  evidence.assignment.push_back(assigned("Transpose_token_417", "Transpose", kDevice, 0));
  const PlacementAudit result = audit(evidence).value();
  EXPECT_THAT(result.unmapped, IsEmpty());
  EXPECT_EQ(result.made_up, 2u);
  EXPECT_EQ(result.evidence[0].names, 3u);
}

TEST_F(Audit, CyclesWithoutSourcesAreFoundThroughTheTrace) {
  PlacementEvidence evidence = everything();
  for (auto& op : evidence.cycles->content.ops) op.sources.clear();
  EXPECT_EQ(node(audit(evidence).value(), "Add:a").cycles, 900u);
}

TEST_F(Audit, CyclesThatDoNotAddUpAreNoted) {
  PlacementEvidence evidence = everything();
  evidence.cycles->content.accelerator_cycles = 5000;
  EXPECT_THAT(audit(evidence)->notes[0], AllOf(HasSubstr("add up to 1000"), HasSubstr("counted 5000")));
}

TEST_F(Audit, TimeOfBodiesIsCountedOnce) {
  PlacementEvidence evidence;
  OrtProfile profile = split_profile();
  profile.nodes.push_back(ran("Mul:y", "If", kCpu, 1000));
  evidence.profile = FromFile<OrtProfile>{"profile.json", profile};
  EXPECT_DOUBLE_EQ(*audit(evidence)->totals.device_share_by_time, 0.9);
}

TEST(PlacementPatterns, AreNamesOrOperators) {
  EXPECT_TRUE(pattern_fits("/enc/*", "/enc/a", "Add"));
  EXPECT_FALSE(pattern_fits("/enc/*", "/dec/a", "Add"));
  EXPECT_TRUE(pattern_fits("op:Reduce*", "/x", "ReduceMean"));
  EXPECT_FALSE(pattern_fits("op:Add", "op:Add", "Mul"));
}

}  // namespace
}  // namespace paritas
