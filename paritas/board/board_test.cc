#include "paritas/board/board.h"

#include <cstring>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"
#include "paritas/board/board_inputs.h"
#include "paritas/board/board_plan.h"
#include "paritas/board/record_board.h"
#include "paritas/recording/recording.h"
#include "paritas/tflite/testing.h"

namespace paritas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Board> parsed(const char* json) { return board_from_json(Json::parse(json), "p.toml, [exec.board]"); }

std::string refused(const char* json) {
  const auto board = parsed(json);
  return board ? "accepted" : board.error().message();
}

TEST(Board, IsReadFromItsDeclaration) {
  const Board board = parsed(R"({"command": ["run", "{inputs}", "{output}"], "before": [["adb", "push", "{model}"]],
      "timeout_s": 1.5, "environment": {"A": "{sample}"}, "inherit": ["PATH"], "samples": "together", "inputs": "npy",
      "max_output_mib": 2, "outputs": {"format": "raw", "dtypes": {"y": "int8"}, "shapes": {"y": [1, 2]}}})")
                          .value();
  EXPECT_THAT(board.command, ElementsAre("run", "{inputs}", "{output}"));
  EXPECT_EQ(board.timeout.count(), 1500);
  EXPECT_THAT(board.inherit, ElementsAre("PATH"));
  EXPECT_TRUE(board.together && board.npy);
  EXPECT_EQ(board.most_written, 2U << 20);
  EXPECT_EQ(board.outputs.dtypes.at("y"), DType::kI8);
}

TEST(Board, WrongDeclarationsAreRefused) {
  EXPECT_THAT(refused(R"({})"), HasSubstr("\"command\""));
  EXPECT_THAT(refused(R"({"command": "run {output}"})"), HasSubstr("list of texts"));
  EXPECT_THAT(refused(R"({"command": []})"), HasSubstr("is empty"));
  EXPECT_THAT(refused(R"({"command": ["A=1", "{output}"]})"), HasSubstr("cannot be a program"));
  EXPECT_THAT(refused(R"({"command": ["run"]})"), HasSubstr("no command names {output}"));
  EXPECT_THAT(refused(R"({"command": ["run", "{ouput}"]})"), HasSubstr("{ouput} is no placeholder"));
  EXPECT_THAT(refused(R"({"command": ["run", "{output}"], "timeout": 3})"), HasSubstr("unknown key \"timeout\""));
  EXPECT_THAT(refused(R"({"command": ["run", "{output}"], "timeout_s": 0})"), HasSubstr("positive"));
  EXPECT_THAT(refused(R"({"command": ["run", "{output}"], "environment": {"A B": "x"}})"), HasSubstr("variable"));
  EXPECT_THAT(refused(R"({"command": ["run", "{output}"], "before": ["adb"]})"), HasSubstr("list of texts"));
  EXPECT_THAT(refused(R"({"command": ["run", "{output}", "{sample}"], "samples": "together"})"),
              HasSubstr("one sample"));
  EXPECT_THAT(refused(R"({"command": ["run", "{output}"], "outputs": {"format": "recording"}})"),
              HasSubstr("recording"));
}

TEST(Placeholders, AreFilledOnceAndNothingElse) {
  const Placeholders values = {{"output", "/o/{inputs}"}, {"inputs", "/i"}, {"input:a:0", "/i/a_0.raw"}};
  const auto filled = [&](const char* word) { return fill_in(word, values, "p").value(); };
  EXPECT_EQ(filled("--x={output}/y"), "--x=/o/{inputs}/y");
  EXPECT_EQ(filled("images:{input:a:0}"), "images:/i/a_0.raw");
  EXPECT_EQ(filled("${output} {{output} {\"a\": {}} {A}"), "${output} {output} {\"a\": {}} {A}");
  EXPECT_THAT(fill_in("{input:b}", values, "p").error().message(), HasSubstr("{input:b} is no placeholder"));
}

Tensor floats(std::vector<float> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(DType::kF32, {1, static_cast<int64_t>(values.size())}, Bytes::in_memory(std::move(bytes)), "t")
      .value();
}

TEST(BoardInputs, AreFilesWithAListAndADescription) {
  const TestFolder folder;
  const NamedTensors sample = {{"a:0", floats({1, 2})}, {"b/c", floats({3})}};
  const auto files = write_inputs({sample, sample}, false, folder.path()).value();
  EXPECT_EQ(files[0].file, "0/a_0.raw");
  EXPECT_EQ(read_text(folder.path() / "input_list.txt").value(),
            "a:0:=0/a_0.raw b/c:=0/b_c.raw\na:0:=1/a_0.raw b/c:=1/b_c.raw\n");
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "1/a_0.raw"), 8U);
  const Json index = Json::parse(read_text(folder.path() / "inputs.json").value());
  EXPECT_EQ(index[3]["file"], "1/b_c.raw");
  EXPECT_EQ(index[3]["dtype"], "float32");
}

TEST(BoardInputs, NamesThatBecomeOneAreRefused) {
  const TestFolder folder;
  const auto result = write_inputs({{{"a:0", floats({1})}, {"a/0", floats({1})}}}, false, folder.path());
  EXPECT_THAT(result.error().message(), HasSubstr("a_0.raw"));
}

