// SPDX-License-Identifier: BSD-3-Clause
// How many operations of a kind a core does at most, on every rank at the same time.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "common/clock.h"
#include "roofline/benchmarks.h"
#include "roofline/kernels.h"

namespace workloads::peak {
namespace {

Choices names_of_operations() {
  Choices names;
  for (const auto& operation : roofline::operations()) {
    names.emplace_back(operation.name);
  }
  return names;
}

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "operation",
          .domain = names_of_operations(),
          .unit = "",
          .meaning = "what is done: multiply and add, divide, square root, multiply 64-bit integers",
          .default_value = "fma-single",
      },
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      {.name = "operations_per_s", .unit = "1/s", .better = Better::higher, .leading = true},
      {.name = "flops_per_s", .unit = "FLOP/s", .better = Better::higher},
  };
  return table;
}

class Peak final : public Experiment {
 public:
  explicit Peak(const Preparation& preparation)
      : operation_(*std::ranges::find(roofline::operations(), choice_of(preparation.point, parameters(), "operation"),
                                      &roofline::Operation::name)) {}

  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto names = names_of(quantity_table());
    return names;
  }

  std::string repeat(std::span<double> values) override {
    constexpr std::uint64_t rounds = 500'000;
    require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    const auto begin = Clock::now();
    const double result = operation_.run(rounds);
    const double rate = static_cast<double>(rounds * operation_.a_round) / seconds_since(begin);
    values[0] = rate;
    values[1] = rate * operation_.flops;
    return std::isfinite(result) ? std::string() : "the operations gave no number";
  }

 private:
  const roofline::Operation& operation_;
};

void check(const Json& /*point*/, int /*ranks*/) {}

std::unique_ptr<Experiment> prepare(const Preparation& preparation) { return std::make_unique<Peak>(preparation); }

}  // namespace
}  // namespace workloads::peak

namespace workloads {

const Benchmark& peak_benchmark() {
  static const Benchmark benchmark{
      .name = "peak",
      .question = "How many operations a second does a core do at most?",
      .parameters = peak::parameters(),
      .quantities = peak::quantity_table(),
      .check = peak::check,
      .prepare = peak::prepare,
  };
  return benchmark;
}

}  // namespace workloads
