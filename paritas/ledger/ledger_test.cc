#include "paritas/ledger/ledger.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "paritas/base/test_files.h"
#include "paritas/ledger/entries.h"
#include "paritas/ledger/ledger_view.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

LedgerEntry entry(const std::string& kind, const std::string& date, const std::string& change = "") {
  LedgerEntry e;
  e.kind = kind;
  e.date = date;
  e.tool_version = "1";
  e.model = "model.onnx";
  e.model_sha256 = "abcdef0123456789";
  e.device = "sim:fp16";
  e.change = change;
  e.verdict = "deviates";
  e.figures = {{"scores cosine", 0.5}};
  return e;
}

std::string line(const LedgerEntry& e) { return dump_json(to_json(e), -1) + "\n"; }

TEST(Ledger, LinesComeBackAsTheyWere) {
  LedgerEntry e = entry("pin", "2026-01-02T03:04:05Z", "Softmax=CPU \"quoted\"\nand more");
  e.options = {{"a", "b"}};
  e.gates = {"scores: cosine>=0.99"};
  e.figures["worst"] = NAN;
  const std::string text = line(e);
  const Ledger ledger = parse_ledger(text + text);
  ASSERT_EQ(ledger.entries.size(), 2);
  EXPECT_TRUE(ledger.damaged.empty());
  EXPECT_EQ(line(ledger.entries[1]), text);
}

TEST(Ledger, DamagedLinesAreToldAndSkipped) {
  const std::string good = line(entry("locate", "2026-01-02T03:04:05Z"));
  std::string other = good;
  other.replace(other.find("ledger/1"), 8, "ledger/2");
  const Ledger ledger = parse_ledger(good + good.substr(0, 40) + "\n\n[]\n" + other + good.substr(0, good.size() - 1));
  EXPECT_EQ(ledger.entries.size(), 2);
  ASSERT_EQ(ledger.damaged.size(), 3);
  EXPECT_THAT(ledger.damaged[0], StartsWith("line 2: "));
  EXPECT_THAT(ledger.damaged[1], StartsWith("line 4: it is no object"));
  EXPECT_THAT(ledger.damaged[2], StartsWith("line 5: its schema is"));
}

TEST(Ledger, OnlyAdds) {
  const TestFolder folder;
  const std::string half = "{\"schema\":\"paritas.ledger/1\",\"kin";
  const Path file = folder.write(kLedgerName, half);
  ASSERT_TRUE(append_to_ledger(file, {entry("locate", "2026-01-01T00:00:00Z")}));
  ASSERT_TRUE(append_to_ledger(file, {entry("cut", "2026-01-02T00:00:00Z"), entry("search", "2026-01-02T00:00:00Z")}));
  EXPECT_THAT(TestFolder::read(file), StartsWith(half + "\n{"));
  const auto ledger = load_ledger(file);
  ASSERT_TRUE(ledger);
  EXPECT_EQ(ledger->entries.size(), 3);
  EXPECT_EQ(ledger->damaged.size(), 1);
  const Path other = folder.write("model.onnx", "{\"something\": \"else\"}");
  EXPECT_FALSE(append_to_ledger(other, {entry("locate", "2026-01-01T00:00:00Z")}));
  EXPECT_EQ(TestFolder::read(other), "{\"something\": \"else\"}");
  EXPECT_FALSE(append_to_ledger(folder.path(), {entry("locate", "2026-01-01T00:00:00Z")}));
  EXPECT_FALSE(append_to_ledger(folder.path() / "none" / "x", {entry("locate", "2026-01-01T00:00:00Z")}));
}

// What would be refused at the end of a long run is refused before it.
TEST(Ledger, IsCheckedBeforehand) {
  const Path folder = Path(::testing::TempDir()) / "ledger-checked";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "taken");
  EXPECT_TRUE(check_ledger_file(folder / "new.jsonl").has_value());
  EXPECT_FALSE(std::filesystem::exists(folder / "new.jsonl"));
  ASSERT_TRUE(append_to_ledger(folder / "new.jsonl", {LedgerEntry{}}).has_value());
  EXPECT_TRUE(check_ledger_file(folder / "new.jsonl").has_value());
  EXPECT_FALSE(check_ledger_file(folder / "taken").has_value());
  EXPECT_FALSE(check_ledger_file(folder / "absent" / "l.jsonl").has_value());
  std::ofstream(folder / "model.onnx") << "no ledger";
  const auto refused = check_ledger_file(folder / "model.onnx");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("it is something else than a ledger"), std::string::npos);
}

TEST(Ledger, ManyMayAddAtOnce) {
  const TestFolder folder;
  const Path file = folder.path() / kLedgerName;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i)
        EXPECT_TRUE(append_to_ledger(file, {entry("locate", fmt::format("{}", t), std::string(5000, 'x'))}));
    });
  for (auto& thread : threads) thread.join();
  const auto ledger = load_ledger(file);
  ASSERT_TRUE(ledger);
  EXPECT_EQ(ledger->entries.size(), 200);
  EXPECT_TRUE(ledger->damaged.empty());
}

