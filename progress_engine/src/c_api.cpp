// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "mpi/runtime.hpp"
#include "offload/active.hpp"
#include "offload/ult.hpp"
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

PE_API int pe_register_ult_adapter(const pe_ult_adapter* adapter) {
  return adapter && offload::register_ult_adapter(*adapter) ? 0 : -1;
}

PE_API const char* pe_ult_adapter_name() {
  const pe_ult_adapter* adapter = offload::ult_adapter();
  return offload::active() && adapter ? adapter->name : nullptr;
}

PE_API int pe_set_ult_waiting(const char* method) {
  const std::string_view word(method ? method : "");
  const auto waiting = offload::ult_waiting_of(word);
  if (!waiting) return -1;
  offload::set_ult_waiting(*waiting);
  return 0;
}
