// SPDX-License-Identifier: BSD-3-Clause
// The solves' messages are those of the real workload's partition, and their times what can be worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "line.h"
#include "overlap_point.h"
#include "run.h"

namespace simulated::testing {
namespace {

using Values = std::map<std::string_view, double>;

constexpr Seconds byte = 1e-7;
constexpr Seconds tolerance = 1e-9;
constexpr double of_a_row = (27 * 12) + (2 * 8) + (12 * 8);  // bytes an iteration, in mode blocking

/// Of so many nodes along each axis.
Json cube(int nodes, const std::string& mode, int iterations = 5) {
  return {{"nx", nodes - 1}, {"ny", nodes - 1}, {"nz", nodes - 1}, {"iterations", iterations}, {"mode", mode}};
}

Model with_rate() {
  Model model = free_model();
  model.computation.streamed_byte = byte;
  return model;
}

Seconds work_of(const SolveSteps& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](Seconds sum, const SolveStep& step) { return sum + step.work; });
}

/// What each rank measured at the point.
std::vector<Values> measure(Job& job, const Json& point) {
  std::vector<Measured> measured(job.ranks.size());
  EXPECT_TRUE(job.run([&](Rank& rank) {
    return conjugate_gradients.run(rank, job.fence, point, measured[static_cast<std::size_t>(rank.number())]);
  }));
  std::vector<Values> values;
  values.reserve(measured.size());
  for (const auto& one : measured) {
    values.emplace_back(one.values.begin(), one.values.end());
  }
  return values;
}

Values first_of(const Model& model, const std::string& variant, const Json& point, int ranks) {
  Job job(model, variant, ranks, {{"timer_us", "100"}});
  return measure(job, point).front();
}

TEST(MiniFe, WhatOneRankSendsAnotherReceives) {
  for (const int ranks : {2, 3, 5, 8, 12}) {
    std::vector<Solve> all;
    all.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(solve_of(cube(9, "blocking"), rank, ranks, byte));
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& neighbours = all[static_cast<std::size_t>(rank)].neighbours;
      EXPECT_FALSE(neighbours.empty());
      for (const auto& neighbour : neighbours) {
        const auto& theirs = all[static_cast<std::size_t>(neighbour.rank)].neighbours;
        const auto back = std::ranges::find(theirs, rank, &Neighbour::rank);
        ASSERT_NE(back, theirs.end());
        EXPECT_EQ(neighbour.out, back->in);
      }
    }
  }
}

TEST(MiniFe, AnIterationStreamsTheMatrixAndItsVectors) {
  const auto alone = solve_of(cube(9, "blocking"), 0, 1, byte);
  EXPECT_TRUE(alone.neighbours.empty());
  EXPECT_NEAR(work_of(alone.behind_it), 9 * 9 * 9 * of_a_row * byte, tolerance);
  // The halves have the same, and copy the nodes between them into a message and out of one.
  const auto half = solve_of(cube(8, "blocking"), 0, 2, byte);
  EXPECT_NEAR(work_of(half.behind_it), ((4 * 8 * 8 * of_a_row) + (2 * 2 * 8 * 8 * 8)) * byte, tolerance);
}

TEST(MiniFe, OverlapComputesTheSameInAnotherOrder) {
  const auto blocking = solve_of(cube(9, "blocking"), 5, 8, byte);
  const auto overlapped = solve_of(cube(9, "overlapped"), 5, 8, byte);
  EXPECT_NEAR(work_of(blocking.behind_it), work_of(overlapped.behind_it), tolerance);
  const auto between = [](const Solve& solve, SolveStep::Kind sends) {
    const auto start = std::ranges::find(solve.behind_it, sends, &SolveStep::kind);
    return work_of({start, std::find_if(start, solve.behind_it.end(),
                                        [](const SolveStep& step) { return step.kind == SolveStep::Kind::wait; })});
  };
  EXPECT_EQ(between(blocking, SolveStep::Kind::send), 0);
  // Of the 5 x 4 x 5 nodes beyond 4 along each axis those that touch no other rank's: 4 x 3 x 4.
  EXPECT_NEAR(between(overlapped, SolveStep::Kind::start_sends), 4 * 3 * 4 * 340 * byte, tolerance);
}

