// SPDX-License-Identifier: BSD-3-Clause
#include "minife/method.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

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

namespace {

/// Of the matrices of one axis: the integrals of the products of the shape functions' slopes, and of their values.
struct OfAnAxis {
  double stiffness;
  double mass;
};

OfAnAxis of_an_axis(int nodes, int half_waves) {
  const double edge = 1.0 / (nodes - 1);
  const double cosine = std::cos(std::numbers::pi * half_waves * edge);
  return {.stiffness = 2 * (1 - cosine) / edge, .mass = edge * (2 + cosine) / 3};
}

double of_all(const OfAnAxis& a, const OfAnAxis& b, const OfAnAxis& c) {
  return (a.stiffness * b.mass * c.mass) + (a.mass * b.stiffness * c.mass) + (a.mass * b.mass * c.stiffness);
}

/// A sine, and its part of the first residual.
struct Wave {
  OfAnAxis matrices;
  double part;
};

/// The first residual is the same at all nodes across y and z: sines with an even number of half waves have no part.
std::vector<Wave> across(int nodes) {
  std::vector<Wave> waves;
  for (int half_waves = 1; half_waves < nodes - 1; half_waves += 2) {
    const double angle = std::numbers::pi * half_waves / (nodes - 1);
    waves.push_back({.matrices = of_an_axis(nodes, half_waves), .part = 1 / std::tan(angle / 2)});
  }
  return waves;
}

/// Along x it is one layer, beside the face that is 1.
std::vector<Wave> along(int nodes) {
  std::vector<Wave> waves;
  for (int half_waves = 1; half_waves < nodes - 1; ++half_waves) {
    const double angle = std::numbers::pi * half_waves / (nodes - 1);
    waves.push_back({.matrices = of_an_axis(nodes, half_waves), .part = std::sin(angle)});
  }
  return waves;
}

struct Part {
  double eigenvalue;
  double residual;
  double direction;
};

}  // namespace

double eigenvalue(const Triple& nodes, const Triple& half_waves) {
  std::array<OfAnAxis, axes> matrices{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    matrices[axis] = of_an_axis(nodes[axis], half_waves[axis]);
  }
  return of_all(matrices[0], matrices[1], matrices[2]);
}

int iterations_needed(const Triple& nodes, int most) {
  std::vector<Part> parts;
  double square = 0;
  for (const Wave& z : across(nodes[0])) {
    for (const Wave& y : across(nodes[1])) {
      for (const Wave& x : along(nodes[2])) {
        const double part = z.part * y.part * x.part;
        parts.push_back(
            {.eigenvalue = of_all(z.matrices, y.matrices, x.matrices), .residual = part, .direction = part});
        square += part * part;
      }
    }
  }
  const double enough = std::pow(relative_residual, 2) * square;
  int iterations = 0;
  while (square > enough && iterations < most) {
    double curvature = 0;
    for (const Part& part : parts) {
      curvature += part.eigenvalue * part.direction * part.direction;
    }
    const double alpha = square / curvature;
    const double before = square;
    square = 0;
    for (Part& part : parts) {
      part.residual -= alpha * part.eigenvalue * part.direction;
      square += part.residual * part.residual;
    }
    for (Part& part : parts) {
      part.direction = part.residual + (square / before * part.direction);
    }
    ++iterations;
  }
  return iterations;
}

}  // namespace workloads::minife
