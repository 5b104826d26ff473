#include "paritas/project/check.h"

#include <fstream>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"
#include "paritas/project/init.h"
#include "paritas/project/prepared.h"
#include "paritas/project/project.h"
#include "paritas/project/task_checks.h"
#include "paritas/recording/recording.h"
#include "paritas/tensor/npy.h"
#include "paritas/tensor/safetensors.h"

namespace paritas {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor floats(const std::vector<float>& values, Shape shape) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

// A project of two recordings, without a runtime.
class CheckTest : public ::testing::Test {
 protected:
  static void record(const Path& folder, const std::vector<std::pair<std::string, Tensor>>& tensors,
                     size_t inputs = 1) {
    auto writer = RecordingWriter::create(folder, false);
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(writer->add_sample(tensors).has_value());
    RunInfo info;
    for (size_t i = 0; i < tensors.size(); ++i) {
      TensorInfo tensor;
      tensor.name = tensors[i].first;
      tensor.dtype = tensors[i].second.dtype;
      tensor.role = i < inputs ? Role::kInput : Role::kOutput;
      info.tensors.push_back(std::move(tensor));
    }
    ASSERT_TRUE(writer->finish(info).has_value());
  }
  void logits(const std::vector<float>& reference, const std::vector<float>& device,
              const std::string& device_name = "y") {
    const Tensor x = floats({1, 2, 3}, {3});
    record(folder_.path() / "a", {{"x", x}, {"y", floats(reference, {1, 3})}});
    record(folder_.path() / "b", {{"x", x}, {device_name, floats(device, {1, 3})}});
  }
  Result<CheckResult> run(const std::string& rest, bool allow_exec = false, bool allow_outside = false) {
    CheckRequest request;
    const std::string sides = "[recordings]\nreference = \"a\"\ndevice = \"b\"\n";
    request.project =
        folder_.write("paritas.toml", "schema = \"paritas.project/1\"\n" +
                                          (rest.find("[recordings]") == std::string::npos ? sides : "") + rest);
    request.allow_exec = allow_exec;
    request.allow_outside = allow_outside;
    request.scratch_root = folder_.path();
    return check(request);
  }
  CheckResult must(const std::string& rest, bool allow_exec = false, bool allow_outside = false) {
    auto result = run(rest, allow_exec, allow_outside);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message());
    if (!result) return {};
    EXPECT_EQ(to_json(*result)["schema"], "paritas.check/1");
    return std::move(*result);
  }
  std::string error_of(const std::string& rest, bool allow_exec = false) {
    auto result = run(rest, allow_exec);
    EXPECT_FALSE(result.has_value());
    return result ? "" : result.error().message();
  }

  TestFolder folder_;
  const std::string task_ =
      "[[task]]\ntype = \"classification\"\nname = \"classes\"\noutput = \"y\"\nvalues = \"logits\"\nk = 2\n";
  const std::string tensor_gate_ = "[[gate]]\ntensor = \"y\"\nmetric = \"cosine\"\nop = \">=\"\nvalue = 0.9\n";
  static std::string task_gate(const std::string& figure, const std::string& op, double value,
                               const std::string& task = "classes") {
    return "[[gate]]\ntask = \"" + task + "\"\nmetric = \"" + figure + "\"\nop = \"" + op +
           "\"\nvalue = " + std::to_string(value) + "\n";
  }
};

TEST_F(CheckTest, WithoutGatesNothingPasses) {
  logits({1, 2, 3}, {1, 2, 3});
  const auto result = must("");
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_THAT(result.notes, Contains(HasSubstr("nothing can pass")));
}

TEST_F(CheckTest, TensorsAndTasksMakeTheVerdict) {
  logits({1, 2, 3}, {1, 2, 3.5F});
  EXPECT_EQ(must(tensor_gate_).verdict, Verdict::kPass);
  EXPECT_EQ(must(tensor_gate_ + task_).verdict, Verdict::kNotJudged);  // a task without a gate proves nothing
  EXPECT_EQ(must(tensor_gate_ + task_gate("top1_agreement", ">=", 1) + task_).verdict, Verdict::kPass);
  const auto failed = must(tensor_gate_ + task_gate("max_probability_difference", "<=", 0.01) + task_);
  EXPECT_EQ(failed.verdict, Verdict::kDeviates);
  EXPECT_THAT(failed.reasons.front(), HasSubstr("classes: max_probability_difference"));
}

