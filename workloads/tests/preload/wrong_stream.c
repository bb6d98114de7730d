// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: a network that spoils the last byte of what comes over TCP now and then. It shows
// that a wrong payload is seen where MPI does not move it. WRONG_STREAM_AFTER says how many large reads are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { smallest_spoiled = 1000 };

ssize_t recv(int socket, void* buffer, size_t length, int flags) {
  static ssize_t (*next)(int, void*, size_t, int);
  static int received;
  if (next == NULL) {
    *(void**)&next = dlsym(RTLD_NEXT, "recv");
  }
  const ssize_t got = next(socket, buffer, length, flags);
  const char* after = getenv("WRONG_STREAM_AFTER");
  if (got >= smallest_spoiled && ++received > (after == NULL ? 0 : atoi(after))) {
    ((unsigned char*)buffer)[got - 1] ^= 1;
  }
  return got;
}
