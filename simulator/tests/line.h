// SPDX-License-Identifier: BSD-3-Clause
// A world for the tests: a wire for each message, so that every time can be worked out by hand.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "network.h"
#include "rank.h"
#include "run.h"

namespace simulated::testing {

constexpr double bytes_per_second = 1e6;
constexpr Seconds wire_latency = 0.001;

class Line final : public World {
 public:
  [[nodiscard]] Seconds now() const override { return now_; }
  void at(Seconds time, Action action) override { agenda_.add(std::max(time, now_), std::move(action)); }
  void move(int /*from*/, int /*to*/, Bytes bytes, Action left) override {
    carried_ += bytes;
    at(now_ + (static_cast<double>(bytes) / bytes_per_second), std::move(left));
  }
  [[nodiscard]] Seconds latency(int /*from*/, int /*to*/) override { return wire_latency; }
  [[nodiscard]] Bytes carried() const { return carried_; }
  void run() {
    while (!agenda_.empty()) {
      now_ = agenda_.first();
      agenda_.take()();
    }
  }

 private:
  Agenda agenda_;
  Seconds now_ = 0;
  Bytes carried_ = 0;
};

/// An MPI whose every step but what a test sets is free.
inline Model free_model() {
  Model model;
  model.schedules = "mpich";
  model.protocol = {.eager_bytes = 1000, .handshake = true, .zero_copy = true};
  return model;
}

class Job {
 public:
  Job(Model model, const std::string& variant, int ranks, const std::map<std::string, std::string>& settings = {})
      : model_(std::move(model)), fence(line, ranks) {
    for (int number = 0; number < ranks; ++number) {
      this->ranks.push_back(std::make_unique<Rank>(line, model_, this->ranks, number,
                                                   make_wakes(variant_of(variant, settings), model_, number, ranks)));
    }
  }
  /// Runs `program` on every rank; true if all came to their end.
  bool run(const std::function<Task(Rank&)>& program) {
    std::vector<Task> tasks;
    tasks.reserve(ranks.size());
    for (const auto& rank : ranks) {
      tasks.push_back(program(*rank));
    }
    for (auto& task : tasks) {
      task.start();
    }
    line.run();
    return std::ranges::all_of(tasks, &Task::ended);
  }

 private:
  Model model_;

 public:
  Line line;
  std::vector<std::unique_ptr<Rank>> ranks;
  Fence fence;
};

}  // namespace simulated::testing
