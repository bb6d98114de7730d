// SPDX-License-Identifier: BSD-3-Clause
// The duration of a unit of the inflated computation, which amounts of work are made of.
#include <array>

#include "common/unit_of_work.h"
#include "minighost/benchmarks.h"
#include "minighost/inflation.h"

namespace workloads::minighost::calibration {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "calibration",
          .domain = Choices{"unit"},
          .unit = "",
          .meaning = "one unit of the inflated computation",
          .default_value = nullptr,
      },
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{leading(seconds("unit_s"))};
  return table;
}

class UnitOfInflation final : public Experiment {
 public:
  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto names = names_of(quantity_table());
    return names;
  }

  std::string repeat(std::span<double> values) override {
    values.front() = unit_of(work_);
    return {};
  }

 private:
  Inflation work_{default_edge};
};

void check(const Json& /*point*/, int /*ranks*/) {}

std::unique_ptr<Experiment> prepare(const Preparation& /*preparation*/) { return std::make_unique<UnitOfInflation>(); }

}  // namespace
}  // namespace workloads::minighost::calibration

namespace workloads {

const Benchmark& minighost_calibration_benchmark() {
  static const Benchmark benchmark{
      .name = "calibration",
      .question = "How long is a unit of the inflated computation?",
      .parameters = minighost::calibration::parameters(),
      .quantities = minighost::calibration::quantity_table(),
      .check = minighost::calibration::check,
      .prepare = minighost::calibration::prepare,
  };
  return benchmark;
}

}  // namespace workloads
