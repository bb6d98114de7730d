// SPDX-License-Identifier: BSD-3-Clause
// FFTW's plans of transforms in place, not scaled: of many in one dimension, and of one in three.
#pragma once

#include <array>
#include <complex>
#include <memory>

struct fftw_plan_s;

namespace workloads::fft {

using Complex = std::complex<double>;

enum class Kind {
  forward,
  backward,
  from_real,  ///< rows of `length` reals, each with room for length / 2 + 1 complex values, which it becomes
  to_real,    ///< back
};

/// `count` transforms of `length` points `stride` apart, the next one `distance` further; both in complex values.
struct Batch {
  int length;
  int count;
  int stride;
  int distance;
};

/// Not to be made by several threads at once. An empty batch does nothing.
class Plan {
 public:
  /// Measures what is fastest, and overwrites what a batch from `values` on covers.
  Plan(Kind kind, const Batch& batch, Complex* values);
  /// The same for a field of points along x, y, z, along all three axes at once: [z][y][x], a real one's rows with room
  /// for the complex values that they become.
  Plan(Kind kind, const std::array<int, 3>& points, Complex* values);

  /// Transforms the batch or the field from `values` on.
  void operator()(Complex* values) const;

 private:
  struct Destroy {
    void operator()(fftw_plan_s* plan) const noexcept;
  };

  Plan(Kind kind, fftw_plan_s* made);

  Kind kind_;
  std::unique_ptr<fftw_plan_s, Destroy> plan_;
};

}  // namespace workloads::fft
