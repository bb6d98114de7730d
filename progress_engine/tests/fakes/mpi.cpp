// SPDX-License-Identifier: BSD-3-Clause
// Of a library that calls another one's function and asks dlsym for it: a component of an MPI, or not.
#include <dlfcn.h>

#ifdef ANSWER

extern "C" int fake_function() { return ANSWER; }

#else

extern "C" {

int fake_function();
int fake_call() { return 100 * fake_function(); }
#ifndef CALLS_ALONE  // whose reference the loader binds at the first call
void* fake_address() { return reinterpret_cast<void*>(&fake_function); }
#endif

// Not by a jump: then dlsym would take the caller of this for who asks.
void* fake_ask(void* handle, const char* name) {
  void* volatile found = dlsym(handle, name);
  return found;
}
void* fake_ask_for_version(void* handle, const char* name, const char* version) {
  void* volatile found = dlvsym(handle, name, version);
  return found;
}
// Of those behind this library.
void* fake_ask_next(const char* name) {
  void* volatile found = dlsym(RTLD_NEXT, name);
  return found;
}
}

#endif
