// SPDX-License-Identifier: BSD-3-Clause
// What the engine did in this process.
#pragma once

#include "telemetry/report.hpp"

namespace progress_engine {

// With lifecycle_mutex() held, or where no other thread begins or ends MPI.
Report make_report();

// Any thread, any time. While another thread begins or ends MPI the report says that alone: what it would tell changes,
// and to wait for MPI_Finalize might last for ever.
Report make_report_if_possible();

// At MPI_Finalize, or at the exit of a program that never calls it: what the settings `report` and `report_file` ask
// for; nothing by default.
void write_report();

}  // namespace progress_engine