TEST(MiniFe, BlockingTakesTheSumOfItsParts) {
  constexpr int iterations = 5;
  const auto values = first_of(with_rate(), "bare", cube(8, "blocking", iterations), 2);
  const auto solve = solve_of(cube(8, "blocking"), 0, 2, byte);
  const Seconds computed = work_of(solve.begin) + (iterations * work_of(solve.behind_it));
  const Seconds halo = wire_latency + (8 * 8 * 8 / bytes_per_second);
  const Seconds sum = wire_latency + (8 / bytes_per_second);
  EXPECT_NEAR(values.at("comp_s"), computed, tolerance);
  EXPECT_NEAR(values.at("send_s") + values.at("wait_s"), iterations * halo, tolerance);
  EXPECT_NEAR(values.at("allreduce_s"), ((2 * iterations) + 1) * sum, tolerance);
  EXPECT_NEAR(values.at("elapsed_s"), values.at("comp_s") + values.at("comm_s"), tolerance);
  EXPECT_EQ(values.at("iterations"), iterations);
}

TEST(MiniFe, ABarrierTakesTheWaitForWhoComesLate) {
  Json point = cube(9, "blocking");  // four planes of nodes and five
  const auto without = first_of(with_rate(), "bare", point, 2);
  point["barrier"] = true;
  const auto with = first_of(with_rate(), "bare", point, 2);
  EXPECT_LE(with.at("allreduce_s"), (11 * (wire_latency + (8 / bytes_per_second))) + tolerance);
  EXPECT_GT(without.at("allreduce_s"), 2 * with.at("allreduce_s"));
  EXPECT_GT(with.at("barrier_s"), with.at("allreduce_s"));
}

TEST(MiniFe, EndsWhenTheResidualIsSmall) {
  EXPECT_EQ(first_of(with_rate(), "bare", cube(5, "blocking", 200), 2).at("iterations"),
            first_of(with_rate(), "bare", cube(5, "pipelined", 200), 4).at("iterations"));
  EXPECT_LT(first_of(with_rate(), "bare", cube(5, "blocking", 200), 2).at("iterations"), 20);
}

TEST(MiniFe, ThePipelinedMethodMakesAProductMoreAndReplacesWhatItFollows) {
  const auto messages = [](const std::string& mode, int iterations) {
    Job job(with_rate(), "bare", 2);
    Json point = cube(33, mode, iterations);
    point["nx"] = point["ny"] = 2;  // long, so that it takes many iterations
    measure(job, point);
    return job.line.carried();
  };
  constexpr Bytes halo = Bytes{2} * 9 * 8;  // of both ranks
  constexpr Bytes one = Bytes{2} * 8;
  EXPECT_EQ(messages("blocking", 10), (10 * halo) + (21 * one));
  EXPECT_EQ(messages("pipelined", 10), (12 * halo) + (22 * one));
}

TEST(MiniFe, WithSomebodyWhoPollsAHaloHides) {
  const Json overlapped = cube(24, "overlapped");  // 4,608 bytes, which are asked for
  const double without = first_of(with_rate(), "bare", overlapped, 2).at("elapsed_s");
  const double with = first_of(with_rate(), "timer", overlapped, 2).at("elapsed_s");
  const double message = 24 * 24 * 8 / bytes_per_second;
  EXPECT_LT(with, without - (5 * 0.8 * message));
  EXPECT_GT(first_of(with_rate(), "timer", cube(24, "blocking"), 2).at("elapsed_s"), with + (5 * 0.8 * message));
}

TEST(MiniFe, ASlowerComputationIsSlower) {
  Model twice = with_rate();
  twice.computation.slow_down(2);
  const Json point = cube(8, "blocking");
  const auto once = first_of(with_rate(), "bare", point, 2);
  EXPECT_NEAR(first_of(twice, "bare", point, 2).at("elapsed_s"), once.at("elapsed_s") + once.at("comp_s"), tolerance);
}

}  // namespace
}  // namespace simulated::testing
