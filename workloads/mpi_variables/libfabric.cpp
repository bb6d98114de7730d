// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <span>

namespace workloads {
namespace {

// struct fi_param of rdma/fabric.h, whose header need not be there: most MPIs bring the library alone.
struct Parameter {
  const char* name;
  int type;
  const char* help;
  const char* value;
};

using Get = int (*)(Parameter** all, int* count);
using Free = void (*)(Parameter* all);

template <typename Function>
Function function(const char* name) {
  void* const loaded = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);  // an MPI may have loaded it for itself alone
  void* const symbol = dlsym(loaded != nullptr ? loaded : RTLD_DEFAULT, name);
  if (loaded != nullptr) dlclose(loaded);
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

std::string libfabric_line(const std::string& name) {
  const auto get = function<Get>("fi_getparams");
  const auto free = function<Free>("fi_freeparams");
  Parameter* all = nullptr;
  int count = 0;
  if (get == nullptr || free == nullptr || get(&all, &count) != 0) return fmt::format("{}: no libfabric", name);
  auto line = fmt::format("{}: unknown", name);
  for (const auto& one : std::span(all, static_cast<std::size_t>(count))) {
    if (name != one.name) continue;
    line = one.value != nullptr ? fmt::format("{} = {}", name, one.value) : fmt::format("{}: not set", name);
  }
  free(all);
  return line;
}

}  // namespace workloads