TEST_F(CheckTest, OutputsOfAJudgedTaskNeedNoGateOfTheirOwn) {
  logits({1, 2, 3}, {1, 2, 3.5F});
  const auto result = must(task_gate("top1_agreement", ">=", 1) + task_);
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_THAT(result.reasons, ElementsAre("y: left to the task \"classes\"", "classes: top1_agreement 1 >= 1"));
}

TEST_F(CheckTest, AGateThatIsPassedOverCoversNothing) {
  logits({1, 2, 3}, {3, 2, 1});
  const std::string passed_over =
      "[[gate]]\ntask = \"*\"\noptional = true\nall = [{ metric = \"top1_agreement\", op = \">=\", value = 1 }, "
      "{ metric = \"unmatched\", op = \"<=\", value = 0 }]\n";
  EXPECT_EQ(must(passed_over + task_gate("top1_undecided", "<=", 0) + task_).verdict, Verdict::kNotJudged);
}

TEST_F(CheckTest, ATaskDoesNotExcuseWhatTheComparisonRefuses) {
  logits({1, 2, 3}, {1, NAN, 3});
  EXPECT_EQ(must(task_gate("top1_agreement", ">=", 0) + task_).verdict, Verdict::kDeviates);
}

TEST_F(CheckTest, OtherInputsAreInvalid) {
  record(folder_.path() / "a", {{"x", floats({1}, {1})}, {"y", floats({1, 2, 3}, {1, 3})}});
  record(folder_.path() / "b", {{"x", floats({2}, {1})}, {"y", floats({1, 2, 3}, {1, 3})}});
  EXPECT_EQ(must(task_gate("top1_agreement", ">=", 1) + task_).verdict, Verdict::kInvalid);
}

TEST_F(CheckTest, TasksFollowAliases) {
  logits({1, 2, 3}, {1, 2, 3}, "Output_1");
  const auto result =
      must("[pairing]\naliases = { y = \"Output_1\" }\n" + task_gate("top1_agreement", ">=", 1) + task_);
  EXPECT_EQ(result.verdict, Verdict::kPass);
}

TEST_F(CheckTest, AbsentFiguresGiveTheirOwnVerdict) {
  logits({1, 2, 3}, {1, 2, 3});
  const auto result = must(task_gate("accuracy_drop", "<=", 0.01) + task_);
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_THAT(result.tasks[0].gates[0].text, HasSubstr("no labels were given"));
}

TEST_F(CheckTest, LabelsComeFromAFile) {
  logits({1, 2, 3}, {4, 2, 3});
  folder_.write("labels.txt", "2\n");
  const auto result = must(task_gate("device_accuracy", ">=", 1) + task_ + "labels = \"labels.txt\"\n");
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
}

TEST_F(CheckTest, GatesThatCannotFailAreNoPass) {
  logits({1, 2, 3}, {3, 2, 1});
  const auto result = must("[[gate]]\ntensor = \"y\"\nmetric = \"max_abs\"\nop = \">=\"\nvalue = 0\n");
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_EQ(result.reasons.front(), "y: max_abs 2 >= 0 (this gate cannot fail)");
  EXPECT_EQ(result.deciding, 1u);
}

