// SPDX-License-Identifier: BSD-3-Clause
#include "minighost/stencil.h"

#include <cstddef>

#include "common/vectorised.h"

namespace workloads::minighost {
namespace {

WORKLOADS_VECTORISED void mean_of_7(const double* __restrict in, double* __restrict out, std::ptrdiff_t plane,
                                    std::ptrdiff_t line, std::ptrdiff_t length) {
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    out[k] = (in[k] + in[k - plane] + in[k + plane] + in[k - line] + in[k + line] + in[k - 1] + in[k + 1]) / 7;
  }
}

WORKLOADS_VECTORISED void mean_of_27(const double* __restrict in, double* __restrict out, std::ptrdiff_t plane,
                                     std::ptrdiff_t line, std::ptrdiff_t length) {
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    double sum = 0;
    for (std::ptrdiff_t i = -plane; i <= plane; i += plane) {
      for (std::ptrdiff_t j = -line; j <= line; j += line) {
        const double* row = in + i + j + k;
        sum += row[-1] + row[0] + row[1];
      }
    }
    out[k] = sum / 27;
  }
}

}  // namespace

void apply(Stencil stencil, const Layout& layout, const Box& box, const double* in, double* out) {
  const auto plane = static_cast<std::ptrdiff_t>(layout.stride(0));
  const auto line = static_cast<std::ptrdiff_t>(layout.stride(1));
  for_each_row(layout, box, [&](std::size_t first, std::size_t length) {
    const auto mean = stencil == Stencil::seven ? mean_of_7 : mean_of_27;
    mean(in + first, out + first, plane, line, static_cast<std::ptrdiff_t>(length));
  });
}

}  // namespace workloads::minighost
