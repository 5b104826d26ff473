#include "paritas/project/project.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHead = "schema = \"paritas.project/1\"\n";
const std::string kRecordings = kHead + "[recordings]\nreference = \"a\"\ndevice = \"b\"\n";
const std::string kTargets =
    kHead + "[model]\nreference = \"m.onnx\"\n[targets]\nreference = \"cpu\"\ndevice = \"sim:fp16\"\n";

Project must(const std::string& text) {
  auto project = parse_project(text, "paritas.toml");
  EXPECT_TRUE(project.has_value()) << (project ? "" : project.error().message());
  return project ? std::move(*project) : Project{};
}

std::string error_of(const std::string& text) {
  auto project = parse_project(text, "paritas.toml");
  EXPECT_FALSE(project.has_value()) << text;
  return project ? "" : project.error().message();
}

TEST(Project, TheSmallestComparesTwoRecordings) {
  const Project project = must(kRecordings);
  EXPECT_EQ(project.reference.recording->path, "a");
  EXPECT_EQ(project.device.recording->path, "b");
  EXPECT_FALSE(project.runs_anything());
  EXPECT_TRUE(project.gates.empty());
  EXPECT_EQ(project.gates.sha256, "");
  EXPECT_EQ(project.sha256.size(), 64u);
}

TEST(Project, ReadsEveryPart) {
  const Project project = must(kTargets + R"(
marks = ["enc*"]
[model.dims]
batch = 1
[inputs.images]
images = ["a.jpg", "b.png"]
steps = { resize = { width = 8, height = 4, filter = "bilinear" }, divide_by = 255 }
[inputs.size]
value = [640, 480]
dtype = "int64"
shape = [1, 2]
[inputs.codes]
file = "x.npy"
quantisation = { scale = 0.5, zero_point = 3, rounding = "away" }
[outputs.pred]
role = "scores"
quantisation = { scale = 0.1, zero_point = -5 }
[pairing]
names = "normalised"
aliases = { pred = "Output_1" }
ranked = [{ scores = "pred", ids = "classes" }]
inputs_unverified = true
[gates]
nonfinite = "forbid"
profiles = ["fp16-device"]
[[gate]]
role = "scores"
metric = "cosine"
op = ">="
value = 0.99
[[task]]
type = "classification"
output = "pred"
values = "logits"
labels = "labels.txt"
[[task]]
type = "command"
name = "map"
command = ["evaluate", "{device}"]
outputs = ["boxes"]
[cuts]
encoder = ["f0", "f1"]
[probes]
positions = ["z*", "a"]
[[step]]
type = "locate"
sample = 1
when = "always"
[[step]]
type = "size-probe"
input = "size"
boxes = "boxes"
format = "yxyx"
order = "hw"
)");
  EXPECT_EQ(project.model.device, "m.onnx");
  EXPECT_EQ(project.model.dims.at("batch"), 1);
  ASSERT_EQ(project.inputs.size(), 3u);  // in the order of their names
  EXPECT_EQ(project.inputs[0].quantisation->zero_point, 3);
  EXPECT_EQ(project.inputs[1].source, InputSource::kImages);
  EXPECT_EQ(project.inputs[1].steps->resize.width, 8);
  EXPECT_THAT(project.inputs[2].values, ElementsAre(640, 480));
  EXPECT_EQ(project.outputs[0].role, "scores");
  EXPECT_TRUE(project.pairing.normalised && project.inputs_unverified);
  EXPECT_EQ(project.pairing.aliases.at("pred"), "Output_1");
  EXPECT_EQ(project.ranked[0].ids, "classes");
  EXPECT_EQ(project.gates.gates.size(), 3u);
  EXPECT_EQ(project.gates.nonfinite, NonfinitePolicy::kForbid);
  EXPECT_EQ(project.tasks[0].name, "classification");
  EXPECT_EQ(project.tasks[0].labels, "labels.txt");
  EXPECT_THAT(project.tasks[1].outputs, ElementsAre("boxes"));
  EXPECT_THAT(project.cuts[0].tensors, ElementsAre("f0", "f1"));
  EXPECT_THAT(project.probes, ElementsAre("z*", "a"));  // in the user's order
  EXPECT_TRUE(std::get<LocateStep>(project.steps[0]).always);
  EXPECT_EQ(std::get<SizeProbeStep>(project.steps[1]).order, "hw");
  EXPECT_EQ(project.marks, std::vector<std::string>{"enc*"});
}

TEST(Project, OneSideMayBeRunAndTheOtherRead) {
  const Project project = must(
      kHead +
      "[model]\nreference = \"m.onnx\"\n[inputs.x]\nfile = \"x.npy\"\n[targets]\nreference = "
      "\"cpu\"\n[recordings.device]\npath = \"dump\"\nformat = \"raw\"\ndtype = \"uint8\"\nshapes = { y = [1, 4] }\n");
  EXPECT_EQ(project.device.recording->dtype, DType::kU8);
  EXPECT_EQ(project.device.recording->shapes.at("y"), (Shape{1, 4}));
}

