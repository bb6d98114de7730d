// SPDX-License-Identifier: BSD-3-Clause
#include "interference/victim.h"

#include <fmt/format.h>

#include <cmath>

#include "common/clock.h"
#include "common/placement.h"

namespace workloads {

Victim::Victim(const std::string& grid, int cpu)
    : grid_(himeno::grid_of(grid)),
      kernel_(grid_),
      exact_gosa_(himeno::exact_gosa(grid_, 1)),
      thread_([this, cpu] { live(cpu); }) {}

Victim::~Victim() {
  leaving_ = true;
  wake();
  thread_.join();
}

void Victim::start() {
  computing_ = true;
  wake();
}

double Victim::stop() {
  computing_ = false;
  for (unsigned ended = ended_; ended != started_; ended = ended_) ended_.wait(ended);
  return mflops_;
}

void Victim::wake() {
  ++started_;
  started_.notify_all();
}

void Victim::live(int cpu) {
  bind_this_thread({cpu});
  for (unsigned ended = 0;;) {
    started_.wait(ended);
    if (leaving_) return;
    mflops_ = compute();
    ended_ = ++ended;
    ended_.notify_all();
  }
}

/// Until stopped; at least one iteration.
double Victim::compute() {
  kernel_.initialise();
  double first = 0;
  double last = 0;
  double iterations = 0;
  const auto begin = Clock::now();
  do {
    last = kernel_.iterate();
    first = iterations == 0 ? last : first;
    ++iterations;
  } while (computing_.load(std::memory_order_relaxed));
  const double seconds = seconds_since(begin);
  verify(first, last);
  return himeno::flops_a_point * kernel_.points() * iterations / seconds / 1e6;
}

void Victim::verify(double first, double last) {
  constexpr double rounding = 2e-7;  // single precision, against a residual of 1 / (3 imax^2): see himeno/solve.cpp
  const double tolerance = 1e-4 + (rounding * 3 * grid_[0] * grid_[0]);
  if (std::abs(first - exact_gosa_) > tolerance * exact_gosa_ || !(last <= first)) {
    problem_ = fmt::format("Himeno's gosa was {:.6e} and {:.6e} in the end; it begins with {:.6e} and falls", first,
                           last, exact_gosa_);
  }
}

}  // namespace workloads
