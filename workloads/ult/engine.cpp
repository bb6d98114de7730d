// SPDX-License-Identifier: BSD-3-Clause
#include "ult/engine.h"

#include <dlfcn.h>

namespace workloads {
namespace {

template <class Function>
Function engine_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

bool engine_suspends_user_level_threads() {
  const auto name = engine_symbol<const char* (*)()>("pe_ult_adapter_name");
  return name != nullptr && name() != nullptr;
}

bool set_engine_waiting(const std::string& method) {
  const auto set = engine_symbol<int (*)(const char*)>("pe_set_ult_waiting");
  return engine_suspends_user_level_threads() && set != nullptr && set(method.c_str()) == 0;
}

}  // namespace workloads