TEST_F(CheckTest, GatesOnTasksThatCannotFailAreNoPassEither) {
  logits({1, 2, 3}, {3, 2, 1});
  for (const auto& gate : {task_gate("top1_agreement", ">=", 0), task_gate("max_probability_difference", "<=", 1),
                           task_gate("accuracy_drop", "<=", 1), task_gate("rows", ">=", 0)}) {
    const auto left = must(gate + task_);  // and the output is not left to such a task
    EXPECT_EQ(left.verdict, Verdict::kNotJudged) << gate;
    EXPECT_EQ(left.comparison.tensors.front().rule, "no gate covers it") << gate;
  }
  const std::string blind = task_gate("top1_agreement", ">=", 0);
  const std::string tensor = "[[gate]]\ntensor = \"y\"\nmetric = \"max_abs\"\nop = \"<=\"\nvalue = 9\n";
  const auto result = must(tensor + blind + task_);
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_EQ(result.tasks[0].gates[0].text, "top1_agreement 0 >= 0 (this gate cannot fail)");
  EXPECT_THAT(result.notes, Contains(HasSubstr("cannot fail: top1_agreement lies between 0 and 1")));
  EXPECT_EQ(must(tensor + blind + task_gate("mean_probability_difference", "<=", 0.9) + task_).verdict,
            Verdict::kPass);  // another gate judges the task
}

TEST_F(CheckTest, OutputsOnlyLeavesInputsOfARecordingOut) {
  record(folder_.path() / "a", {{"x", floats({1}, {1})}, {"y", floats({1, 2, 3}, {1, 3})}});
  record(folder_.path() / "b", {{"x", floats({2}, {1})}, {"y", floats({1, 2, 3}, {1, 3})}});
  const std::string sides =
      "[recordings]\nreference = \"a\"\n[recordings.device]\npath = \"b\"\noutputs_only = true\n" + tensor_gate_;
  const auto result = must(sides);
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);  // nothing shows what b was fed with
  EXPECT_EQ(result.comparison.device_info.find("x"), nullptr);
  EXPECT_EQ(must(sides + "[pairing]\ninputs_unverified = true\n").verdict, Verdict::kPass);
}

TEST_F(CheckTest, WhatARecordingTellsItselfIsNotGivenForIt) {
  logits({1, 2, 3}, {1, 2, 3});
  for (const std::string option : {"dtype = \"float16\"", "dtypes = { y = \"float16\" }", "shapes = { y = [3] }"})
    EXPECT_THAT(error_of("[recordings]\nreference = \"a\"\n[recordings.device]\npath = \"b\"\n" + option + "\n"),
                HasSubstr("b: is a recording, and "))
        << option;
}

TEST_F(CheckTest, ContentsOfRecordingsAreHashedAgain) {
  logits({1, 2, 3}, {1, 2, 3});
  const Path file = folder_.path() / "b" / "sample-000000.safetensors";
  std::string content = TestFolder::read(file);
  content.back() ^= 1;
  std::ofstream(file, std::ios::binary) << content;
  EXPECT_THAT(error_of(tensor_gate_), HasSubstr("its SHA-256 is not the one in run.json"));
}

TEST_F(CheckTest, ADumpIsOpenedOnceForAllTasks) {
  record(folder_.path() / "a", {{"y", floats({1, 2, 3}, {1, 3})}}, 0);
  ASSERT_TRUE(write_safetensors(folder_.path() / "b.safetensors", {{"y", floats({1, 2, 3}, {1, 3})}}, {}, false));
  const std::string gone =
      "[[task]]\ntype = \"command\"\nname = \"gone\"\ncommand = [\"sh\", \"-c\", \"rm {device}; echo 1\"]\n";
  const auto result =
      must("[recordings]\nreference = \"a\"\ndevice = \"b.safetensors\"\n[pairing]\ninputs_unverified = true\n" + gone +
               task_ + task_gate("value", ">=", 1, "gone") + task_gate("top1_agreement", ">=", 1),
           true);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "b.safetensors"));
  EXPECT_EQ(result.verdict, Verdict::kPass);
}

