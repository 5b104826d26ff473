#include "paritas/vendor/polygraphy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/vendor/base64.h"
#include "paritas/vendor/testing.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string array_json(const std::string& npy) {
  return R"({"values": {"array": ")" + base64_text(npy) +
         R"(", "polygraphy_class": "ndarray"}, "polygraphy_class": "LazyArray"})";
}

std::string iteration(const std::string& outputs) {
  return R"({"outputs": {)" + outputs +
         R"(}, "runtime": 0.5, "runner_name": "r", "polygraphy_class": "IterationResult"})";
}

std::string results(const std::string& runners) {
  return R"({"lst": [)" + runners + R"(], "polygraphy_class": "RunResults"})";
}

const std::string kOne = npy_text("'<f4'", "(1,)", std::string("\0\0\x80\x3f", 4));
const std::string kTwo = npy_text("'<f4'", "(1,)", std::string("\0\0\0\x40", 4));
const std::string kRunner0 =
    R"(["r-N0", [)" + iteration("\"/a\": " + array_json(kOne)) + ", " + iteration("\"/a\": " + array_json(kTwo)) + "]]";

Result<Found> open(const std::string& text, const std::string& runner = {}) {
  const TestFolder folder;
  ImportOptions options;
  options.runner = runner;
  return find_polygraphy(folder.write("out.json", text), options);
}

std::string refusal(const std::string& text, const std::string& runner = {}) {
  const auto found = open(text, runner);
  if (!found) return found.error().message();
  for (const FoundSample& sample : found->samples)
    for (const FoundTensor& tensor : sample)
      if (const auto read = tensor.read(); !read) return read.error().message();
  return "accepted";
}

TEST(Base64, DecodesEveryLengthAndRefusesEveryOtherCharacter) {
  std::string bytes;
  for (int length = 0; length < 40; ++length) {
    const std::string text = base64_text(bytes);
    ASSERT_EQ(base64_size(text), bytes.size());
    std::string decoded(bytes.size(), '\0');
    ASSERT_TRUE(base64_decode(text, std::as_writable_bytes(std::span(decoded))));
    EXPECT_EQ(decoded, bytes);
    for (size_t at = 0; at + 2 < text.size(); ++at) {
      std::string bad = text;
      bad[at] = '=';
      EXPECT_FALSE(base64_decode(bad, std::as_writable_bytes(std::span(decoded)))) << at << " of " << text;
    }
    bytes += static_cast<char>(length * 37 + 201);
  }
  EXPECT_EQ(base64_size("abc"), std::nullopt);
  EXPECT_EQ(base64_size(""), 0u);
}

TEST(Polygraphy, IterationsAreSamples) {
  const Found found = open(results(kRunner0)).value();
  ASSERT_EQ(found.samples.size(), 2u);
  EXPECT_EQ(found.samples[1][0].name, "/a");
  EXPECT_EQ(found.samples[1][0].dtype, DType::kF32);
  EXPECT_EQ(doubles(found.samples[1][0].read().value()), (std::vector<double>{2}));
}

TEST(Polygraphy, InputFilesGiveInputs) {
  const Found found =
      open(R"([{"x": {"array": ")" + base64_text(kOne) + R"(", "polygraphy_class": "ndarray"}}])").value();
  ASSERT_EQ(found.samples.size(), 1u);
  EXPECT_EQ(found.samples[0][0].role, Role::kInput);
}

TEST(Polygraphy, OneOfSeveralRunnersMustBeChosen) {
  const std::string both = results(kRunner0 + R"(, ["r-N1", []])");
  EXPECT_THAT(refusal(both), AllOf(HasSubstr("\"r-N0\", \"r-N1\""), HasSubstr("--runner")));
  EXPECT_EQ(refusal(both, "*N0"), "accepted");
  EXPECT_THAT(refusal(both, "r-N2"), HasSubstr("has no such runner"));
  EXPECT_THAT(refusal(both, "r*"), HasSubstr("several runners"));
}

TEST(Polygraphy, MalformedFilesAreRefusedWithTheCause) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("{}"), HasSubstr("is not Polygraphy's RunResults"));
  EXPECT_THAT(refusal("3"), HasSubstr("expected a JSON object or array"));
  EXPECT_THAT(refusal(results(kRunner0) + "]"), HasSubstr("goes on after"));
  EXPECT_THAT(refusal(results(kRunner0).substr(0, 300)), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(results(R"(["r"])")), HasSubstr("pair of name and iterations"));
  EXPECT_THAT(refusal(results(R"(["r", [{"runtime": 1}]])")), HasSubstr("\"outputs\""));
  const std::string twice = "\"a\": " + array_json(kOne) + ", \"a\": " + array_json(kTwo);
  EXPECT_THAT(refusal(results("[\"r\", [" + iteration(twice) + "]]")), HasSubstr("the key \"a\" stands twice"));
  EXPECT_THAT(refusal(R"({"lst": [], "x": )" + std::string(10000, '[') + std::string(10000, ']') + "}"),
              HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(refusal(std::string(10000, '[')), HasSubstr("expected an object"));
  EXPECT_THAT(refusal("{\"lst\": [], \"x\": \"\xff\"}"), HasSubstr("is not UTF-8"));
}

TEST(Polygraphy, ArraysThatLieAreRefused) {
  const auto with = [](const std::string& value) {
    return refusal(results("[\"r\", [" + iteration("\"a\": " + value) + "]]"));
  };
  EXPECT_THAT(with(R"({"array": "!!!!", "polygraphy_class": "ndarray"})"), HasSubstr("not base64"));
  EXPECT_THAT(with(R"({"array": "abc", "polygraphy_class": "ndarray"})"), HasSubstr("not base64"));
  EXPECT_THAT(with(R"({"array": "QUJD", "polygraphy_class": "ndarray"})"), HasSubstr("is not a .npy file"));
  EXPECT_THAT(with(R"({"array": 7, "polygraphy_class": "ndarray"})"), HasSubstr("expected an array in base64"));
  EXPECT_THAT(with(R"({"array": "QUJD", "polygraphy_class": "Tensor"})"), HasSubstr("Python pickle"));
  EXPECT_THAT(with(R"({"path": "x", "polygraphy_class": "Other"})"), HasSubstr("is of the class \"Other\""));
  EXPECT_THAT(with(array_json(npy_text("'<f4'", "(1000000,)", "abcd"))), HasSubstr("takes 4000000 bytes"));
  EXPECT_THAT(with(array_json(npy_text("'|O'", "(1,)", "abcd"))), HasSubstr("Python objects"));
}

}  // namespace
}  // namespace paritas
