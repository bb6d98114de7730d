// SPDX-License-Identifier: BSD-3-Clause
// Of a library that asks dlsym for others' functions, as Intel MPI does; and of one of those.
#include <dlfcn.h>

// Not by a jump: then dlsym would take the caller of this for who asks.
extern "C" void* fake_ask(void* handle, const char* name) {
  void* volatile found = dlsym(handle, name);
  return found;
}
extern "C" void* fake_ask_for_version(void* handle, const char* name, const char* version) {
  void* volatile found = dlvsym(handle, name, version);
  return found;
}
// Of those behind this library.
extern "C" void* fake_ask_next(const char* name) {
  void* volatile found = dlsym(RTLD_NEXT, name);
  return found;
}

extern "C" int fi_fabric(void* /*attributes*/, void** fabric, void* /*context*/) {
  *fabric = nullptr;
  return 1;
}
