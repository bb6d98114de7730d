// SPDX-License-Identifier: BSD-3-Clause
// The transforms' messages are those of the real workload's geometry, and their times what can be worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "line.h"
#include "overlap_point.h"
#include "pencil_fft/problem.h"
#include "run.h"

namespace simulated::testing {
namespace {

namespace fft = workloads::pencil_fft;

constexpr Seconds operation = 1e-6;
constexpr Seconds byte = 1e-7;
constexpr Seconds tolerance = 1e-9;

Json cube(int edge, const std::string& mode, int fields = 3) {
  return {{"nx", edge}, {"ny", edge}, {"nz", edge}, {"fields", fields}, {"mode", mode}, {"chunks", 2}};
}

Model with_rates() {
  Model model = free_model();
  model.computation.fft_operation = operation;
  model.computation.copied_byte = byte;
  return model;
}

Stages stages(const Json& point, int rank, int ranks) {
  const fft::Pencils pencils(fft::field_of(point), fft::grid_of(point, ranks), rank);
  return stages_of(fft::Route(pencils, fft::cut_of(point)), rank, {.operation = operation, .byte = byte});
}

Seconds work_of(const Stages& stages) {
  Seconds work = 0;
  for (const auto& steps : stages.steps) {
    for (const auto& step : steps) {
      work += step.work;
    }
  }
  return work;
}

/// What each rank measured at the point.
std::vector<std::map<std::string_view, double>> measure(Job& job, const Json& point) {
  std::vector<Measured> measured(job.ranks.size());
  const bool ended = job.run([&](Rank& rank) {
    return fourier_transform.run(rank, job.fence, point, measured[static_cast<std::size_t>(rank.number())]);
  });
  EXPECT_TRUE(ended);
  std::vector<std::map<std::string_view, double>> values;
  values.reserve(measured.size());
  for (const auto& one : measured) {
    values.emplace_back(one.values.begin(), one.values.end());
  }
  return values;
}

double elapsed(const Model& model, const std::string& variant, const Json& point, int ranks = 4) {
  Job job(model, variant, ranks, {{"timer_us", "1000"}});
  return measure(job, point).front().at("elapsed_s");
}

TEST(PencilFft, WhatOneRankSendsAnotherReceives) {
  for (const int ranks : {2, 4, 6, 12}) {
    for (const char* mode : {"blocking", "chunked"}) {
      std::vector<Stages> all;
      all.reserve(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) {
        all.push_back(stages(cube(13, mode), rank, ranks));
      }
      for (int rank = 0; rank < ranks; ++rank) {
        const auto& exchanges = all[static_cast<std::size_t>(rank)].exchanges;
        for (std::size_t number = 0; number < exchanges.size(); ++number) {
          for (std::size_t place = 0; place < exchanges[number].ranks.size(); ++place) {
            const auto& other = all[static_cast<std::size_t>(exchanges[number].ranks[place])].exchanges[number];
            EXPECT_EQ(exchanges[number].out[place], other.in[static_cast<std::size_t>(exchanges[number].place)]);
          }
        }
      }
    }
  }
}

TEST(PencilFft, TheWireCarriesWhatTheGeometrySays) {
  const Json point = cube(12, "pipelined");
  Job job(with_rates(), "bare", 6);  // rows of 2, columns of 3
  measure(job, point);
  constexpr Bytes field = Bytes{12} * 12 * 12 * 16;
  // there and back: all but a half within rows, all but a third within columns; requests and answers carry nothing
  EXPECT_EQ(job.line.carried(), 6 * (field / 2 + field * 2 / 3));
}

TEST(PencilFft, ARanksOperationsAreItsShareOfThePoints) {
  for (const int ranks : {1, 2, 4}) {
    const Json point = cube(16, "blocking", 1);
    const fft::Pencils pencils(fft::field_of(point), fft::grid_of(point, ranks), 0);
    const auto one = stages_of(fft::Route(pencils, fft::cut_of(point)), 0, {.operation = operation, .byte = 0});
    EXPECT_NEAR(work_of(one), fft::operations_of(point) * operation / ranks, tolerance) << ranks;
  }
}

TEST(PencilFft, CopiesAreWhatIsPackedAndWhatStays) {
  const Json point = cube(16, "blocking", 1);
  const fft::Pencils pencils(fft::field_of(point), fft::grid_of(point, 2), 0);
  const auto one = stages_of(fft::Route(pencils, fft::cut_of(point)), 0, {.operation = 0, .byte = byte});
  constexpr double half = 16 * 16 * 16 * 16 / 2.0;  // bytes
  EXPECT_NEAR(work_of(one), 2 * (half + half / 2) * byte, tolerance);
}

TEST(PencilFft, BlockingTakesTheSumOfItsParts) {
  const Json point = cube(16, "blocking");
  Job job(with_rates(), "bare", 2);
  const auto values = measure(job, point).front();
  const Seconds computed = 3 * work_of(stages(point, 0, 2));
  constexpr double message = 16 * 16 * 16 * 16 / 4.0;
  const Seconds transpose = (3 * wire_latency) + (message / bytes_per_second);
  EXPECT_NEAR(values.at("comp_s"), computed, tolerance);
  EXPECT_NEAR(values.at("comm_s"), 3 * 2 * transpose, tolerance);
  EXPECT_NEAR(values.at("elapsed_s"), computed + (3 * 2 * transpose), tolerance);
  EXPECT_NEAR(values.at("mops"), fft::operations_of(point) / values.at("elapsed_s") / 1e6, tolerance);
}

TEST(PencilFft, WithSomebodyWhoPollsAPipelineHides) {
  const Json pipelined = cube(32, "pipelined", 8);
  const Json blocking = cube(32, "blocking", 8);
  const double without = elapsed(with_rates(), "bare", blocking);
  const double with = elapsed(with_rates(), "timer", pipelined);
  EXPECT_LT(with, 0.9 * without);
  EXPECT_GT(with, 8 * work_of(stages(pipelined, 0, 4)) - tolerance);
  EXPECT_LT(with, elapsed(with_rates(), "bare", pipelined));
  EXPECT_LT(elapsed(with_rates(), "timer", cube(32, "chunked", 8)), without);
}

}  // namespace
}  // namespace simulated::testing
