// SPDX-License-Identifier: BSD-3-Clause
// What is run as a whole, counts its operations and verifies its result: the kernels of the applications.
#pragma once

#include <memory>
#include <string>

#include "common/experiment.h"
#include "common/phases.h"

namespace workloads {

/// A kernel on this rank, run again and again. All functions that are not const are collective.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Kernel(Kernel&&) = delete;
  Kernel& operator=(Kernel&&) = delete;
  virtual ~Kernel() = default;

  /// Everything as it is before the benchmark's clock starts.
  virtual void restart() = 0;
  /// What the benchmark times.
  virtual void run(Phases& phases) = 0;
  /// What is wrong with the result; empty if nothing. The same on all ranks or seen by some only.
  virtual std::string verify() = 0;
  /// As the benchmark counts them for its Mop/s, of all ranks.
  [[nodiscard]] virtual double operations() const = 0;
};

/// What a repetition of a kernel records.
const Quantities& kernel_quantities();

/// Each repetition runs `kernel` once from its start and verifies it.
std::unique_ptr<Experiment> experiment_of(const Preparation& preparation, std::unique_ptr<Kernel> kernel);

}  // namespace workloads
