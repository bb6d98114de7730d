// SPDX-License-Identifier: BSD-3-Clause
// libfabric's first function, for who looks it up by its name.
#pragma once

extern "C" int fi_fabric(void* attributes, void** fabric, void* context);

namespace progress_engine {

// What stands before `function`, which is libfabric's own fi_fabric.
void* stand_before_libfabric(void* function);

}  // namespace progress_engine
