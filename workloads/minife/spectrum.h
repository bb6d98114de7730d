// SPDX-License-Identifier: BSD-3-Clause
// What is known of the matrix without assembling it: on a grid of equal elements it is a sum of products of matrices of
// the three axes, all of which have sines as their eigenvectors. No MPI here.
#pragma once

#include "grid/decomposition.h"

namespace workloads::minife {

/// Of the rows inside, the eigenvalue whose eigenvector has so many half waves along each axis (1 to nodes - 2).
double eigenvalue(const Triple& nodes, const Triple& half_waves);

/// After how many iterations, `most` at most, a solve of the whole grid ends, whatever the ranks: the method carried
/// out for the sines' own parts of the residual, which takes a time like all ranks' vectors, without the matrix.
int iterations_needed(const Triple& nodes, int most);

}  // namespace workloads::minife
