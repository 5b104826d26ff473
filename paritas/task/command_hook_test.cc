#include "paritas/task/command_hook.h"

#include <cmath>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using testing::HasSubstr;

TaskOutcome parsed(const std::string& text) { return parse_command_output(text, "map", "eval").value(); }

std::string refused(const std::string& text) {
  auto outcome = parse_command_output(text, "map", "eval");
  return outcome ? "accepted" : outcome.error().message();
}

TEST(CommandOutput, TheLastLineIsTheNumber) {
  EXPECT_EQ(parsed("loading\n12\n0.75\n\n").find("map")->value, 0.75);
  EXPECT_EQ(parsed("-1e-3").find("map")->value, -1e-3);
  EXPECT_EQ(parsed("+5\r\n").find("map")->value, 5);
  EXPECT_EQ(parsed("inf").find("map")->value, INFINITY);
}

TEST(CommandOutput, AJsonObjectNamesItsNumbers) {
  const TaskOutcome one = parsed("epoch 1\n{\"map\": 0.5, \"recall\": 1}\n");
  EXPECT_EQ(one.find("map")->value, 0.5);
  EXPECT_EQ(one.find("recall")->value, 1);
  EXPECT_EQ(parsed("{\n \"map\": 0.5\n}\n").find("map")->value, 0.5);
}

TEST(CommandOutput, NanIsAbsent) {
  for (const char* text : {"nan", "{\"map\": \"nan\"}"}) {
    const TaskOutcome outcome = parsed(text);
    EXPECT_EQ(outcome.find("map"), nullptr);
    EXPECT_EQ(outcome.find_absent("map")->verdict, Verdict::kNotJudged);
  }
}

TEST(CommandOutput, AnythingElseIsRefused) {
  EXPECT_THAT(refused(""), HasSubstr("printed nothing"));
  EXPECT_THAT(refused("mAP = 0.5"), HasSubstr("neither a number"));
  EXPECT_THAT(refused("0.5 %"), HasSubstr("neither a number"));
  EXPECT_THAT(refused("0.5\nTraceback"), HasSubstr("neither a number"));
  EXPECT_THAT(refused("{\"map\": \"good\"}"), HasSubstr("\"map\" is not a number"));
  EXPECT_THAT(refused("{\"map\": null}"), HasSubstr("\"map\" is not a number"));
  EXPECT_THAT(refused("{\"map\": 1, \"map\": 0}"), HasSubstr("neither a number"));
  EXPECT_THAT(refused("{}"), HasSubstr("empty JSON object"));
}

class Command : public testing::Test {
 protected:
  Result<CommandResult> run(std::vector<std::string> words, bool allow = true, int timeout_ms = 10'000) {
    CommandSpec spec;
    spec.command = std::move(words);
    spec.timeout = std::chrono::milliseconds(timeout_ms);
    return run_command(spec, {folder_.path(), scratch_.path(), {{"reference", "a b"}, {"device", "$HOME"}}}, allow);
  }
  const TestFolder folder_, scratch_;
};

TEST_F(Command, NeedsConsent) {
  auto result = run({"touch", "made"}, false);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("--allow-exec"));
  EXPECT_EQ(folder_.entries(), 0U);
  EXPECT_EQ(scratch_.entries(), 0U);
}

TEST_F(Command, RunsInItsFolderWithoutAShell) {
  const auto result = run({"sh", "-c", "echo note >&2; touch here; echo \"$1|$2|$3\"; echo 3", "x", "{reference}",
                           "{device}/{other}", "`id`; echo 4"})
                          .value();
  EXPECT_EQ(result.outcome.find("value")->value, 3);
  EXPECT_EQ(result.output, "a b|$HOME/{other}|`id`; echo 4\n3\n");
  EXPECT_EQ(result.messages, "note\n");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "here"));
  EXPECT_EQ(to_json(result)["outcome"]["figures"][0]["value"], 3.0);
}

TEST_F(Command, CapturedOutputIsPrivateAndRemoved) {
  const auto result = run({"sh", "-c", "stat -c %a \"$(dirname \"$(readlink /proc/$$/fd/1)\")\"; echo 1"});
  EXPECT_EQ(result->output, "700\n1\n");
  EXPECT_EQ(scratch_.entries(), 0U);
  EXPECT_FALSE(run({"false"}));
  EXPECT_FALSE(run({"sleep", "60"}, true, 100));
  EXPECT_EQ(scratch_.entries(), 0U);
}

TEST_F(Command, MessagesAfterTheNumberDoNotHideIt) {
  EXPECT_EQ(run({"sh", "-c", "echo 0.5; echo warning >&2"})->outcome.find("value")->value, 0.5);
}

TEST_F(Command, FailuresAreErrorsWithTheOutput) {
  auto failed = run({"sh", "-c", "echo 1; echo oops >&2; exit 3"});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("exit code 3"));
  EXPECT_THAT(failed.error().details, HasSubstr("oops"));
  EXPECT_EQ(failed.error().kind, ErrorKind::kRuntime);
  EXPECT_THAT(run({"sh", "-c", "kill -9 $$"}).error().message(), HasSubstr("signal 9"));
  EXPECT_THAT(run({"/absent/program"}).error().message(), HasSubstr("exit code 127"));
  EXPECT_THAT(run({"echo", "fine"}).error().message(), HasSubstr("neither a number"));
}

TEST_F(Command, ATimeoutKillsWhatItStarted) {
  auto late = run({"sh", "-c", "sleep 60 & sleep 60"}, true, 200);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message(), HasSubstr("did not end within 0.2 s"));
}

TEST_F(Command, EndlessOutputIsStopped) {
  EXPECT_THAT(run({"yes", "0.5"}).error().message(), HasSubstr("more than 64 MiB"));
}

TEST(CommandSpec, IsReadFromJson) {
  const auto spec =
      command_from_json(Json::parse(R"({"type": "command", "command": ["python3", "e.py"], "figure": "map",
                                        "timeout_s": 1.5})"),
                        "p.toml, task 1")
          .value();
  EXPECT_EQ(spec.command.size(), 2U);
  EXPECT_EQ(spec.timeout.count(), 1500);
  auto message = [](const char* text) {
    auto result = command_from_json(Json::parse(text), "p.toml, task 1");
    return result ? "accepted" : result.error().message();
  };
  EXPECT_THAT(message(R"({"command": []})"), HasSubstr("\"command\" is empty"));
  EXPECT_THAT(message(R"({"command": "rm -rf x"})"), HasSubstr("list of texts"));
  EXPECT_THAT(message(R"({"command": ["a"], "shell": true})"), HasSubstr("unknown key \"shell\""));
  EXPECT_THAT(message(R"({"command": ["a"], "timeout_s": 0})"), HasSubstr("positive"));
}

}  // namespace
}  // namespace paritas