TEST(LedgerView, RepeatsStandTogetherAndAgreeOrContradict) {
  LedgerEntry first = entry("pin", "2026-01-01", "Softmax=CPU"), second = entry("pin", "2026-01-03", "Softmax=CPU");
  LedgerEntry other = entry("pin", "2026-01-02", "Softmax=CPU");
  other.device = "qnn:htp";
  LedgerView view = view_of({second, other, first}, "");
  ASSERT_EQ(view.models.size(), 1);
  ASSERT_EQ(view.models[0].changes.size(), 1);
  const auto& experiments = view.models[0].changes[0].experiments;
  ASSERT_EQ(experiments.size(), 2);
  EXPECT_EQ(experiments[1].runs.size(), 2);  // latest last
  EXPECT_EQ(experiments[1].runs[1].date, "2026-01-03");
  EXPECT_TRUE(experiments[1].contradiction.empty());

  second.verdict = "pass";
  second.tool_version = "2";
  view = view_of({first, second}, "");
  EXPECT_THAT(view.models[0].changes[0].experiments[0].contradiction,
              HasSubstr("deviates and pass (2026-01-01 and 2026-01-03, by versions 1 and 2)"));
  second.verdict = first.verdict;
  second.figures["scores cosine"] = 0.75;
  view = view_of({first, second}, "");
  EXPECT_THAT(view.models[0].changes[0].experiments[0].contradiction, HasSubstr("scores cosine differs: 0.5 and 0.75"));
}

TEST(LedgerView, TriedNotDelivered) {
  LedgerEntry package = entry("package", "2026-01-05", "Softmax=CPU");
  package.delivered = "detector-3";
  const LedgerView view =
      view_of({entry("locate", "2026-01-01"), entry("pin", "2026-01-02", "Softmax=CPU"),
               entry("pin", "2026-01-03", "Erf=CPU"), entry("inject", "2026-01-04", "x: noise(1e-4)"), package},
              "");
  std::vector<std::string> standings;
  for (const LedgerChange& c : view.models[0].changes) standings.push_back(c.change + ": " + c.standing);
  EXPECT_THAT(standings, ElementsAre(": ", "Erf=CPU: tried, not delivered",
                                     "x: noise(1e-4): ", "Softmax=CPU: delivered in detector-3"));
}

TEST(LedgerView, OneModel) {
  LedgerEntry other = entry("locate", "2026-01-01");
  other.model = "other.onnx";
  other.model_sha256 = "fedcba9876543210";
  const std::vector<LedgerEntry> entries = {other, entry("locate", "2026-01-02")};
  for (const char* model : {"other.onnx", "fedcba", "fedcba9876543210"}) {
    const LedgerView view = view_of(entries, model);
    EXPECT_EQ(view.entries, 1) << model;
    EXPECT_EQ(view.others, 1) << model;
  }
  EXPECT_EQ(view_of(entries, "fed").entries, 0);
  EXPECT_EQ(view_of(entries, "").models.size(), 2);
}

TEST(LedgerEntries, OfALocateWithASearch) {
  LocateResult result;
  result.model = "m.onnx";
  result.reference_info.model_sha256 = "abc";
  result.device = "sim:fp16";
  result.verdict = Verdict::kDeviates;
  result.first_divergence = "/Pow";
  OutputRow row;
  row.pair.name = "scores";
  row.pair.metrics = PairMetrics{};
  row.pair.metrics->cosine = 0.25;
  result.outputs.push_back(row);
  result.search = RestoreSearch{};
  result.search->islands = {"/Pow", "/Sqrt"};
  result.search->minimal = true;
  const auto entries = ledger_entries(result);
  ASSERT_EQ(entries.size(), 2);
  EXPECT_EQ(entries[0].kind, "locate");
  EXPECT_EQ(entries[0].change, "");
  EXPECT_EQ(entries[0].outcome, "no fault found; first divergence /Pow");
  EXPECT_EQ(entries[0].figures.at("scores cosine"), 0.25);
  EXPECT_EQ(entries[1].change, "on the reference: /Pow, /Sqrt");
  EXPECT_THAT(entries[1].outcome, HasSubstr("nothing of it can be dropped"));
  result.search->needless = true;
  EXPECT_EQ(ledger_entries(result)[1].change, "");
}

TEST(LedgerEntries, EvidenceFilesAreNoExperiment) {
  PlacementResult result;
  EXPECT_TRUE(ledger_entries(result).empty());
  result.target = "qnn:htp";
  EXPECT_EQ(ledger_entries(result).at(0).kind, "placement");
  result.pin = PinExperiment{};
  result.pin->ran = true;
  result.pin->pins = {"Softmax=CPU"};
  result.pin->deviated = true;
  const auto pinned = ledger_entries(result);
  EXPECT_EQ(pinned.at(0).kind, "pin");
  EXPECT_EQ(pinned.at(0).change, "Softmax=CPU");
  EXPECT_EQ(pinned.at(0).outcome, "did not repair");
}

}  // namespace
}  // namespace paritas
