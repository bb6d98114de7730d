// SPDX-License-Identifier: BSD-3-Clause
#include "minife/calls.h"

#include <numeric>

namespace workloads::minife {

Traffic Calls::since_last() noexcept {
  const Traffic now = read();
  const Traffic difference = now - last_;
  last_ = now;
  return difference;
}

void Calls::end() {
  phases_.end_of_computation();
  outside_ += since_last();
}

double Calls::seconds() const noexcept { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0); }

}  // namespace workloads::minife
