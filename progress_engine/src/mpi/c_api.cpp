// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "mpi/lifecycle.hpp"
#include "mpi/offload.hpp"
#include "progress_engine/progress_engine.h"

#define PE_API extern "C" __attribute__((visibility("default")))

using namespace progress_engine;

namespace {

// A program may name its library of user-level threads before MPI_Init.
const OffloadLibrary* offload_or_null() {
  std::string problem;
  return load_offload(problem);
}

}  // namespace

PE_API const char* pe_report_json() {
  thread_local std::string text;
  text = to_json(make_report_if_possible());
  return text.c_str();
}

PE_API void pe_pause() {
  if (Runtime* runtime = active_runtime.load()) runtime->engine->pause();
}

PE_API void pe_resume() {
  if (Runtime* runtime = active_runtime.load()) runtime->engine->resume();
}

PE_API int pe_register_ult_adapter(const pe_ult_adapter* adapter) {
  const OffloadLibrary* offload = offload_or_null();
  return adapter && offload && offload->register_ult_adapter(*adapter) ? 0 : -1;
}

PE_API const char* pe_ult_adapter_name() {
  const OffloadLibrary* offload = offload_in_use.load();
  const pe_ult_adapter* adapter = offload ? offload->ult_adapter() : nullptr;
  return adapter ? adapter->name : nullptr;
}

PE_API int pe_set_ult_waiting(const char* method) {
  const OffloadLibrary* offload = offload_or_null();
  return offload && offload->set_ult_waiting(method ? method : "") ? 0 : -1;
}
