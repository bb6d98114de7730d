// SPDX-License-Identifier: BSD-3-Clause
// STREAM's triad on every rank at the same time: read two arrays, write a third, whose lines are read first where a
// store allocates. bytes_per_s counts 3 arrays, as STREAM does; moved_bytes_per_s counts 4.
#include <mpi.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "roofline/benchmarks.h"
#include "roofline/kernels.h"

namespace workloads::triad {
namespace {

constexpr int most_megabytes = 1'000'000;

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "megabytes",
          .domain = IntegerRange{.minimum = 1, .maximum = most_megabytes},
          .unit = "MB",
          .meaning = "of the three arrays together, on each rank",
          .default_value = 240,
      },
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      {.name = "bytes_per_s", .unit = "B/s", .better = Better::higher, .leading = true},
      {.name = "moved_bytes_per_s", .unit = "B/s", .better = Better::higher},
  };
  return table;
}

class Triad final : public Experiment {
 public:
  explicit Triad(const Preparation& preparation)
      : length_(static_cast<std::size_t>(integer_of(preparation.point, parameters(), "megabytes")) * 1'000'000 / 3 /
                sizeof(float)),
        passes_(std::max<std::size_t>(1, least_values / length_)),
        a_(length_, 0.0F),
        b_(length_, 1.0F),
        c_(length_, 2.0F) {}

  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto names = names_of(quantity_table());
    return names;
  }

  std::string repeat(std::span<double> values) override {
    require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    const auto begin = Clock::now();
    for (std::size_t pass = 0; pass < passes_; ++pass) {
      roofline::triad(a_, b_, c_, static_cast<float>(pass + 1));
    }
    const double elapsed_s = seconds_since(begin);
    const auto array = static_cast<double>(length_ * passes_ * sizeof(float));
    values[0] = 3 * array / elapsed_s;
    values[1] = 4 * array / elapsed_s;
    const float right = 1 + (2 * static_cast<float>(passes_));
    const bool good = std::ranges::all_of(a_, [&](float value) { return value == right; });
    return good ? std::string() : "a value of the triad is wrong";
  }

 private:
  static constexpr std::size_t least_values = 20'000'000;  // of a repetition: some ten milliseconds

  std::size_t length_;
  std::size_t passes_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> c_;
};

void check(const Json& /*point*/, int /*ranks*/) {}

std::unique_ptr<Experiment> prepare(const Preparation& preparation) { return std::make_unique<Triad>(preparation); }

}  // namespace
}  // namespace workloads::triad

namespace workloads {

const Benchmark& triad_benchmark() {
  static const Benchmark benchmark{
      .name = "triad",
      .question = "How many bytes a second does memory, or a cache, give to a rank?",
      .parameters = triad::parameters(),
      .quantities = triad::quantity_table(),
      .check = triad::check,
      .prepare = triad::prepare,
  };
  return benchmark;
}

}  // namespace workloads
