// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/errors.h"
#include "common/json.h"
#include "common/parameters.h"
#include "common/quantities.h"

namespace workloads {
namespace {

using ::testing::HasSubstr;

const Parameters& parameter_table() {
  static const Parameters parameters{
      integer_parameter("size_bytes", {0, 1000}, "bytes", "the message"),
      choice_parameter("pattern", {"both", "sender"}, "who computes", "both"),
      flag_parameter("pending", "whether something is pending", true),
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
  return sentence_of([&] { check_point(Json::parse(point), parameter_table(), "point 1"); });
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
  EXPECT_EQ(integer_of(Json{{"size_bytes", 12}}, parameter_table(), "size_bytes"), 12);
  EXPECT_EQ(integer_of(Json{{"size_bytes", 12.0}}, parameter_table(), "size_bytes"), 12);
  EXPECT_EQ(choice_of(Json::object(), parameter_table(), "pattern"), "both");
  EXPECT_TRUE(flag_of(Json::object(), parameter_table(), "pending"));
  EXPECT_FALSE(flag_of(Json{{"pending", false}}, parameter_table(), "pending"));
  EXPECT_EQ(choice_of(Json{{"pattern", "sender"}}, parameter_table(), "pattern"), "sender");
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Quantities& table() {
  static const Quantities quantities{
      leading(seconds("total_s")),
      count("switches"),
      {.name = "mops", .unit = "Mop/s", .better = Better::higher},
      {.name = "norm", .unit = "1", .better = Better::neither},
  };
  return quantities;
}

TEST(Quantities, AreDescribedForAListAndForAHeader) {
  const Json first = {{"unit", "s"}, {"better", "lower"}, {"leading", true}};
  Json named = {{"name", "total_s"}};
  named.update(first);
  EXPECT_EQ(describe(table())[0], named);
  EXPECT_EQ(describe_by_name(table())["total_s"], first);
  EXPECT_EQ(describe_by_name(table())["mops"], (Json{{"unit", "Mop/s"}, {"better", "higher"}, {"leading", false}}));
  EXPECT_EQ(describe_by_name(table())["norm"]["better"], "neither");
  EXPECT_EQ(describe_by_name(table()).size(), table().size());
}

TEST(Quantities, OfTwoTablesTheFirstLeads) {
  const auto both = joined(table(), {leading(seconds("unit_s")), seconds("total_s")});
  EXPECT_THAT(names_of(both), ElementsAre("total_s", "switches", "mops", "norm", "unit_s"));
  EXPECT_TRUE(both.front().leading);
  EXPECT_FALSE(both.back().leading);
}

TEST(AddValues, KeepsFewAndCondensesMany) {
  constexpr std::size_t too_many = 20'001;
  Json line;
  add_values(line, table(), "total_s", {0.5, 0.25});
  add_values(line, table(), "switches", std::vector<double>(too_many, 1.0));
  EXPECT_EQ(line["samples"]["total_s"], (Json{0.5, 0.25}));
  EXPECT_EQ(line["histograms"]["switches"]["count"], too_many);
}

TEST(AddValues, RefusesWhatIsNotDeclared) {
  Json line;
  EXPECT_THAT([&] { add_values(line, table(), "total_ms", {1.0}); },
              ThrowsMessage<std::logic_error>(HasSubstr("total_ms is not among the quantities")));
  EXPECT_TRUE(line.is_null());
}

std::vector<double> numbers(const Json& list) { return list.get<std::vector<double>>(); }

TEST(LogHistogram, KeepsExactCountExtremesMeanAndQuantiles) {
  std::vector<double> samples(101);
  std::iota(samples.rbegin(), samples.rend(), 1.0);  // 101 ... 1: the order must not matter
  const Json histogram = log_histogram(samples);
  EXPECT_EQ(histogram["count"], 101);
  EXPECT_EQ(histogram["min"], 1.0);
  EXPECT_EQ(histogram["max"], 101.0);
  EXPECT_EQ(histogram["mean"], 51.0);
  EXPECT_EQ(histogram["quantiles"]["0.5"], 51.0);
  EXPECT_EQ(histogram["quantiles"]["0.25"], 26.0);
  EXPECT_EQ(histogram["quantiles"]["0.99"], 100.0);
}

TEST(LogHistogram, EverySampleIsInTheBinOfItsEdges) {
  std::vector<double> samples{1e-6, 1.05e-6, 2e-6, 1e-3, 1e-3, 1.0};
  const Json histogram = log_histogram(samples);
  const auto edges = numbers(histogram["edges"]);
  const auto counts = numbers(histogram["counts"]);
  ASSERT_EQ(edges.size(), counts.size() + 1);
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const auto inside = std::count_if(samples.begin(), samples.end(),
                                      [&](double sample) { return sample >= edges[bin] && sample < edges[bin + 1]; });
    EXPECT_EQ(counts[bin], static_cast<double>(inside)) << edges[bin];
  }
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 6.0);
}

TEST(LogHistogram, EdgesOfTwoHistogramsFallTogether) {
  std::vector<double> first{1e-6, 5e-6};
  std::vector<double> second{2e-6, 9e-6};
  const auto edges = numbers(log_histogram(first)["edges"]);
  const auto others = numbers(log_histogram(second)["edges"]);
  EXPECT_NE(std::ranges::find(edges, others.front()), edges.end());
}

TEST(LogHistogram, CountsZeros) {
  std::vector<double> mixed{0, 0, 1e-6};
  const Json histogram = log_histogram(mixed);
  EXPECT_EQ(histogram["edges"].front(), 0.0);
  EXPECT_EQ(histogram["counts"].front(), 2);
  std::vector<double> zeros{0, 0};
  EXPECT_EQ(log_histogram(zeros)["counts"], (Json{2}));
}

TEST(LogHistogram, OneSample) {
  std::vector<double> one{3e-5};
  const Json histogram = log_histogram(one);
  EXPECT_EQ(histogram["quantiles"]["0.999"], 3e-5);
  EXPECT_EQ(histogram["counts"], (Json{1}));
}

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class RecordFileTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  fs::path path_ = fs::temp_directory_path() / ("record-" + std::to_string(getpid()) + ".jsonl");
};

TEST_F(RecordFileTest, LinesAreThereAsSoonAsWritten) {
  RecordFile file(path_);
  file.write({{"z", 1}, {"a", {0.1, 1e-9}}});
  EXPECT_EQ(contents(path_), "{\"z\":1,\"a\":[0.1,1e-09]}\n");
  file.write({{"b", 2}});
  EXPECT_EQ(contents(path_), "{\"z\":1,\"a\":[0.1,1e-09]}\n{\"b\":2}\n");
}

TEST_F(RecordFileTest, NumbersSurvive) {
  const double value = 0.00042605399999999997;
  RecordFile(path_.string()).write(Json{{"x", value}});
  EXPECT_EQ(Json::parse(contents(path_))["x"].get<double>(), value);
}

TEST_F(RecordFileTest, TextThatIsNotUtf8IsReplaced) {
  RecordFile(path_.string()).write(Json{{"argument", "a\xff"}});
  EXPECT_EQ(Json::parse(contents(path_))["argument"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace workloads