// a -> b (ADD) -> c (MUL) -> d (LOGISTIC)
class OnTflite : public testing::Test {
 protected:
  OnTflite() {
    tflite::TinyTflite tiny;
    const int a = tiny.tensor("a", tflite::kTestFloat32, {1, 2}), b = tiny.tensor("b", tflite::kTestFloat32, {1, 2}),
              c = tiny.tensor("c", tflite::kTestFloat32, {1, 2}), d = tiny.tensor("d", tflite::kTestFloat32, {1, 2});
    tiny.op(tflite::kTestAdd, {a, a}, {b});
    tiny.op(tflite::kTestMul, {b, b}, {c});
    tiny.op(tflite::kTestLogistic, {c}, {d});
    tiny.ports({a}, {d});
    path_ = tiny.save(folder_.path());
  }
  tflite::Model model() const { return tflite::Model::load(path_).value(); }
  const TestFolder folder_, scratch_;
  Path path_;
};

OpProfile rows(std::vector<std::tuple<std::string, int, uint64_t>> all) {
  OpProfile profile;
  for (const auto& [type, node, calls] : all) {
    ProfiledOp op;
    op.type = type;
    op.name = "[x]";
    op.node = node;
    op.calls = calls;
    profile.ops.push_back(op);
  }
  return profile;
}

TEST_F(OnTflite, AProfileShowsWhatADelegateTook) {
  const auto plan = plan_of_profile(rows({{"ADD", 0, 1}, {"TfLiteXNNPackDelegate", 3, 1}}), model(), "p").value();
  ASSERT_TRUE(plan.placement);
  EXPECT_EQ(plan.placement->on("TfLiteXNNPackDelegate"), 2U);
  EXPECT_EQ(plan.placement->on("interpreter"), 1U);
  ASSERT_EQ(plan.plan.size(), 2U);
  EXPECT_THAT(plan.plan[0].nodes, ElementsAre("1:MUL", "2:LOGISTIC"));
}

TEST_F(OnTflite, AProfileProvesNothingUnlessEveryRowWasCalledOnce) {
  const auto plan = plan_of_profile(rows({{"ADD", 0, 1}, {"TfLiteXNNPackDelegate", 3, 0}}), model(), "p").value();
  EXPECT_FALSE(plan.placement);
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("1 of the profile's rows were not called once")));
}

TEST_F(OnTflite, AProfileOfAnotherModelIsRefused) {
  const auto refuse = [&](const OpProfile& profile) {
    const auto plan = plan_of_profile(profile, model(), "p");
    return plan ? "accepted" : plan.error().message();
  };
  EXPECT_THAT(refuse(rows({{"CONV_2D", 0, 1}, {"Delegate", 3, 1}})), HasSubstr("node 0 is CONV_2D"));
  EXPECT_THAT(refuse(rows({{"ADD", 0, 1}, {"MUL", 1, 1}})), HasSubstr("nor of a delegate"));
  EXPECT_THAT(refuse(rows({{"ADD", 0, 1}, {"MUL", 1, 1}, {"LOGISTIC", 2, 1}, {"Delegate", 3, 1}})),
              HasSubstr("rows of all 3"));
}

TEST_F(OnTflite, OutputsOfBenchmarkModelBecomeARecording) {
  const Board board = [] {
    Board made = parsed(R"({"command": ["sh", "-c", "cp {input:a} {output}/outputs.bin"],
                            "outputs": {"format": "tflite-outputs"}})")
                     .value();
    made.target = "exec:board";
    made.folder = ".";
    return made;
  }();
  RecordBoardRequest request;
  request.board = &board;
  request.model = path_;
  request.samples = {{{"a", floats({1, 2})}}};
  request.environment = {{"PATH", "/usr/bin:/bin"}};
  request.output = scratch_.path() / "out";
  request.scratch_root = scratch_.path();
  EXPECT_THAT(record_on_board(request).error().message(), HasSubstr("--allow-exec"));
  request.allow_exec = true;
  const auto info = record_on_board(request);
  ASSERT_TRUE(info) << info.error().message();
  const auto stream = open_samples(request.output, {true}).value();
  const Sample sample = stream->sample(0).value();
  ASSERT_EQ(sample.tensors.size(), 2U);
  EXPECT_EQ(sample.tensors[1].first, "d");
  EXPECT_EQ(stream->info().find("d")->node, "2:LOGISTIC");
  EXPECT_THAT(stream->info().notes, testing::Contains(HasSubstr("a single timed call is a diagnostic")));
}

TEST_F(OnTflite, ACommandThatEndsBadlyLeavesNoRecordingThoughAllIsWritten) {
  const Board board = [] {
    Board made = parsed(R"({"command": ["sh", "-c", "cp {input:a} {output}/outputs.bin; exit 4"],
                            "outputs": {"format": "tflite-outputs"}})")
                     .value();
    made.target = "exec:board";
    made.folder = ".";
    return made;
  }();
  RecordBoardRequest request;
  request.board = &board;
  request.allow_exec = true;
  request.model = path_;
  request.samples = {{{"a", floats({1, 2})}}};
  request.environment = {{"PATH", "/usr/bin:/bin"}};
  request.output = scratch_.path() / "out";
  request.scratch_root = scratch_.path();
  EXPECT_THAT(record_on_board(request).error().message(), HasSubstr("exit code 4"));
  EXPECT_EQ(scratch_.entries(), 0U);
}

}  // namespace
}  // namespace paritas
