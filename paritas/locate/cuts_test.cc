#include "paritas/locate/cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// x -> a -> b -> c -> y; `middle` is the operator that makes b.
GraphBuilder chain(const char* middle) {
  GraphBuilder g;
  g.input("x").node("Relu", {"x"}, {"a"}).node(middle, {"a"}, {"b"});
  g.node("Sigmoid", {"b"}, {"c"}).node("Tanh", {"c"}, {"y"}).output("y");
  return g;
}

class CutsTest : public ::testing::Test {
 protected:
  void use(const GraphBuilder& builder) {
    model_.emplace(builder.model());
    index_.emplace(must(onnx_model::GraphIndex::build(*model_)));
    dependence_ = onnx_model::value_dependence(*model_, *index_);
  }
  Result<ChosenCuts> choose(const CutRequest& request, const std::string& sha256 = "aa") {
    return choose_cuts(request, *model_, *index_, dependence_, sha256, []() -> Result<onnx_model::TensorBytes> {
      return onnx_model::TensorBytes([](const std::string&) { return std::optional<uint64_t>(16); });
    });
  }
  // A file with the cut at "b" of the model in use.
  CutRequest stored() {
    CrossMatrices matrices;
    matrices.cuts.emplace_back().name = "middle";
    const std::string text = cut_file_text("model.onnx", "aa", matrices, {{mark_of(*index_, dependence_, "b")}});
    file_ = Path(::testing::TempDir()) / "cuts_test.json";
    EXPECT_TRUE(write_text_atomically(file_, text, true).has_value());
    CutRequest request;
    request.file = file_;
    return request;
  }
  static CutRequest given(const std::vector<std::string>& texts) {
    CutRequest request;
    for (const auto& text : texts) request.given.push_back(must(onnx_model::parse_cut(text, "--cut")));
    return request;
  }

  std::optional<onnx_model::Model> model_;
  std::optional<onnx_model::GraphIndex> index_;
  onnx_model::ValueDependence dependence_;
  Path file_;
};

TEST_F(CutsTest, NamelessCutsAreNumbered) {
  use(chain("Relu"));
  const auto chosen = must(choose(given({"a", "mid=b", "c"})));
  ASSERT_THAT(chosen.cuts, SizeIs(3));
  EXPECT_EQ(chosen.cuts[0].name, "cut-1");
  EXPECT_EQ(chosen.cuts[1].name, "mid");
  EXPECT_EQ(chosen.cuts[2].name, "cut-3");
  const auto twice = choose(given({"m=a", "m=b"}));
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(twice.error().message(), HasSubstr("two cuts are called \"m\""));
}

TEST_F(CutsTest, AStoredCutIsUsedAgain) {
  use(chain("Relu"));
  const auto chosen = must(choose(stored()));
  ASSERT_THAT(chosen.cuts, SizeIs(1));
  EXPECT_THAT(chosen.cuts[0].tensors, ElementsAre("b"));
  EXPECT_THAT(chosen.notes, IsEmpty());
}

TEST_F(CutsTest, AStoredCutIsValidatedAnewForAnotherFile) {
  use(chain("Relu"));
  const CutRequest request = stored();
  const auto chosen = must(choose(request, "bb"));
  EXPECT_THAT(chosen.notes, ElementsAre(HasSubstr("validated anew")));
  // The name is there, but another operator makes it.
  use(chain("Neg"));
  const auto other = choose(request, "bb");
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message(), AllOf(HasSubstr("it was made by Relu, and is made by Neg"), HasSubstr("--cut")));
  // The tensor is what it was, but a path goes round it now.
  GraphBuilder skip;
  skip.input("x").node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Sigmoid", {"b"}, {"c"});
  skip.node("Add", {"c", "a"}, {"y"}).output("y");
  use(skip);
  const auto round = choose(request, "bb");
  ASSERT_FALSE(round.has_value());
  EXPECT_THAT(round.error().message(), HasSubstr("goes round"));
  GraphBuilder gone;
  gone.input("x").node("Relu", {"x"}, {"z"}).node("Relu", {"z"}, {"y"}).output("y");
  use(gone);
  EXPECT_THAT(choose(request, "bb").error().message(), HasSubstr("has no tensor \"b\""));
}

TEST_F(CutsTest, ProposalsThatAreGivenAlreadyAreLeftOut) {
  use(chain("Relu"));
  CutRequest request = given({"a"});
  request.automatic = 1;
  const auto chosen = must(choose(request));
  for (size_t i = 1; i < chosen.cuts.size(); ++i) EXPECT_NE(chosen.cuts[i].tensors, chosen.cuts[0].tensors);
}

TEST_F(CutsTest, BadCutFilesAreRefused) {
  for (const char* bad :
       {"", "[]", "{}", R"({"schema":"paritas.cuts/2"})", R"({"schema":"paritas.cuts/1"})",
        R"({"schema":"paritas.cuts/1","model_sha256":"a","cuts":[]})",
        R"({"schema":"paritas.cuts/1","model_sha256":"a","cuts":[3]})",
        R"({"schema":"paritas.cuts/1","model_sha256":"a","cuts":[{"name":"m","tensors":[]}]})",
        R"({"schema":"paritas.cuts/1","model_sha256":"a","cuts":[{"name":"m","tensors":[{"tensor":1}]}]})"}) {
    const auto file = parse_cut_file(bad, "cuts.json");
    ASSERT_FALSE(file.has_value()) << bad;
    EXPECT_THAT(file.error().message(), HasSubstr("cuts.json")) << bad;
  }
}

}  // namespace
}  // namespace paritas