TEST_F(CheckTest, RecordingsAreHeldAgainstDeclaredInputs) {
  logits({1, 2, 3}, {1, 2, 3});
  const auto declare = [&](const std::string& values, const std::string& more = "") {
    return "[inputs.x]\nvalue = " + values + "\ndtype = \"float32\"\nshape = [3]\n" + more + tensor_gate_;
  };
  const auto same = must(declare("[1, 2, 3]"));
  EXPECT_EQ(same.verdict, Verdict::kPass);
  ASSERT_EQ(same.inputs.size(), 1u);
  const auto other = must(declare("[1, 2, 4]"));
  EXPECT_EQ(other.verdict, Verdict::kInvalid);
  EXPECT_EQ(other.reasons.front(), "x: the declared input is not what the reference recorded: 1 of 3 elements differ");
  EXPECT_EQ(other.deciding, 2u);  // the device's too
  EXPECT_EQ(other.comparison.tensors.front().rule, "not judged: the inputs differ");
  const auto shaped = must("[inputs.x]\nvalue = 1\ndtype = \"float32\"\nshape = [1]\n" + tensor_gate_);
  EXPECT_THAT(shaped.reasons.front(), HasSubstr("shape [3], not [1]"));
  EXPECT_THAT(error_of("[inputs.z]\nvalue = 1\ndtype = \"float32\"\nshape = [1]\n" + tensor_gate_),
              HasSubstr("[inputs.z]: neither recording holds this input"));
}

TEST_F(CheckTest, DeclaredInputsReachCodesThroughTheirRule) {
  const Tensor codes = tensor_from_values<uint8_t>(DType::kU8, {2}, {128, 192});
  record(folder_.path() / "a", {{"x", floats({0, 1}, {2})}, {"y", floats({1}, {1})}});
  record(folder_.path() / "b", {{"x", codes}, {"y", floats({1}, {1})}});
  const auto verdict = [&](const std::string& values) {
    return must("[inputs.x]\nvalue = " + values +
                "\ndtype = \"float32\"\nshape = [2]\nquantisation = { scale = 0.015625, zero_point = 128 }\n" +
                tensor_gate_)
        .verdict;
  };
  EXPECT_EQ(verdict("[0, 1]"), Verdict::kPass);
  EXPECT_EQ(verdict("[0, 0.5]"), Verdict::kInvalid);
}

TEST_F(CheckTest, DeclaredInputsThatASideDidNotRecordAreNotJudged) {
  record(folder_.path() / "a", {{"x", floats({1}, {1})}, {"y", floats({1, 2, 3}, {1, 3})}});
  record(folder_.path() / "b", {{"y", floats({1, 2, 3}, {1, 3})}}, 0);
  const std::string declared = "[inputs.x]\nvalue = 1\ndtype = \"float32\"\nshape = [1]\n" + tensor_gate_;
  const auto result = must(declared);
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_THAT(result.reasons, Contains("x: declared, but not recorded by the device"));
  const auto assumed = must(declared + "[pairing]\ninputs_unverified = true\n");
  EXPECT_EQ(assumed.verdict, Verdict::kPass);
  EXPECT_THAT(assumed.notes, Contains(HasSubstr("assumed to be equal")));
  const std::string other = "[inputs.x]\nvalue = 2\ndtype = \"float32\"\nshape = [1]\n" + tensor_gate_;
  EXPECT_EQ(must(other + "[pairing]\ninputs_unverified = true\n").verdict, Verdict::kInvalid);
}

TEST_F(CheckTest, DeclaredSamplesMustBeAsManyAsRecorded) {
  logits({1, 2, 3}, {1, 2, 3});
  for (const char* file : {"p.npy", "q.npy"})
    ASSERT_TRUE(write_npy(folder_.path() / file, floats({1, 2, 3}, {3}), false).has_value());
  EXPECT_THAT(error_of("[inputs.x]\nfiles = [\"p.npy\", \"q.npy\"]\n" + tensor_gate_),
              HasSubstr("2 samples are declared, "));
}

TEST_F(CheckTest, MisspeltGatesAreErrorsBeforeAnythingRuns) {
  logits({1, 2, 3}, {1, 2, 3});
  EXPECT_THAT(error_of(task_gate("top1_agrement", ">=", 1) + task_),
              HasSubstr("the task \"classes\" has no figure \"top1_agrement\""));
  EXPECT_THAT(error_of(task_gate("top1_agreement", ">=", 1, "clases") + task_),
              HasSubstr("no task is called \"clases\"; there is: classes"));
  EXPECT_THAT(error_of(task_gate("unmatched", "<=", 0, "*") + task_),
              HasSubstr("no task that \"task=*: unmatched <= 0\" names has its figures"));
  EXPECT_THAT(error_of(tensor_gate_ + "[outputs.z]\nrole = \"scores\"\n"),
              HasSubstr("[outputs.z]: neither side has a tensor"));
  EXPECT_THAT(error_of("[[gate]]\ntensor = \"z\"\nmetric = \"cosine\"\nop = \">=\"\nvalue = 1\n"),
              HasSubstr("no tensor is called \"z\""));
}

