// SPDX-License-Identifier: BSD-3-Clause
// What the engine did, as JSON, as a line, as a file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace progress_engine {

// The object that include/progress_engine/progress_engine.h documents.
nlohmann::ordered_json make_report();

// At MPI_Finalize: what the settings `report` and `report_file` ask for; nothing by default.
void write_report();

// "%r %p %h" -> rank, process, host; "%%" -> "%".
std::string expand_file_name(const std::string& pattern, int rank);

}  // namespace progress_engine
