/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload below the engine: says on stderr whenever UCX is asked for its feature WAKEUP. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

enum { HAS_FEATURES = 1, FEATURE_WAKEUP = 1 << 4 };

/* The first two words of ucp_params_t: which fields are set, and the first of them. */
int8_t ucp_init_version(unsigned major, unsigned minor, const uint64_t* parameters, const void* config,
                        void** context) {
  static int8_t (*next)(unsigned, unsigned, const uint64_t*, const void*, void**);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "ucp_init_version");
  if ((parameters[0] & HAS_FEATURES) && (parameters[1] & FEATURE_WAKEUP)) fprintf(stderr, "UCX is asked for wakeups\n");
  return next(major, minor, parameters, config, context);
}
