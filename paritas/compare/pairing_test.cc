#include "paritas/compare/pairing.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

// "reference = device (rule)" for each pair.
std::vector<std::string> pairs(const std::vector<std::string>& reference, const std::vector<std::string>& device,
                               const PairingRules& rules) {
  const auto pairing = pair_names(reference, device, rules, "ref", "dev");
  if (!pairing) return {pairing.error().message()};
  std::vector<std::string> texts;
  for (const NamePair& p : pairing->pairs) texts.push_back(p.reference + " = " + p.device + " (" + p.rule + ")");
  return texts;
}

PairingRules normalised() {
  PairingRules rules;
  rules.normalised = true;
  return rules;
}

using Texts = std::vector<std::string>;

TEST(Pairing, IsByExactNameAndNeverByPosition) {
  EXPECT_EQ(pairs({"a", "b"}, {"b", "a"}, {}), (Texts{"a = a (exact)", "b = b (exact)"}));
  EXPECT_EQ(pairs({"a"}, {"x"}, {}), Texts{});
  EXPECT_EQ(pairs({"cls"}, {"aux_cls"}, normalised()), Texts{});
  EXPECT_EQ(pairs({"Out"}, {"out"}, {}), Texts{});
}

TEST(Pairing, RulesAreTriedInOrderAndNamed) {
  EXPECT_EQ(pairs({"probs:0"}, {"probs"}, normalised()), Texts{"probs:0 = probs (output number)"});
  EXPECT_EQ(pairs({"relu"}, {"conv + relu"}, normalised()), Texts{"relu = conv + relu (fused)"});
  EXPECT_EQ(pairs({"b"}, {"a;b"}, normalised()), Texts{"b = a;b (fused)"});
  EXPECT_EQ(pairs({"x"}, {"x_nhwc"}, normalised()), Texts{"x = x_nhwc (layout)"});
  EXPECT_EQ(pairs({"/model/a.b/Add"}, {"_model_a_b_Add"}, normalised()),
            Texts{"/model/a.b/Add = _model_a_b_Add (sanitised)"});
  EXPECT_EQ(pairs({"Scores"}, {"scores"}, normalised()), Texts{"Scores = scores (case)"});
  EXPECT_EQ(pairs({"/Head/Out:0"}, {"head_out.nchw"}, normalised()),
            Texts{"/Head/Out:0 = head_out.nchw (output number + layout + sanitised + case)"});
}

TEST(Pairing, OtherOutputsOfANodeAreNotTheFirst) {
  EXPECT_EQ(pairs({"y:1"}, {"y:2"}, normalised()), Texts{});
  EXPECT_EQ(pairs({"y"}, {"y:1"}, normalised()), Texts{});
}

TEST(Pairing, AnAliasSettlesACollision) {
  PairingRules rules = normalised();
  rules.aliases = {{"a/b", "q"}};
  EXPECT_EQ(pairs({"a/b", "a.b"}, {"a_b", "q"}, rules), (Texts{"a/b = q (alias)", "a.b = a_b (sanitised)"}));
}

TEST(Pairing, NamesThatBecomeOneAreAnError) {
  EXPECT_THAT(pairs({"a/b", "a_b"}, {"a_b"}, normalised()).front(), HasSubstr("become one name"));
  EXPECT_THAT(pairs({"a/b", "a.b"}, {"a_b"}, normalised()).front(), HasSubstr("become one name"));
  EXPECT_THAT(pairs({"x"}, {"X", "x:0"}, normalised()).front(), HasSubstr("x = x:0 (output number)"));
  EXPECT_THAT(pairs({"a_b"}, {"a/b", "a.b"}, normalised()).front(), HasSubstr("the device's"));
  // Both sides hold both: exact names settle it, and no rule is needed.
  EXPECT_EQ(pairs({"a/b", "a_b"}, {"a_b", "a/b"}, normalised()).size(), 2u);
}

TEST(Pairing, AliasesComeFirstAndMustExist) {
  PairingRules rules;
  rules.aliases = {{"boxes", "o0"}, {"scores", "o1"}};
  EXPECT_EQ(pairs({"boxes", "scores"}, {"o1", "o0"}, rules), (Texts{"boxes = o0 (alias)", "scores = o1 (alias)"}));
  EXPECT_THAT(pairs({"boxes"}, {"o0", "o1"}, rules).front(), HasSubstr("the reference has no tensor \"scores\""));
  EXPECT_THAT(pairs({"boxes", "scores"}, {"o0"}, rules).front(), HasSubstr("the device has no tensor \"o1\""));
  rules.aliases = {{"a", "o"}, {"b", "o"}};
  EXPECT_THAT(pairs({"a", "b"}, {"o"}, rules).front(), HasSubstr("two reference tensors claim"));
}

TEST(Pairing, RepeatedNamesAreRefused) {
  EXPECT_THAT(pairs({"y"}, {"y", "y"}, {}).front(), HasSubstr("two tensors called \"y\""));
}

TEST(Pairing, AliasFilesHoldOneTable) {
  const TestFolder folder;
  const auto aliases = load_aliases(folder.write("a.toml", "[aliases]\n\"a/b\" = \"o0\"\n"));
  ASSERT_TRUE(aliases);
  EXPECT_EQ(aliases->at("a/b"), "o0");
  EXPECT_FALSE(load_aliases(folder.write("b.toml", "a = \"b\"\n")));
  EXPECT_FALSE(load_aliases(folder.write("c.toml", "[aliases]\na = 3\n")));
}

// Whatever the names: a device tensor has one partner at most, and pairs and rests are all names.
RC_GTEST_PROP(Pairing, IsOneToOne, ()) {
  const auto name = rc::gen::container<std::string>(rc::gen::element('a', 'A', '/', '_', ':', '0', ';', '.'));
  const auto names = rc::gen::unique<std::vector<std::string>>(name);
  const auto x = *names, y = *names;
  const auto pairing = pair_names(x, y, normalised(), "ref", "dev");
  if (!pairing) return;
  std::vector<std::string> left, right;
  for (const NamePair& p : pairing->pairs) {
    left.push_back(p.reference);
    right.push_back(p.device);
  }
  left.insert(left.end(), pairing->unmatched_reference.begin(), pairing->unmatched_reference.end());
  right.insert(right.end(), pairing->unmatched_device.begin(), pairing->unmatched_device.end());
  RC_ASSERT(std::multiset<std::string>(left.begin(), left.end()) == std::multiset<std::string>(x.begin(), x.end()));
  RC_ASSERT(std::multiset<std::string>(right.begin(), right.end()) == std::multiset<std::string>(y.begin(), y.end()));
}

}  // namespace
}  // namespace paritas
