// SPDX-License-Identifier: BSD-3-Clause
// What this machine's libstdc++ and libgcc, linked in, want of a newer C library than portable.cmake builds for. It is
// seen by what it is linked into alone.
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OURS __attribute__((visibility("hidden")))
#define OLD(name) __asm__(".symver old_" #name ", " #name "@GLIBC_2.2.5")

OURS char __libc_single_threaded = 0;  // nobody knows: count references by atomic operations

OURS uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();  // so few bytes are never interrupted
  return value;
}

OURS pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// ---- deadlines of another clock than CLOCK_REALTIME, which alone the older functions know
static int64_t nanoseconds(const struct timespec* time) { return time->tv_sec * INT64_C(1000000000) + time->tv_nsec; }

static int64_t left_until(clockid_t clock, const struct timespec* deadline) {
  struct timespec now;
  clock_gettime(clock, &now);
  return nanoseconds(deadline) - nanoseconds(&now);
}

static struct timespec real_deadline(clockid_t clock, const struct timespec* deadline) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t until = nanoseconds(&now) + left_until(clock, deadline);
  return (struct timespec){until / 1000000000, until % 1000000000};
}

OURS int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                const struct timespec* deadline) {
  const struct timespec real = real_deadline(clock, deadline);
  const int status = pthread_cond_timedwait(condition, mutex, &real);
  return status == ETIMEDOUT && left_until(clock, deadline) > 0 ? 0 : status;  // somebody set the clock
}

OURS int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* deadline) {
  int status = ETIMEDOUT;
  do {
    const struct timespec real = real_deadline(clock, deadline);
    status = pthread_mutex_timedlock(mutex, &real);
  } while (status == ETIMEDOUT && left_until(clock, deadline) > 0);
  return status;
}

// ---- where the unwinder of libgcc finds the tables of the code at an address
struct dl_find_object {
  unsigned long long flags;
  void *begin, *end;
  struct link_map* object;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  void* eh_frame;
};

static int look(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* search = data;
  const ElfW(Phdr)* tables = NULL;
  int within = 0;
  (void)size;
  for (const ElfW(Phdr)* part = object->dlpi_phdr; part != object->dlpi_phdr + object->dlpi_phnum; ++part) {
    if (part->p_type == PT_LOAD) within |= search->address - object->dlpi_addr - part->p_vaddr < part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) tables = part;
  }
  if (within && tables != NULL) search->eh_frame = (void*)(object->dlpi_addr + tables->p_vaddr);
  return within;
}

OURS int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, NULL};
  dl_iterate_phdr(look, &search);
  *result = (struct dl_find_object){.eh_frame = search.eh_frame};
  return search.eh_frame != NULL ? 0 : -1;
}

// ---- functions that have a second version, which only differs in how errors are told
double old_pow(double, double);
double old_exp(double);
double old_log(double);
double old_log2(double);
OLD(pow);
OLD(exp);
OLD(log);
OLD(log2);
OURS double pow(double base, double exponent) { return old_pow(base, exponent); }
OURS double exp(double value) { return old_exp(value); }
OURS double log(double value) { return old_log(value); }
OURS double log2(double value) { return old_log2(value); }
