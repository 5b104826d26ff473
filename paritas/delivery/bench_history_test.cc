#include "paritas/delivery/bench_history.h"

#include <thread>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HistoryLine line() {
  HistoryLine made;
  made.date = "2026-11-30T10:00:00Z";
  made.name = "detr, \"small\".onnx";
  made.kind = "model";
  made.sha256 = std::string(64, 'a');
  made.conditions = {"cpu,threads=2", "2",        "1",     "sequential",         "-",  "all", "1.32.0 abc", "",
                     "Linux 6.1",     "Some CPU", "0.1.0", std::string(64, 'b'), false};
  made.warm_up = 3;
  made.runs = 20;
  made.verdict = "pass";
  made.noise = "quiet";
  made.others = 0.25;
  made.load_before = 0.5;
  made.load_after = 0.75;
  made.cores = 4;
  made.median = 0.0125;
  made.p10 = 0.012;
  made.p90 = 0.013;
  made.p95 = 0.0135;
  made.min = 0.0115;
  made.max = 0.02;
  made.peak = 123456789;
  return made;
}

TEST(BenchHistory, ALineSurvives) {
  const std::string text = history_header() + "\n" + history_text(line()) + "\n";
  auto read = parse_history(text, "h.csv");
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_TRUE(read->damaged.empty());
  ASSERT_EQ(read->lines.size(), 1u);
  EXPECT_EQ(read->lines[0].name, line().name);
  EXPECT_NEAR(*read->lines[0].median, 0.0125, 1e-12);
  EXPECT_EQ(history_text(read->lines[0]), history_text(line()));
  EXPECT_TRUE(differences(read->lines[0], line()).empty());
  HistoryLine single = line();
  single.median = single.p10 = single.p90 = single.p95 = single.others = std::nullopt;
  single.name = "two\nlines";
  read = parse_history(history_header() + "\n" + history_text(single) + "\n", "h.csv");
  ASSERT_EQ(read->lines.size(), 1u);
  EXPECT_FALSE(read->lines[0].median.has_value());
  EXPECT_EQ(read->lines[0].name, "two lines");
}

TEST(BenchHistory, DamagedLinesAreToldAndAForeignFileIsRefused) {
  const std::string good = history_text(line());
  std::string number = good;
  number.replace(number.rfind(',') + 1, std::string::npos, "many");
  auto read =
      parse_history(history_header() + "\n" + good + "\n\n" + number + "\nshort,line\n\"open\n" + good, "h.csv");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->lines.size(), 2u);
  EXPECT_THAT(read->damaged,
              ElementsAre(HasSubstr("line 4: \"peak_bytes\""), HasSubstr("line 5"), HasSubstr("line 6")));
  auto foreign = parse_history("a,b\n1,2\n", "h.csv");
  ASSERT_FALSE(foreign.has_value());
  EXPECT_THAT(foreign.error().message(), HasSubstr("h.csv: its first line is not the header"));
}

TEST(BenchHistory, LinesAreOnlyAdded) {
  TestFolder folder;
  const Path file = folder.path() / "history.csv";
  EXPECT_TRUE(load_history(file)->lines.empty());
  ASSERT_TRUE(append_to_history(file, {line()}).has_value());
  const std::string before = TestFolder::read(file);
  ASSERT_TRUE(append_to_history(file, {line(), line()}).has_value());
  const std::string after = TestFolder::read(file);
  EXPECT_TRUE(after.starts_with(before));
  EXPECT_EQ(load_history(file)->lines.size(), 3u);
  // Half a line of a killed process stays, and costs no other.
  folder.write("history.csv", after + "2026-1");
  ASSERT_TRUE(append_to_history(file, {line()}).has_value());
  EXPECT_EQ(load_history(file)->lines.size(), 4u);
  EXPECT_EQ(load_history(file)->damaged.size(), 1u);
  const Path other = folder.write("model.onnx", "precious");
  auto refused = append_to_history(other, {line()});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message(), HasSubstr("not the header"));
  EXPECT_EQ(TestFolder::read(other), "precious");
  EXPECT_FALSE(append_to_history(folder.path(), {line()}).has_value());
}

TEST(BenchHistory, SeveralProcessesMayAddAtOnce) {
  TestFolder folder;
  const Path file = folder.path() / "history.csv";
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 25; ++k) ASSERT_TRUE(append_to_history(file, {line()}).has_value());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(load_history(file)->lines.size(), 100u);
  EXPECT_TRUE(load_history(file)->damaged.empty());
}

TEST(BenchHistory, TheLastLineOfANameCounts) {
  History history;
  history.lines = {line(), line(), line()};
  history.lines[1].date = "later";
  history.lines[2].name = "another";
  EXPECT_EQ(last_of(history, line().name)->date, "later");
  EXPECT_EQ(last_of(history, "none"), nullptr);
}

// Every condition by itself forbids a ratio, and is named.
TEST(BenchHistory, WhatDiffersIsNamed) {
  const auto differs = [](auto change) {
    HistoryLine now = line();
    change(now);
    const auto reasons = differences(line(), now);
    EXPECT_EQ(reasons.size(), 1u);
    return reasons.empty() ? std::string() : reasons.front();
  };
  EXPECT_EQ(differs([](HistoryLine& l) { l.conditions.threads = "8"; }), "threads: 2, then 8");
  EXPECT_EQ(differs([](HistoryLine& l) { l.conditions.inter_threads = "2"; }), "inter-op threads: 1, then 2");
  EXPECT_EQ(differs([](HistoryLine& l) { l.conditions.mode = "parallel"; }),
            "execution mode: sequential, then parallel");
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.performance = "x"; }), HasSubstr("performance mode"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.optimisation = "none"; }), HasSubstr("optimisation"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.runtime = "1.30.0"; }), HasSubstr("ONNX Runtime"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.provider = "x"; }), HasSubstr("provider library"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.target = "x"; }), HasSubstr("target"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.host = "x"; }), HasSubstr("system"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.cpu = "x"; }), HasSubstr("processor"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.tool_version = "x"; }), HasSubstr("paritas"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.inputs_sha256 = "x"; }), HasSubstr("inputs"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.conditions.emulated = true; }), HasSubstr("emulation"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.warm_up = 0; }), HasSubstr("warm-up: 3 runs, then 0"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.median = std::nullopt; }), HasSubstr("single run"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.noise = "noisy"; }), HasSubstr("noise of this round: noisy"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.verdict = "deviates"; }), HasSubstr("wrong results"));
  EXPECT_THAT(differs([](HistoryLine& l) { l.others = 0.75; }),
              HasSubstr("load: other processes kept 0.25 cores busy, then 0.75"));
  HistoryLine now = line();
  now.sha256 = "x";  // what was changed is what one wants to see the effect of
  now.date = "x";
  now.others = 0.5;
  EXPECT_TRUE(differences(line(), now).empty());
}

}  // namespace
}  // namespace paritas
