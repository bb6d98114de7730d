// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "common/quantities.h"

namespace workloads {
namespace {

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

TEST(Quantities, NamesAreInTheTablesOrder) {
  EXPECT_THAT(names_of(table()), ElementsAre("total_s", "switches", "mops", "norm"));
  EXPECT_THAT(names_of(table(), 2), ElementsAre("total_s", "switches"));
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

}  // namespace
}  // namespace workloads
