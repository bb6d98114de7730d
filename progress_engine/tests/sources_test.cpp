// SPDX-License-Identifier: BSD-3-Clause
#include "policy/sources.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace progress_engine {
namespace {

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(name_) << text; }
  ~File() { std::remove(name_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_ =
      testing::TempDir() + "progress_engine_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".conf";
};

std::string complaint(const std::string& text) {
  const File file(text);
  try {
    read_configuration(file.name());
  } catch (const SettingError& error) {
    return error.what();
  }
  return "";
}

TEST(Configuration, HoldsKeysValuesAndComments) {
  const File file("# all of it\n\n variant = timer\ntimer_us=70 # short\n  report_file = /a/b c.json\t\n");
  const auto source = read_configuration(file.name());
  EXPECT_EQ(source.variant, "timer");
  EXPECT_EQ(source.values, (Values{{"timer_us", "70"}, {"report_file", "/a/b c.json"}}));
}

TEST(Configuration, SaysWhereSomethingIsWrong) {
  EXPECT_NE(complaint("timer_us = 70\ntimer_us = soon\n").find(", line 2: "), std::string::npos);
  EXPECT_NE(complaint("timr_us = 70\n").find("unknown setting 'timr_us'"), std::string::npos);
  EXPECT_NE(complaint("timer_us 70\n").find("must be KEY = VALUE"), std::string::npos);
  EXPECT_THROW(read_configuration("/no/such/file"), SettingError);
}

TEST(Sources, LaterOnesWinAndAreNamed) {
  const File file("variant = timer\ntimer_us = 70\nburst = 7\nidle_us = 5\n");
  std::string named = "PROGRESS_ENGINE_CONFIG=" + file.name();
  std::string burst = "PROGRESS_ENGINE_BURST=8";
  std::string period = "PROGRESS_ENGINE_IDLE_US=6";
  std::array<char*, 4> environment{named.data(), burst.data(), period.data(), nullptr};
  auto sources = sources_of_process(environment.data());
  sources.push_back({"the command line", {{"idle_us", "7"}}, ""});
  const auto resolved = resolve(sources);
  EXPECT_EQ(resolved.variant, "timer");
  const auto expect = [&](const char* key, const char* value, const std::string& origin) {
    EXPECT_EQ(resolved.values.at(key), value);
    EXPECT_EQ(resolved.origins.at(key), origin);
  };
  expect("timer_us", "70", file.name());
  expect("burst", "8", "the environment");
  expect("idle_us", "7", "the command line");
  expect("points", "timer", "variant timer");
  expect("rest_us", "10000", "default");
}

TEST(Sources, TheVariantOfALaterOneWins) {
  EXPECT_EQ(resolve({}).variant, "adaptive");
  EXPECT_EQ(resolve({{"a", {}, "timer"}, {"b", {}, ""}}).variant, "timer");
  EXPECT_EQ(resolve({{"a", {}, "timer"}, {"b", {}, "idle"}}).variant, "idle");
  EXPECT_THROW(resolve({{"a", {}, "nope"}}), SettingError);
}

}  // namespace
}  // namespace progress_engine
