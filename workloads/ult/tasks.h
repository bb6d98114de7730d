// SPDX-License-Identifier: BSD-3-Clause
// A number of tasks as a point asks for them: which kind of thread, and how a task's communication waits.
#pragma once

#include <string>
#include <string_view>

#include "ult/messenger.h"
#include "ult/parameters.h"
#include "ult/team.h"

namespace workloads {

class Tasks {
 public:
  /// The point has "threading" and "cores".
  Tasks(std::size_t count, const Json& point, const Parameters& parameters, int partner);

  /// Runs body(0) ... body(count - 1) in their threads; seconds.
  double run(const Body& body) const;
  /// The same always in user-level threads on `workers` kernel threads.
  double run_on_workers(const Body& body) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
  [[nodiscard]] bool in_phases() const noexcept { return threading_ == "phases"; }
  [[nodiscard]] const Messenger& messenger() const noexcept { return messenger_; }
  /// How a task waits: "blocking", "suspending", "test-and-yield".
  [[nodiscard]] std::string_view waits() const;

 private:
  std::size_t count_;
  std::size_t workers_;
  std::string threading_;
  bool suspending_;
  Messenger messenger_;
};

inline constexpr int first_task_tag = 300;  // and the numbers behind it, one a task

}  // namespace workloads
