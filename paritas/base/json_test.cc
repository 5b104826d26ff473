#include "paritas/base/json.h"

#include <cmath>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

std::string cause_of(std::string_view text) {
  const auto value = parse_json(text, "run.json");
  if (value) return "";
  EXPECT_EQ(value.error().subject, "run.json");
  return value.error().cause;
}

TEST(JsonNumber, WritesNonFiniteNumbersAsText) {
  EXPECT_EQ(dump_json({{"a", json_number(std::nan(""))}, {"b", json_number(-INFINITY)}, {"c", json_number(0.5)}}, -1),
            R"({"a":"nan","b":"-inf","c":0.5})");
  for (const double value : std::initializer_list<double>{INFINITY, -INFINITY, 1e-300, -0.0})
    EXPECT_EQ(number_from_json(json_number(value)), std::optional<double>(value));
  EXPECT_TRUE(std::isnan(*number_from_json(json_number(std::nan("")))));
  EXPECT_FALSE(number_from_json("1.0"));
  EXPECT_FALSE(number_from_json(nullptr));
  EXPECT_FALSE(number_from_json(true));
}

TEST(JsonNumber, SurvivesTextToTheBit) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, std::numeric_limits<double>::max()})
    EXPECT_EQ(parse_json(dump_json(json_number(value)), "")->get<double>(), value);
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  const auto value = parse_json(R"({"b":1,"a":[true,null,"x"]})", "");
  ASSERT_TRUE(value);
  EXPECT_EQ(dump_json(*value, -1), R"({"b":1,"a":[true,null,"x"]})");
}

TEST(ParseJson, RefusesWhatIsNotOneValue) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "nul", "1 2", "{} x", "\"a", "[1e999]", "// c\n1", "NaN"})
    EXPECT_THAT(cause_of(text), HasSubstr("not valid JSON at byte")) << text;
  EXPECT_THAT(cause_of("\"\xff\""), HasSubstr("not valid JSON"));
  EXPECT_THAT(cause_of(std::string_view("{}\0garbage", 10)), HasSubstr("zero byte"));
}

TEST(ParseJson, RefusesKeysThatStandTwice) {
  EXPECT_THAT(cause_of(R"({"a":1,"b":{"a":2},"a":3})"), HasSubstr("\"a\" stands twice"));
  EXPECT_EQ(cause_of(R"({"a":{"a":[{"a":1},{"a":1}]}})"), "");
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_EQ(cause_of(std::string(200, '[') + std::string(200, ']')), "");
  EXPECT_THAT(cause_of(std::string(201, '[') + std::string(201, ']')), HasSubstr("nested deeper than 200"));
  EXPECT_THAT(cause_of(std::string(1'000'000, '[')), HasSubstr("nested deeper than 200"));
  std::string objects;
  for (int i = 0; i < 300; ++i) objects += "{\"a\":";
  EXPECT_THAT(cause_of(objects), HasSubstr("nested deeper than 200"));
}

TEST(DumpJson, ReplacesInvalidText) { EXPECT_EQ(dump_json("a\xff", -1), "\"a\xEF\xBF\xBD\""); }

TEST(TypedAccess, ReportsInsteadOfThrowing) {
  const Json object = {{"s", "text"},        {"i", -3}, {"u", 3}, {"big", UINT64_MAX}, {"f", 1.5}, {"a", {1, 2, 3}},
                       {"o", Json::object()}};
  EXPECT_EQ(*json_string(object, "s", "f"), "text");
  EXPECT_EQ(*json_int(object, "i", "f"), -3);
  EXPECT_EQ(*json_uint(object, "u", "f"), 3u);
  EXPECT_EQ((*json_array(object, "a", "f"))->size(), 3u);
  EXPECT_TRUE((*json_object(object, "o", "f"))->empty());
  EXPECT_THAT(json_string(object, "i", "f").error().cause, HasSubstr("\"i\" is not a string"));
  EXPECT_THAT(json_int(object, "f", "f").error().cause, HasSubstr("\"f\" is not a whole number"));
  EXPECT_THAT(json_int(object, "big", "f").error().cause, HasSubstr("not a whole number"));
  EXPECT_THAT(json_uint(object, "i", "f").error().cause, HasSubstr("\"i\" is negative"));
  EXPECT_THAT(json_array(object, "o", "f").error().cause, HasSubstr("not an array"));
  EXPECT_THAT(json_object(object, "a", "f").error().cause, HasSubstr("not an object"));
  EXPECT_THAT(json_int(object, "none", "f").error().cause, HasSubstr("\"none\" is missing"));
  EXPECT_THAT(json_int(Json::array(), "i", "f").error().cause, HasSubstr("expected an object"));
}

}  // namespace
}  // namespace paritas
