// SPDX-License-Identifier: BSD-3-Clause
#include "minife/method.h"

#include <array>

namespace workloads::minife {
namespace {

constexpr int iterations_between_replacements = 50;
constexpr std::array square_of_residual{Names{Name::r, Name::r}};
constexpr std::array curvature{Names{Name::p, Name::q}};
constexpr std::array pipelined_sums{Names{Name::r, Name::r}, Names{Name::w, Name::r}};

}  // namespace

void multiply_by(ProductSteps& steps, bool overlapped) {
  steps.post_receives();
  steps.pack();
  if (overlapped) {
    steps.start_sends();
    steps.multiply_rows(Rows::inner);
  } else {
    steps.send();
  }
  steps.wait();
  steps.unpack();
  steps.multiply_rows(overlapped ? Rows::outer : Rows::all);
}

void Method::begin(SolveSteps& steps) const {
  if (pipelined_) {
    steps.multiply(Name::r, Name::w);
  } else {
    steps.sum(square_of_residual);
  }
}

// Pipelined: P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned conjugate gradient
// algorithm", Parallel Computing 40 (2014): one reduction an iteration, beside the product that does not need it.
void Method::to_the_test(SolveSteps& steps) const {
  if (pipelined_) {
    steps.start_sums(pipelined_sums);
    steps.multiply(Name::w, Name::q);
    steps.finish_sums();
  }
}

void Method::behind_it(SolveSteps& steps) const {
  if (pipelined_) {
    steps.update(Update::pipeline);
    return;
  }
  steps.multiply(Name::p, Name::q);
  steps.sum(curvature);
  steps.update(Update::advance);
  steps.sum(square_of_residual);
  steps.update(Update::turn);
}

bool Method::replaces(int iterations) const noexcept {
  return pipelined_ && iterations % iterations_between_replacements == 0;
}

void Method::replace(SolveSteps& steps) {
  steps.multiply(Name::x, Name::q);
  steps.update(Update::replace);
  steps.multiply(Name::r, Name::w);
  steps.multiply(Name::p, Name::s);
  steps.multiply(Name::s, Name::z);
}

}  // namespace workloads::minife
