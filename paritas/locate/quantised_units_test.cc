#include "paritas/locate/quantised_units.h"

#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

TEST(QuantisedUnits, WhatQuantisedOperatorsNeverHandOut) {
  const auto model = testing::model_of({"q", "s"},
                                       {{"DequantizeLinear", {"q", "s"}, {"d"}},
                                        {"MatMul", {"d", "d"}, {"m"}},
                                        {"Clip", {"m"}, {"c"}},
                                        {"QuantizeLinear", {"c", "s"}, {"q2"}},
                                        {"DequantizeLinear", {"q2", "s"}, {"d2"}},
                                        {"Add", {"d2", "d2"}, {"both"}},
                                        {"QuantizeLinear", {"both", "s"}, {"q3"}},
                                        {"Exp", {"both"}, {"e"}},
                                        {"QuantizeLinear", {"e", "s"}, {"q4"}}},
                                       {"q3", "q4"});
  const auto index = onnx_model::GraphIndex::build(model);
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_TRUE(inside_quantised_unit(*index, "m"));
  EXPECT_TRUE(inside_quantised_unit(*index, "c"));
  EXPECT_FALSE(inside_quantised_unit(*index, "d"));     // the unit's own border
  EXPECT_FALSE(inside_quantised_unit(*index, "q2"));    //
  EXPECT_FALSE(inside_quantised_unit(*index, "both"));  // a float operator reads it too
  EXPECT_FALSE(inside_quantised_unit(*index, "e"));     // made from floats
  EXPECT_FALSE(inside_quantised_unit(*index, "q"));
}

}  // namespace
}  // namespace paritas
