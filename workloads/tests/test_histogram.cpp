// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/histogram.h"

namespace workloads {
namespace {

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

}  // namespace
}  // namespace workloads