TEST_F(CheckTest, CommandsNeedConsentAndAreJudged) {
  logits({1, 2, 3}, {1, 2, 3});
  const std::string command =
      "[[task]]\ntype = \"command\"\nname = \"map\"\ncommand = [\"sh\", \"-c\", \"test -d {reference} && echo "
      "0.5\"]\noutputs = [\"y\"]\n";
  const std::string gate = task_gate("value", ">=", 0.4, "map");
  EXPECT_THAT(error_of(gate + command), HasSubstr("--allow-exec"));
  EXPECT_EQ(must(gate + command, true).verdict, Verdict::kPass);
  EXPECT_EQ(must(task_gate("value", ">=", 0.6, "map") + command, true).verdict, Verdict::kDeviates);
  EXPECT_THAT(error_of(task_gate("recall", ">=", 0.6, "map") + command, true),
              HasSubstr("has no figure \"recall\"; it has: value"));
}

TEST_F(CheckTest, PathsStayInside) {
  logits({1, 2, 3}, {1, 2, 3});
  std::filesystem::create_directory(folder_.path() / "inner");
  for (const std::string path : {"../a", "/etc", "inner/../../a"})
    EXPECT_THAT(error_of("[recordings]\nreference = \"" + path + "\"\ndevice = \"b\"\n"), HasSubstr("--allow-outside"))
        << path;
  const std::string outside = (folder_.path() / "a").string();
  EXPECT_EQ(must("[recordings]\nreference = \"" + outside + "\"\ndevice = \"b\"\n" + tensor_gate_, false, true).verdict,
            Verdict::kPass);
}

TEST_F(CheckTest, DeclaredQuantisationReachesTheFigures) {
  const Tensor x = floats({1}, {1});
  const auto codes = [](std::vector<uint8_t> values) { return tensor_from_values(DType::kU8, {1, 3}, values); };
  record(folder_.path() / "a", {{"x", x}, {"y", codes({10, 20, 30})}});
  record(folder_.path() / "b", {{"x", x}, {"y", codes({11, 20, 30})}});
  const auto result =
      must("[outputs.y]\nquantisation = { scale = 0.5, zero_point = 10 }\n[gates]\nprofiles = [\"w8a8-steps\"]\n");
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.comparison.tensors.front().metrics->max_abs, 0.5);
}

TEST(TaskFigures, AreKnownBeforeAnythingRuns) {
  ProjectTask task;
  task.name = "detections";
  task.spec = DetectionSpec{};
  GateSet gates;
  auto gate = parse_gate("task=detections: matched_iou_min>=0.95");
  ASSERT_TRUE(gate.has_value());
  for (const char* figure : {"unmatched", "matched_iou_min", "max_score_difference", "same_top_class", "label_changes",
                             "invalid_device_rows"}) {
    gate->any[0][0].metric = figure;
    gates.gates = {*gate};
    EXPECT_TRUE(check_task_gates(gates, {task}).has_value()) << figure;
  }
}

TEST(PreparedInputs, ValuesAndFilesAreFrozenWithTheirHashes) {
  const TestFolder folder;
  ASSERT_TRUE(write_npy(folder.path() / "x.npy", floats({1, 2}, {2}), false).has_value());
  folder.write("raw.bin", "abcd");
  const auto project = parse_project(
      "schema = \"paritas.project/1\"\n[model]\nreference = \"m\"\n[targets]\nreference = \"cpu\"\ndevice = \"cpu\"\n"
      "[inputs.v]\nvalue = [1, -2]\ndtype = \"int16\"\nshape = [2]\n[inputs.x]\nfile = \"x.npy\"\n"
      "[inputs.r]\nfile = \"raw.bin\"\ndtype = \"uint8\"\nshape = [4]\n",
      "p");
  ASSERT_TRUE(project.has_value()) << project.error().message();
  const auto made = prepare_inputs(*project, {"p", folder.path(), false}, folder.path());
  ASSERT_TRUE(made.has_value()) << made.error().message();
  ASSERT_EQ(made->samples.size(), 1u);
  EXPECT_EQ(made->records[0].name, "r");
  EXPECT_EQ(made->records[0].tensors[0].tensor_sha256,
            "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589");
  EXPECT_EQ(made->records[0].tensors[0].file_sha256, made->records[0].tensors[0].tensor_sha256);
  EXPECT_EQ(made->samples[0][1].second.dtype, DType::kI16);
}

