// SPDX-License-Identifier: BSD-3-Clause
#include "common/fft_plan.h"

#include <fftw3.h>

#include <new>

namespace workloads::fft {
namespace {

fftw_complex* as_fftw(Complex* values) { return reinterpret_cast<fftw_complex*>(values); }

double* as_reals(Complex* values) { return reinterpret_cast<double*>(values); }

int sign_of(Kind kind) { return kind == Kind::forward ? FFTW_FORWARD : FFTW_BACKWARD; }

fftw_plan make(Kind kind, const Batch& batch, Complex* values) {
  const auto& [length, count, stride, distance] = batch;
  switch (kind) {
    case Kind::from_real:
      return fftw_plan_many_dft_r2c(1, &length, count, as_reals(values), nullptr, stride, 2 * distance, as_fftw(values),
                                    nullptr, stride, distance, FFTW_MEASURE);
    case Kind::to_real:
      return fftw_plan_many_dft_c2r(1, &length, count, as_fftw(values), nullptr, stride, distance, as_reals(values),
                                    nullptr, stride, 2 * distance, FFTW_MEASURE);
    case Kind::forward:
    case Kind::backward:
      break;
  }
  return fftw_plan_many_dft(1, &length, count, as_fftw(values), nullptr, stride, distance, as_fftw(values), nullptr,
                            stride, distance, sign_of(kind), FFTW_MEASURE);
}

fftw_plan make(Kind kind, const std::array<int, 3>& points, Complex* values) {
  const auto& [nx, ny, nz] = points;
  switch (kind) {
    case Kind::from_real:
      return fftw_plan_dft_r2c_3d(nz, ny, nx, as_reals(values), as_fftw(values), FFTW_MEASURE);
    case Kind::to_real:
      return fftw_plan_dft_c2r_3d(nz, ny, nx, as_fftw(values), as_reals(values), FFTW_MEASURE);
    case Kind::forward:
    case Kind::backward:
      break;
  }
  return fftw_plan_dft_3d(nz, ny, nx, as_fftw(values), as_fftw(values), sign_of(kind), FFTW_MEASURE);
}

}  // namespace

void Plan::Destroy::operator()(fftw_plan_s* plan) const noexcept { fftw_destroy_plan(plan); }

Plan::Plan(Kind kind, fftw_plan_s* made) : kind_(kind), plan_(made) {
  if (!plan_) {  // FFTW makes a plan for any length and stride while it has memory
    throw std::bad_alloc();
  }
}

Plan::Plan(Kind kind, const Batch& batch, Complex* values) : kind_(kind) {
  if (batch.count > 0) {
    *this = Plan(kind, make(kind, batch, values));
  }
}

Plan::Plan(Kind kind, const std::array<int, 3>& points, Complex* values) : Plan(kind, make(kind, points, values)) {}

void Plan::operator()(Complex* values) const {
  if (!plan_) {
    return;
  }
  switch (kind_) {
    case Kind::from_real:
      fftw_execute_dft_r2c(plan_.get(), as_reals(values), as_fftw(values));
      break;
    case Kind::to_real:
      fftw_execute_dft_c2r(plan_.get(), as_fftw(values), as_reals(values));
      break;
    case Kind::forward:
    case Kind::backward:
      fftw_execute_dft(plan_.get(), as_fftw(values), as_fftw(values));
      break;
  }
}

}  // namespace workloads::fft
