// SPDX-License-Identifier: BSD-3-Clause
// What the kernels that communicate have in common: their parameters, what they refuse, what a repetition measures.
#pragma once

#include <string>

#include "common/experiment.h"
#include "npb/phases.h"

namespace workloads::npb {

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
  /// What is wrong with the result, by the specification; empty if nothing. The same on all ranks or seen by some only.
  virtual std::string verify() = 0;
  /// As the benchmark counts them for its Mop/s, of all ranks.
  [[nodiscard]] virtual double operations() const = 0;
};

/// "class", S to D, whose sizes `meaning` tells, and "mode".
Parameters kernel_parameters(const std::string& meaning);
bool is_overlapped(const Json& point);
std::string class_of(const Json& point);

/// The class of this point in a kernel's table.
template <class Table>
const auto& find_class(const Table& table, const Json& point) {
  const auto name = class_of(point);
  auto entry = table.begin();
  while (entry->name != name) {
    ++entry;
  }
  return *entry;
}

/// UsageError unless `ranks` is a power of two from `least` to `most`.
void require_ranks(const Json& point, int ranks, int least, int most);

/// Each repetition runs `kernel` once from its start and verifies it.
std::unique_ptr<Experiment> experiment_of(const Preparation& preparation, std::unique_ptr<Kernel> kernel);

}  // namespace workloads::npb
