#include "paritas/locate/candidates.h"

#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using testing::metrics;
using testing::model_of;
using testing::row;

TEST(Candidates, SuspectsLargeErrorsJumpsAndWhatStandsBefore) {
  auto model = model_of({"x"},
                        {{"Mul", {"x"}, {"far"}},
                         {"Mul", {"far"}, {"two"}},
                         {"Reshape", {"two"}, {"moved"}},
                         {"Mul", {"moved"}, {"one"}},
                         {"Sub", {"one"}, {"jump"}},
                         {"Mul", {"jump"}, {"after"}}},
                        {"after"});
  auto index = onnx_model::GraphIndex::build(model);
  std::vector<NodeRow> rows;
  for (const char* name : {"far", "two", "moved", "one", "jump", "after"}) rows.push_back(row(name, 1, 1e-8));
  rows[4].accumulated = metrics(0.5, 0.5);
  rows[5].accumulated = metrics(0.5, 0.5);
  const Candidates c = choose_candidates(rows, *index);
  EXPECT_EQ(c.all.size(), 6u);
  EXPECT_EQ(c.first, (std::vector<std::string>{"two", "moved", "one", "jump"})) << "data movement is no step";
  EXPECT_TRUE(c.suspects.empty());
}

TEST(Candidates, WhatDoesNotDifferIsNone) {
  auto model = model_of({"x"}, {{"Mul", {"x"}, {"a"}}, {"Mul", {"a"}, {"b"}}}, {"b"});
  auto index = onnx_model::GraphIndex::build(model);
  std::vector<NodeRow> rows = {row("a", 1, 0), row("b", 1, 1e-8)};
  rows[1].local->metrics.storage->flushed = 1;
  const Candidates c = choose_candidates(rows, *index);
  EXPECT_EQ(c.all, (std::vector<std::string>{"b"}));
  EXPECT_EQ(c.suspects, (std::vector<std::string>{"b"}));
  EXPECT_TRUE(c.overflowing.empty());
}

}  // namespace
}  // namespace paritas
