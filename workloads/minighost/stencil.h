// SPDX-License-Identifier: BSD-3-Clause
// The stencils of miniGhost in three dimensions: a point becomes the mean of itself and its neighbours.
#pragma once

#include "grid/box.h"

namespace workloads::minighost {

/// With the 6 neighbours across faces, or with all 26.
enum class Stencil : int { seven = 7, twenty_seven = 27 };

/// `out` at the points of `box` from `in` at those and around them. Blocks laid out as `layout`, not the same one.
void apply(Stencil stencil, const Layout& layout, const Box& box, const double* in, double* out);

}  // namespace workloads::minighost
