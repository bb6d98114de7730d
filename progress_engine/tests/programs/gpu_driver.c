/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of CUDA's driver library: two devices, of which the first $GPU_ACTIVE have a primary context in use (one if
 * it is not set), and the number of times that a thread has made one its own. */
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int taken;
static _Thread_local void* current;

static int active_devices(void) {
  const char* text = getenv("GPU_ACTIVE");
  return text ? atoi(text) : 1;
}

int cuDeviceGetCount(int* devices) {
  *devices = 2;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device < active_devices();
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  static int contexts[2];
  *context = &contexts[device];
  return 0;
}

int cuCtxGetCurrent(void** context) {
  *context = current;
  return 0;
}

int cuCtxSetCurrent(void* context) {
  current = context;
  if (context) ++taken;
  return 0;
}

int contexts_taken(void) { return taken; }