TEST(Project, HashOfGatesFollowsGatesAlone) {
  const std::string gates = "[gates]\nprofiles = [\"monitor\"]\n";
  const auto hash = must(kRecordings + gates).gates.sha256;
  EXPECT_EQ(must(kRecordings + "# a comment\n" + gates).gates.sha256, hash);
  EXPECT_NE(must(kRecordings + "[gates]\nprofiles = [\"strict-fp32\"]\n").gates.sha256, hash);
}

struct Bad {
  std::string text, message;
};
class BadProject : public ::testing::TestWithParam<Bad> {};
TEST_P(BadProject, SaysWhereAndWhat) { EXPECT_THAT(error_of(GetParam().text), HasSubstr(GetParam().message)); }

INSTANTIATE_TEST_SUITE_P(
    All, BadProject,
    ::testing::Values(
        Bad{"", "paritas.toml: the key \"schema\" is missing; begin with schema = \"paritas.project/1\""},
        Bad{"schema = \"paritas.project/9\"", "schema \"paritas.project/9\" is not known"},
        Bad{"schema = ", "not valid TOML at line 1"}, Bad{kHead, "the reference is missing; name it under [targets]"},
        Bad{kRecordings + "[surprise]\n", "unknown key \"surprise\"; keys are schema, gates, gate, model"},
        Bad{kRecordings + "[targets]\ndevice = \"cpu\"\n", "the device is both a target and a recording"},
        Bad{kHead + "[targets]\nreference = \"cpu\"\ndevice = \"cpu\"\n", "there is no model"},
        Bad{kTargets + "[inputs.x]\nfile = \"x\"\nvalue = 1\n", "[inputs.x]: has several sources"},
        Bad{kTargets + "[inputs.x]\nfiles = []\n", "\"files\" must be a list of file names"},
        Bad{kTargets + "[inputs.x]\nfile = [\"x\"]\n", "\"file\" must be a file name"},
        Bad{kTargets + "[inputs.x]\nvalue = 1\n", "a value needs its type and shape"},
        Bad{kTargets + "[inputs.x]\nvalue = [[1]]\ndtype = \"int64\"\nshape = [1]\n", "a flat list of numbers"},
        Bad{kTargets + "[inputs.x]\nvalue = 9007199254740993\ndtype = \"int64\"\nshape = [1]\n", "beyond 2^53"},
        Bad{kTargets + "[inputs.x]\nimage = \"x.png\"\n", "an image needs its steps"},
        Bad{kTargets + "[inputs.x]\nfile = \"x\"\nshape = [-1]\n", "not negative"},
        Bad{kTargets + "[inputs.x]\nfile = \"x\"\nshape = [4294967296, 4294967296]\n", "[inputs.x]"},
        Bad{kTargets + "[inputs.x]\nfile = \"x\"\ndtype = \"float33\"\n", "\"float33\" is not a type"},
        Bad{kTargets + "[inputs.x]\n", "has no source"},
        Bad{kTargets + "[inputs.x]\nfiles = [\"1\", \"2\"]\n[inputs.y]\nfiles = [\"1\", \"2\", \"3\"]\n",
            "has 2 files, another input 3"},
        Bad{kTargets + "[inputs.x]\nimage = \"x\"\nsteps = { resise = 1 }\n", "[inputs.x], steps"},
        Bad{kRecordings + "[outputs.y]\nrole = \"score\"\n", "[outputs.y]: \"score\" is not a role; roles are logits"},
        Bad{kRecordings + "[outputs.y]\n", "declares nothing"},
        Bad{kRecordings + "[pairing]\nnames = \"fuzzy\"\n",
            "\"names\" cannot be \"fuzzy\"; use one of: exact, normalised"},
        Bad{kRecordings + "[pairing]\naliases = { a = 1 }\n", "aliases: \"a\" must be a text"},
        Bad{kRecordings + "[gates]\nprofiles = [\"none\"]\n", "there is no profile \"none\""},
        Bad{kRecordings + "[[gate]]\ntensor = \"y\"\nmetric = \"cosin\"\nop = \">=\"\nvalue = 1\n",
            "\"cosin\" is not a metric"},
        Bad{kRecordings + "[[task]]\nname = \"x\"\n", "task 1: \"type\" is missing"},
        Bad{kRecordings + "[[task]]\ntype = \"segmentation\"\n", "types are classification, detection and command"},
        Bad{kRecordings +
                "[[task]]\ntype = \"command\"\ncommand = [\"x\"]\n[[task]]\ntype = \"command\"\ncommand = [\"y\"]\n",
            "task 2: a task is called \"command\" already"},
        Bad{kRecordings + "[[task]]\ntype = \"detection\"\nboxes = \"b\"\nscores = \"s\"\n", "\"format\" is missing"},
        Bad{kRecordings + "[[step]]\ntype = \"locate\"\n", "runs the model on both sides"},
        Bad{kRecordings + "[[step]]\ntype = \"compare\"\n", "the comparison and every task always run"},
        Bad{kTargets + "[[step]]\ntype = \"size-probe\"\ninput = \"x\"\nboxes = \"b\"\n", "\"format\" is missing"},
        Bad{kRecordings + "[cuts]\ne = [\"f\"]\n", "cuts and probes are positions in a model"},
        Bad{kTargets + "[cuts]\ne = []\n", "\"e\" lists no tensor"}, Bad{kTargets + "[model]\n", "not valid TOML"}));

}  // namespace
}  // namespace paritas
