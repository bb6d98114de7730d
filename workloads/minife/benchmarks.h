// SPDX-License-Identifier: BSD-3-Clause
// miniFE (M. A. Heroux et al., "Improving performance via mini-applications", SAND2009-5574; Mantevo's miniFE 2): its
// problem and its communication, written anew. Unlike there the equation has no source, so that the solution is known.
#pragma once

#include "common/experiment.h"

namespace workloads {

const Benchmark& minife_benchmark();
const Benchmark& minife_threads_benchmark();

}  // namespace workloads