TEST(PreparedInputs, ValuesThatDoNotFitAreRefused) {
  const TestFolder folder;
  for (const std::string value : {"[256]", "[-1]", "[0.5]", "[nan]", "[1, 2]"}) {
    const auto project = parse_project(
        "schema = \"paritas.project/1\"\n[model]\nreference = \"m\"\n[targets]\nreference = \"cpu\"\ndevice = \"cpu\"\n"
        "[inputs.v]\nvalue = " +
            value + "\ndtype = \"uint8\"\nshape = [1]\n",
        "p");
    ASSERT_TRUE(project.has_value()) << project.error().message();
    EXPECT_FALSE(prepare_inputs(*project, {"p", folder.path(), false}, folder.path()).has_value()) << value;
  }
}

TEST(Init, WhatItWritesIsReadAgain) {
  const TestFolder folder;
  const Path model = Path(PARITAS_SOURCE_DIR) / "examples/detr-mini/detr_mini.onnx";
  const auto text = make_project({model, std::nullopt, folder.path() / "paritas.toml", {}});
  ASSERT_TRUE(text.has_value()) << text.error().message();
  EXPECT_TRUE(parse_project(*text, "p").has_value());
  // The suggestions are lawful too: here those behind the inputs, each without its mark.
  std::string shown = text->substr(0, text->find("# [recordings]"));
  for (size_t at = text->find("# [outputs."), end; at < text->size(); at = end + 1) {
    end = std::min(text->find('\n', at), text->size());
    std::string line = text->substr(at, end - at);
    const bool toml = line.rfind("# [", 0) == 0 || line.find(" = ") != std::string::npos;
    if (toml) shown += line.substr(2) + "\n";
  }
  const auto all = parse_project(shown, "p");
  ASSERT_TRUE(all.has_value()) << all.error().message() << "\n" << shown;
  EXPECT_EQ(all->tasks.size(), 3u);
  EXPECT_EQ(all->steps.size(), 2u);
  EXPECT_EQ(all->outputs.size(), 3u);
}

// A raw dump tells neither types nor shapes: what it was read with must be read again.
TEST(Init, TheFileReadsTheDumpAsInitDid) {
  const TestFolder folder;
  const Path model = Path(PARITAS_SOURCE_DIR) / "examples/detr-mini/detr_mini.onnx";
  std::filesystem::create_directories(folder.path() / "dump/output/Result_0");
  folder.write("dump/output/Result_0/boxes.raw", std::string(640, '\0'));
  folder.write("dump/output/Result_0/labels.raw", std::string(160, '\0'));
  InitRequest request{model, folder.path() / "dump", folder.path() / "paritas.toml", {}};
  EXPECT_FALSE(make_project(request).has_value());  // float32 or int32?
  request.import.dtypes["labels"] = DType::kI32;
  request.import.shapes["labels"] = {40, 1};
  const auto text = make_project(request);
  ASSERT_TRUE(text.has_value()) << text.error().message();
  const auto project = parse_project(*text, "p");
  ASSERT_TRUE(project.has_value()) << project.error().message();
  const ProjectRecording& recording = *project->device.recording;
  EXPECT_EQ(Path(recording.model).filename(), "detr_mini.onnx");
  EXPECT_EQ(recording.dtypes.at("labels"), DType::kI32);
  EXPECT_EQ(recording.shapes.at("labels"), (Shape{40, 1}));
  EXPECT_FALSE(recording.outputs_only);
}

}  // namespace
}  // namespace paritas
