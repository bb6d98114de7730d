// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/errors.h"
#include "common/parameters.h"

namespace workloads {
namespace {

using ::testing::HasSubstr;

const Parameters& table() {
  static const Parameters parameters{
      {
          .name = "size_bytes",
          .domain = IntegerRange{.minimum = 0, .maximum = 1000},
          .unit = "bytes",
          .meaning = "the message",
          .default_value = nullptr,
      },
      {
          .name = "pattern",
          .domain = Choices{"both", "sender"},
          .unit = "",
          .meaning = "who computes",
          .default_value = "both",
      },
      {
          .name = "pending",
          .domain = Flag{},
          .unit = "",
          .meaning = "whether something is pending",
          .default_value = true,
      },
  };
  return parameters;
}

/// The sentence of the UsageError, empty if there was none.
template <class Action>
std::string sentence_of(Action action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

std::string objection_to(const std::string& point) {
  return sentence_of([&] { check_point(Json::parse(point), table(), "point 1"); });
}

TEST(CheckPoint, AcceptsWhatTheTableSays) {
  EXPECT_EQ(objection_to(R"({"size_bytes": 0})"), "");
  EXPECT_EQ(objection_to(R"({"size_bytes": 1000, "pattern": "sender"})"), "");
  EXPECT_EQ(objection_to(R"({"size_bytes": 10.0})"), "");
}

TEST(CheckPoint, CopiesWhatItDoesNotKnow) {
  EXPECT_EQ(objection_to(R"({"size_bytes": 1, "comp_over_comm": 1.5, "note": "x", "flag": true, "none": null})"), "");
}

TEST(CheckPoint, RefusesWithPlaceValueAndRemedy) {
  EXPECT_EQ(objection_to(R"({"size_bytes": -1})"), "point 1: size_bytes = -1: an integer from 0 to 1000 is needed");
  EXPECT_THAT(objection_to(R"({"size_bytes": 1001})"), HasSubstr("from 0 to 1000"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 1.5})"), HasSubstr("integer"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 1e300})"), HasSubstr("integer"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 18446744073709551615})"), HasSubstr("integer"));
  EXPECT_THAT(objection_to(R"({"size_bytes": "10"})"), HasSubstr("integer"));
  EXPECT_THAT(objection_to(R"({"size_bytes": true})"), HasSubstr("integer"));
  EXPECT_THAT(objection_to(R"({"size_bytes": null})"), HasSubstr("integer"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 1, "pattern": "none"})"), HasSubstr("one of both, sender is needed"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 1, "pattern": 3})"), HasSubstr("one of both, sender is needed"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 1, "pending": 1})"), HasSubstr("pending = 1: true or false is needed"));
  EXPECT_THAT(objection_to(R"({})"), HasSubstr("size_bytes is missing"));
  EXPECT_THAT(objection_to(R"([1])"), HasSubstr("an object of parameters is needed"));
  EXPECT_THAT(objection_to(R"({"size_bytes": 1, "list": [1]})"), HasSubstr("list: a number, a text"));
}

TEST(CheckPoint, RecognisesSlips) {
  EXPECT_THAT(objection_to(R"({"size_bytes": 1, "patern": "sender"})"), HasSubstr("did you mean pattern?"));
  EXPECT_THAT(objection_to(R"({"size_byte": 1})"), HasSubstr("did you mean size_bytes?"));
}

TEST(Values, GivenOrDefault) {
  EXPECT_EQ(integer_of(Json{{"size_bytes", 12}}, table(), "size_bytes"), 12);
  EXPECT_EQ(integer_of(Json{{"size_bytes", 12.0}}, table(), "size_bytes"), 12);
  EXPECT_EQ(choice_of(Json::object(), table(), "pattern"), "both");
  EXPECT_TRUE(flag_of(Json::object(), table(), "pending"));
  EXPECT_FALSE(flag_of(Json{{"pending", false}}, table(), "pending"));
  EXPECT_EQ(choice_of(Json{{"pattern", "sender"}}, table(), "pattern"), "sender");
}

TEST(PointFromText, RecognisesNumbers) {
  const Json expected{{"size_bytes", 12}, {"ratio", 0.5}, {"pattern", "both"}, {"flag", true}, {"empty", ""}};
  EXPECT_EQ(point_from_text("size_bytes=12,ratio=0.5,pattern=both,flag=true,empty="), expected);
}

TEST(PointFromText, RefusesWhatIsNoPair) {
  for (const char* text : {"size_bytes", "=1", "a=1,,b=2"}) {
    EXPECT_THAT(sentence_of([&] { point_from_text(text); }), HasSubstr("key=value is needed")) << text;
  }
}

TEST(PointsFromJson, NamesThePlaceOfAnError) {
  const auto objection = [](const std::string& text) {
    return sentence_of([&] { points_from_json(text, "--points p.json"); });
  };
  EXPECT_EQ(objection("[\n{\"a\": 1},\n oops]"), "--points p.json: not JSON (line 3)");
  EXPECT_THAT(objection(""), HasSubstr("not JSON (line 1)"));
  EXPECT_THAT(objection("\xff\xfe"), HasSubstr("not JSON (line 1)"));
  EXPECT_THAT(objection("[1e999]"), HasSubstr("out of range"));
  EXPECT_THAT(objection("{}"), HasSubstr("an array of points"));
  EXPECT_THAT(objection("[]"), HasSubstr("with at least one"));
  EXPECT_THAT(objection(std::string(200'000, '[')), HasSubstr("not JSON"));
}

TEST(ObjectFromJson, WantsAnObject) {
  EXPECT_EQ(object_from_json(R"({"study": "overlap-ratio"})", "x")["study"], "overlap-ratio");
  EXPECT_THAT(sentence_of([] { object_from_json("[]", "--context c.json"); }), HasSubstr("an object is needed"));
}

TEST(Describe, HasTypeUnitMeaningAndDefault) {
  const Json description = describe(table());
  EXPECT_EQ(description[0]["type"], "integer");
  EXPECT_EQ(description[0]["unit"], "bytes");
  EXPECT_TRUE(description[0]["default"].is_null());
  EXPECT_EQ(description[1]["choices"], (Json{"both", "sender"}));
  EXPECT_EQ(description[1]["default"], "both");
  EXPECT_EQ(description[2]["type"], "boolean");
}

}  // namespace
}  // namespace workloads
