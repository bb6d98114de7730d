// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "core/progress.hpp"

namespace progress_engine {
namespace {

class Counting : public NamedProgressFunction {
 public:
  Counting(std::string name, int& polls) : name_(std::move(name)), polls_(polls) {}
  void poll() override { ++polls_; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  int& polls_;
};

class Switching : public testing::Test {
 protected:
  static std::vector<std::unique_ptr<NamedProgressFunction>> two(int& first, int& second) {
    std::vector<std::unique_ptr<NamedProgressFunction>> functions;
    functions.push_back(std::make_unique<Counting>("first", first));
    functions.push_back(std::make_unique<Counting>("second", second));
    return functions;
  }
  int first = 0;
  int second = 0;
  SwitchingProgressFunction progress{two(first, second)};
  static constexpr BurstResult idle{.polls = SwitchingProgressFunction::most_idle_polls / 2};
};

TEST_F(Switching, GoesOnWhenOperationsCompleteAndPollsMoveNothing) {
  progress.after_burst(idle, 0);
  progress.poll();
  EXPECT_EQ(progress.name(), "first");
  progress.after_burst(idle, SwitchingProgressFunction::evidence);
  progress.poll();
  EXPECT_EQ(progress.name(), "second");
  EXPECT_EQ(progress.switches(), 1U);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST_F(Switching, StaysWhileNothingCompletes) {
  for (int i = 0; i < 100; ++i) progress.after_burst(idle, SwitchingProgressFunction::evidence - 1);
  EXPECT_EQ(progress.name(), "first");
}

TEST_F(Switching, StaysWhilePollsMoveSomething) {
  BurstResult productive = idle;
  productive.productive = 1;
  for (std::uint64_t i = 0; i < 100; ++i) progress.after_burst(productive, i * SwitchingProgressFunction::evidence);
  EXPECT_EQ(progress.name(), "first");
}

TEST_F(Switching, StaysAtTheLast) {
  for (std::uint64_t i = 0; i < 100; ++i) progress.after_burst(idle, i * SwitchingProgressFunction::evidence);
  EXPECT_EQ(progress.name(), "second");
  EXPECT_EQ(progress.candidates(), (std::vector<std::string>{"first", "second"}));
}

}  // namespace
}  // namespace progress_engine
