// SPDX-License-Identifier: BSD-3-Clause
// What the tasks of overlap and waiting do: exchange, compute, exchange, compute, ... exchange, all of it checked.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/fixed_work.h"
#include "microbench/pair.h"
#include "ult/tasks.h"

namespace workloads {

class Exchanges {
 public:
  /// `count` tasks whose messages have `bytes`. std::bad_alloc if there is not enough memory.
  Exchanges(std::size_t count, std::size_t bytes);

  /// Of task `i`, once the messages of `batch` are wanted: different for every task, batch and direction.
  void fill(std::size_t i, std::uint64_t batch, bool from_sender);
  void exchange(std::size_t i, const Messenger& messenger);
  void compute(std::size_t i, std::uint64_t units);
  void check(std::size_t i, std::uint64_t batch, bool from_sender);

  /// The first thing that was wrong since the last call; empty if nothing.
  std::string problem();

 private:
  struct Task {
    Payload out;
    Payload in;
    std::unique_ptr<FixedWork> work;
    std::string problem;
  };
  [[nodiscard]] std::uint64_t seed_of(std::size_t i, std::uint64_t batch, bool from_sender) const;

  std::vector<Task> tasks_;
};

}  // namespace workloads
