#include "paritas/placement/name_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 0 "a", 1 "b;c", 2 "d"
onnx_model::GraphIndex graph() {
  GraphBuilder builder;
  const char* names[] = {"a", "b;c", "d"};
  builder.input("x");
  std::string from = "x";
  for (const char* name : names) {
    builder.node("Relu", {from}, {std::string(name) + "_out"});
    builder.last().set_name(name);
    from = std::string(name) + "_out";
  }
  return must(onnx_model::GraphIndex::build(builder.output(from).model()));
}

// node_table_test.cc has the rules for single names.
TEST(NameMapTest, ANewReshapeIsItsNode) {
  const auto index = graph();
  const NameMap map(index);
  EXPECT_THAT(map.find("a_new_reshape"), ElementsAre(0));
  EXPECT_THAT(map.find("a_token_3_new_reshape_token_4"), ElementsAre(0));
  EXPECT_THAT(map.find("_new_reshape"), IsEmpty());
}

TEST(NameMapTest, PiecesAreJoinedWhereOnlyThatGivesAName) {
  const auto index = graph();
  const NameMap map(index);
  size_t unknown = 9;
  EXPECT_THAT(map.find_joined({"a", "b", "c", "d_token_1"}, &unknown), ElementsAre(0, 1, 2));
  EXPECT_EQ(unknown, 0u);
  EXPECT_THAT(map.find_joined({"gemm_input_reshape", "c", "a"}, &unknown), ElementsAre(0));
  EXPECT_EQ(unknown, 1u);  // "c"; the reshape is the runtime's own
  EXPECT_THAT(map.find_joined({}), IsEmpty());
}

TEST(NameMapTest, MadeUpNames) {
  for (const char* name :
       {"gemm_input_reshape", "gemm_output_reshape_token_9_new_reshape", "Transpose_token_417", "a__paritas_Round"})
    EXPECT_TRUE(is_made_up(name)) << name;
  for (const char* name : {"/enc/Mul", "Transpose", "Transpose_417", "/enc/Concat_1_token_5", ""})
    EXPECT_FALSE(is_made_up(name)) << name;
}

}  // namespace
}  // namespace paritas
