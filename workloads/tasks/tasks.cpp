// SPDX-License-Identifier: BSD-3-Clause
// Contention on the queues of ltasks: threads that submit and wait, beside threads that only poll, on the three designs
// of a queue, with a queue for every place of the machine or a single one (Denis, PDP 2015: section IV, figure 1; study
// tasks). The core polls nothing by itself here: it has no thread.
//
// Point: queue, locality (true), submitters, pollers (1), window (ltasks that a submitter has under way, 16), polls (a
// ltask, 4). Samples, one a repetition: task_s (time of an ltask for the thread that submits it, from its submission
// until it is known to be done, a window's ltasks one after the other), submit_s (in the submitting call), cpu_s. The
// slowest submitter's. Threads are bound to the process's CPUs in turn, submitters first.

#include <fmt/format.h>
#include <progress_engine/core.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <latch>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/errors.h"
#include "common/experiment.h"
#include "common/machine.h"
#include "common/noncopyable.h"

namespace workloads {
namespace {

constexpr int most_threads = 1024;
constexpr int most_tasks = 4096;

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("queue", {"submission", "lock", "lock-free"}, "design of the queues"),
      flag_parameter("locality",
                     "a queue for every place of the machine, each thread submits to its own; false: a single queue",
                     true),
      integer_parameter("submitters", {1, most_threads}, "threads",
                        "threads that submit ltasks and poll until they are done"),
      integer_parameter("pollers", {0, most_threads}, "threads", "threads that only poll", 1),
      integer_parameter("window", {1, most_tasks}, "ltasks", "ltasks that a submitter has under way", 16),
      integer_parameter("polls", {1, most_tasks}, "polls", "polls until an ltask is done", 4),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{leading(seconds("task_s")), seconds("submit_s"), seconds("cpu_s")};
  return table;
}

/// An ltask that counts how often it was polled. Two polls at the same time would lose a count.
struct Task {
  pe_ltask ltask{};
  int wanted = 0;
  int polled = 0;

  static int poll(void* argument) {
    auto& task = *static_cast<Task*>(argument);
    return ++task.polled >= task.wanted ? PE_DONE : PE_AGAIN;
  }
};

/// One submitting thread's ltasks. Seconds.
struct Submitter {
  std::vector<Task> tasks;
  double elapsed_s = 0;
  double submit_s = 0;
  bool right = true;

  Submitter(int window, int polls) : tasks(static_cast<std::size_t>(window)) {
    for (Task& task : tasks) {
      task.wanted = polls;
      pe_ltask_init(&task.ltask, Task::poll, &task);
    }
  }

  void run(pe_core* core, int place, int rounds) {
    submit_s = 0;
    const auto begin = Clock::now();
    for (int round = 0; round < rounds; ++round) {
      submit(core, place);
      await(core);
    }
    elapsed_s = seconds_since(begin);
  }

 private:
  void submit(pe_core* core, int place) {
    const auto begin = Clock::now();
    for (Task& task : tasks) {
      task.polled = 0;
      right = pe_core_submit(core, &task.ltask, place) == 0 && right;
    }
    submit_s += seconds_since(begin);
  }

  void await(pe_core* core) {
    for (Task& task : tasks) {
      while (right && pe_ltask_done(&task.ltask) == 0) {
        pe_core_poll(core);
      }
      right = right && task.polled == task.wanted;
    }
  }
};

/// A core without threads of its own.
class Core : NonCopyable {
 public:
  Core(const Json& point, std::size_t tasks) {
    const std::string queue = choice_of(point, parameters(), "queue");
    pe_core_attributes attributes;
    pe_core_attributes_init(&attributes);
    attributes.queue = queue.c_str();
    attributes.locality = flag_of(point, parameters(), "locality") ? 1 : 0;
    attributes.capacity = std::max(attributes.capacity, tasks);
    attributes.idle = "none";
    attributes.timer_us = 0;
    if (pe_core_create(&attributes, &core_) != 0) {
      throw Failure(fmt::format("libprogress_core: {}", pe_core_error()));
    }
  }
  ~Core() { pe_core_destroy(core_); }

  [[nodiscard]] pe_core* get() const noexcept { return core_; }

 private:
  pe_core* core_ = nullptr;
};

class Contention final : public Experiment {
 public:
  explicit Contention(const Preparation& preparation)
      : pollers_(value(preparation, "pollers")),
        window_(value(preparation, "window")),
        core_(preparation.point, static_cast<std::size_t>(value(preparation, "submitters") * window_)),
        cpus_(allowed_cpus()) {
    for (int i = 0; i < value(preparation, "submitters"); ++i) {
      submitters_.emplace_back(window_, value(preparation, "polls"));
    }
  }

  [[nodiscard]] std::string role() const override { return "submitting"; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    const Usage before = read_usage();
    run_threads();
    const auto slowest = std::ranges::max_element(submitters_, {}, &Submitter::elapsed_s);
    const double tasks = static_cast<double>(rounds) * window_;
    values[0] = slowest->elapsed_s / tasks;
    values[1] = slowest->submit_s / tasks;
    values[2] = (read_usage() - before).cpu_s;
    const bool right = std::ranges::all_of(submitters_, &Submitter::right);
    return right ? "" : "an ltask was refused, or polled more or less often than it asked for";
  }

 private:
  static constexpr int rounds = 2000;

  static int value(const Preparation& preparation, std::string_view name) {
    return static_cast<int>(integer_of(preparation.point, parameters(), name));
  }

  /// CPUs in turn, so that a thread stays at the place where its ltasks are.
  void bind(std::size_t index) const { bind_this_thread({cpus_[index % cpus_.size()]}); }

  void run_threads() {
    const std::size_t count = submitters_.size() + static_cast<std::size_t>(pollers_);
    std::latch all_there(static_cast<std::ptrdiff_t>(count));
    std::atomic<bool> stop = false;
    std::vector<std::thread> pollers;
    std::vector<std::thread> submitting;
    pollers.reserve(count);
    submitting.reserve(count);
    for (std::size_t i = 0; i < submitters_.size(); ++i) {
      submitting.emplace_back([&, i] {
        bind(i);
        all_there.arrive_and_wait();
        submitters_[i].run(core_.get(), pe_core_here(core_.get()), rounds);
      });
    }
    for (std::size_t i = submitters_.size(); i < count; ++i) {
      pollers.emplace_back([&, i] {
        bind(i);
        all_there.arrive_and_wait();
        while (!stop.load(std::memory_order_relaxed)) {
          pe_core_poll(core_.get());
        }
      });
    }
    std::ranges::for_each(submitting, &std::thread::join);
    stop = true;
    std::ranges::for_each(pollers, &std::thread::join);
  }

  int pollers_;
  int window_;
  std::deque<Submitter> submitters_;  // a deque: their ltasks stay where they are
  Core core_;
  std::vector<int> cpus_;
};

void check(const Json& /*point*/, int ranks) {
  if (ranks != 1) {
    throw UsageError(fmt::format("tasks measures threads of one process, and there are {} ranks: start 1", ranks));
  }
}

const Benchmark& contention_benchmark() {
  static const Benchmark benchmark{
      .name = "contention",
      .question = "What does an ltask cost while several threads submit and poll?",
      .parameters = parameters(),
      .quantities = quantity_table(),
      .check = check,
      .prepare = make_experiment<Contention>,
  };
  return benchmark;
}

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "tasks",
          .purpose = "pioman's task queues under load, without communication.",
          .example = "Example: mpiexec -n 1 tasks contention --point queue=submission,submitters=2,pollers=1",
          .benchmarks = {&workloads::contention_benchmark()},
      },
      argc, argv);
}
