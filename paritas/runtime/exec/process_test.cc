#include "paritas/runtime/exec/process.h"

#include <thread>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using testing::HasSubstr;

class Process : public testing::Test {
 protected:
  ProcessRequest request(std::vector<std::string> words) {
    ProcessRequest request;
    request.words = std::move(words);
    request.folder = folder_.path();
    request.scratch = scratch_.path();
    request.timeout = std::chrono::seconds(20);
    return request;
  }
  const TestFolder folder_, scratch_;
};

TEST_F(Process, FindsTheDeclaredEnvironmentAndNothingElse) {
  ::setenv("PARITAS_TEST_SECRET", "seen", 1);
  ProcessRequest r = request({"sh", "-c", "echo \"$A|$PARITAS_TEST_SECRET|$HOME\""});
  EXPECT_THAT(run_process(r)->output, HasSubstr("|seen|"));
  r.environment = {{"A", "two words; `id`"}, {"PATH", "/usr/bin:/bin"}};
  EXPECT_EQ(run_process(r)->output, "two words; `id`||\n");
}

TEST_F(Process, IsStoppedWhenItsFolderGrowsTooLarge) {
  ProcessRequest r = request({"sh", "-c", "while :; do echo 0123456789 >> big; done"});
  r.watched = folder_.path();
  r.most_written = 10'000;
  const ProcessResult result = run_process(r).value();
  EXPECT_THAT(result.problem, HasSubstr("10000 are allowed"));
  EXPECT_THAT(result.ended, HasSubstr("signal 9"));
}

TEST_F(Process, WhatItWroteAtItsEndCountsToo) {
  ProcessRequest r = request({"sh", "-c", "head -c 20000 /dev/zero > big"});
  r.watched = folder_.path();
  r.most_written = 10'000;
  EXPECT_THAT(run_process(r)->problem, HasSubstr("wrote 20000 bytes"));
}

TEST_F(Process, LeavesNobodyWritingBehind) {
  const ProcessResult result =
      run_process(request({"sh", "-c", "(while :; do echo x >> late; sleep 0.01; done) > /dev/null 2>&1 & sleep 0.1"}))
          .value();
  EXPECT_EQ(result.problem, "");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto size = std::filesystem::file_size(folder_.path() / "late");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "late"), size);
}

TEST_F(Process, SaysHowItEnded) {
  EXPECT_EQ(run_process(request({"true"}))->problem, "");
  EXPECT_EQ(run_process(request({"false"}))->problem, "it ended with exit code 1");
  ProcessRequest absent = request({"/absent/program"});
  absent.environment.emplace();
  EXPECT_EQ(run_process(absent)->problem, "it ended with exit code 127");
  EXPECT_THAT(run_process(absent)->messages, HasSubstr("/absent/program"));
}

}  // namespace
}  // namespace paritas
