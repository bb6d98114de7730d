// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "common/json.h"

namespace workloads {

/// A distribution too long to keep, as `histogram` of the record schema: 20 bins a decade; count, mean, extremes and
/// quantiles are those of the samples themselves. `samples` must not be empty and not be negative; it is reordered.
/// Values of zero are counted in a first bin [0, smallest positive value).
Json log_histogram(std::span<double> samples);

}  // namespace workloads
