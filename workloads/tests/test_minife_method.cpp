// SPDX-License-Identifier: BSD-3-Clause
// The method's steps carried out on one rank without MPI, and when it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "minife/matrix.h"
#include "minife/method.h"
#include "minife/spectrum.h"

namespace workloads::minife {
namespace {

constexpr double tolerance = 1e-13;

Box whole(const Triple& nodes) { return {.begin = {}, .end = nodes}; }

template <class Action>
void for_each_inside(const Triple& nodes, Action action) {
  for (int z = 1; z < nodes[0] - 1; ++z) {
    for (int y = 1; y < nodes[1] - 1; ++y) {
      for (int x = 1; x < nodes[2] - 1; ++x) {
        action(z, y, x);
      }
    }
  }
}

/// The method on one rank without MPI, until the residual is small: what is summed is there at once.
class Alone final : public SolveSteps {
 public:
  Alone(const Triple& nodes, bool pipelined) : matrix_(nodes, whole(nodes)), method_(pipelined) {
    for (auto& vector : vectors_) {
      vector.resize(matrix_.layout().points());
    }
    of(Name::x) = matrix_.surface();
    combine(Name::r, 1, matrix_.right_hand_side(), -1, of(Name::x));
    if (!pipelined) {
      of(Name::p) = of(Name::r);
    }
  }

  /// How many iterations it takes.
  int solve(int most) {
    method_.begin(*this);
    method_.to_the_test(*this);
    const double first = gamma_ = sums_[0];
    while (std::sqrt(sums_[0]) > relative_residual * std::sqrt(first) && iterations_ < most) {
      method_.behind_it(*this);
      ++iterations_;
      if (method_.replaces(iterations_)) {
        Method::replace(*this);
        ++replacements;
      }
      method_.to_the_test(*this);
    }
    return iterations_;
  }

  /// The largest of b - A x.
  double error() {
    multiply(Name::x, Name::q);
    double largest = 0;
    for (std::size_t i = 0; i < of(Name::q).size(); ++i) {
      largest = std::max(largest, std::abs(matrix_.right_hand_side()[i] - of(Name::q)[i]));
    }
    return largest;
  }

  int replacements = 0;

 private:
  using Vector = std::vector<double>;
  Vector& of(Name name) { return vectors_[static_cast<std::size_t>(name)]; }
  void combine(Name out, double a, const Vector& first, double b, const Vector& second) {
    for (std::size_t i = 0; i < of(out).size(); ++i) {
      of(out)[i] = (a * first[i]) + (b * second[i]);
    }
  }
  void add(Name out, double factor, Name more) { combine(out, 1, Vector(of(out)), factor, of(more)); }

  void multiply(Name in, Name out) override {
    matrix_.multiply(matrix_.layout().inside(0), of(in).data(), of(out).data());
  }
  void sum(std::span<const Names> pairs) override {
    std::size_t place = 0;
    for (const auto& [a, b] : pairs) {
      sums_.at(place++) = std::inner_product(of(a).begin(), of(a).end(), of(b).begin(), 0.0);
    }
  }
  void start_sums(std::span<const Names> pairs) override { sum(pairs); }
  void finish_sums() override {}
  void update(Update what) override {
    if (what == Update::advance) {
      const double alpha = gamma_ / sums_[0];
      add(Name::x, alpha, Name::p);
      add(Name::r, -alpha, Name::q);
    } else if (what == Update::turn) {
      combine(Name::p, 1, of(Name::r), sums_[0] / gamma_, Vector(of(Name::p)));
      gamma_ = sums_[0];
    } else if (what == Update::replace) {
      combine(Name::r, 1, matrix_.right_hand_side(), -1, of(Name::q));
    } else {
      const double beta = iterations_ == 0 ? 0 : sums_[0] / gamma_;
      alpha_ = sums_[0] / (iterations_ == 0 ? sums_[1] : sums_[1] - (beta * sums_[0] / alpha_));
      gamma_ = sums_[0];
      combine(Name::z, 1, of(Name::q), beta, Vector(of(Name::z)));
      combine(Name::s, 1, of(Name::w), beta, Vector(of(Name::s)));
      combine(Name::p, 1, of(Name::r), beta, Vector(of(Name::p)));
      add(Name::x, alpha_, Name::p);
      add(Name::r, -alpha_, Name::s);
      add(Name::w, -alpha_, Name::z);
    }
  }

  Matrix matrix_;
  Method method_;
  std::array<Vector, 7> vectors_;
  std::array<double, 2> sums_{};
  double gamma_ = 0;
  double alpha_ = 0;
  int iterations_ = 0;
};

TEST(Method, SolvesInBothOfItsForms) {
  for (const bool pipelined : {false, true}) {
    Alone alone({13, 12, 14}, pipelined);
    EXPECT_GT(alone.solve(1000), 10);
    EXPECT_LT(alone.error(), 1e-9);
  }
}

TEST(Method, ReplacesWhatOnlyThePipelinedFormFollows) {
  const Triple long_box{4, 4, 90};
  Alone plain(long_box, false);
  Alone pipelined(long_box, true);
  EXPECT_EQ(plain.solve(120), pipelined.solve(120));
  EXPECT_EQ(plain.replacements, 0);
  EXPECT_GT(pipelined.replacements, 0);
}

TEST(Spectrum, IsThatOfTheMatrix) {
  const Triple nodes{5, 6, 7};
  const Triple half_waves{2, 1, 4};
  const Matrix matrix(nodes, whole(nodes));
  std::vector<double> in(matrix.layout().points());
  std::vector<double> out(in.size());
  const auto value = [&](std::size_t axis, int node) {
    return std::sin(std::numbers::pi * half_waves[axis] * node / (nodes[axis] - 1));
  };
  for_each_inside(nodes, [&](int z, int y, int x) {
    in[matrix.layout().index(z + 1, y + 1, x + 1)] = value(0, z) * value(1, y) * value(2, x);
  });
  matrix.multiply(matrix.layout().inside(1), in.data(), out.data());
  for_each_inside(nodes, [&](int z, int y, int x) {
    const auto place = matrix.layout().index(z + 1, y + 1, x + 1);
    EXPECT_NEAR(out[place], eigenvalue(nodes, half_waves) * in[place], tolerance);
  });
}

TEST(Spectrum, KnowsWhenASolveEnds) {
  for (const Triple nodes :
       {Triple{3, 3, 3}, Triple{5, 7, 6}, Triple{13, 12, 14}, Triple{21, 21, 21}, Triple{9, 7, 33}}) {
    EXPECT_EQ(iterations_needed(nodes, 1000), Alone(nodes, false).solve(1000)) << nodes[0] << ' ' << nodes[2];
  }
  EXPECT_EQ(iterations_needed({33, 33, 33}, 200), 71) << "as the program's own records say";
  EXPECT_EQ(iterations_needed({33, 33, 33}, 30), 30);
}

}  // namespace
}  // namespace workloads::minife
