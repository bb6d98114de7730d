// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/json.h"

namespace workloads {

/// What the progress engine that is loaded into this process says of itself (pe_report_json); null where none is.
Json engine_report();

}  // namespace workloads
