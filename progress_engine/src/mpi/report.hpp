// SPDX-License-Identifier: BSD-3-Clause
// What the engine did in this process.
#pragma once

#include "telemetry/report.hpp"

namespace progress_engine {

Report make_report();

// At MPI_Finalize, or at the exit of a program that never calls it: what the settings `report` and `report_file` ask
// for; nothing by default.
void write_report();

}  // namespace progress_engine
