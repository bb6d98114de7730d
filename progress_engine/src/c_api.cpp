// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "mpi/runtime.hpp"
#include "progress_engine/progress_engine.h"
#include "telemetry/report.hpp"

#define PE_API extern "C" __attribute__((visibility("default")))

using namespace progress_engine;

PE_API const char* pe_report_json() {
  thread_local std::string text;
  text = make_report().dump();
  return text.c_str();
}

PE_API void pe_pause() {
  if (Runtime* runtime = active_runtime.load()) runtime->engine->pause();
}

PE_API void pe_resume() {
  if (Runtime* runtime = active_runtime.load()) runtime->engine->resume();
}
