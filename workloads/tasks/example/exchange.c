/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes exchange messages that no socket buffer holds while both compute, and neither polls: the core's threads
 * move them. Prints what it saw; 0 if every byte is right and the messages had gone before anybody waited. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"

enum { bytes = 8 << 20, limit_s = 20 };

static char pattern(int side, size_t i) { return (char)(31 * i + (size_t)side + i / 4096); }

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Computes, without a call into the library that could progress, until both messages are done or the limit is reached.
 */
static double compute(const message* out, const message* in) {
  const double begin = seconds();
  volatile double sum = 0;
  while (!(message_done(out) && message_done(in)) && seconds() - begin < limit_s)
    for (int i = 1; i < 100000; ++i) sum = sum + 1.0 / i;
  return seconds() - begin;
}

static int wrong_bytes(const char* data, int side) {
  int wrong = 0;
  for (size_t i = 0; i < bytes; ++i) wrong += data[i] != pattern(side, i);
  return wrong;
}

static int run(int side, int socket) {
  pe_core* core = NULL;
  char* out = malloc(bytes);
  char* in = calloc(1, bytes);
  message sending;
  message receiving;
  if (!out || !in || fcntl(socket, F_SETFL, O_NONBLOCK) != 0) return 1;
  if (pe_core_create(NULL, &core) != 0) {
    fprintf(stderr, "exchange: %s\n", pe_core_error());
    return 1;
  }
  for (size_t i = 0; i < bytes; ++i) out[i] = pattern(side, i);
  int failed = message_receive(core, &receiving, socket, in, bytes);
  failed |= message_send(core, &sending, socket, out, bytes);
  const double computed = compute(&sending, &receiving);
  const int in_background = message_done(&sending) && message_done(&receiving);
  failed |= message_wait(core, &sending);
  failed |= message_wait(core, &receiving);
  const int wrong = wrong_bytes(in, 1 - side);
  pe_core_destroy(core);
  printf("side %d: %d bytes each way %s while it computed for %.3f s; %d wrong bytes\n", side, (int)bytes,
         in_background ? "moved" : "did not move", computed, wrong);
  free(out);
  free(in);
  return failed || wrong || !in_background;
}

int main(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return perror("socketpair"), 1;
  const pid_t child = fork(); /* before any core: threads do not survive it */
  if (child < 0) return perror("fork"), 1;
  close(ends[child ? 1 : 0]);
  const int failed = run(child ? 0 : 1, ends[child ? 0 : 1]);
  if (!child) return failed;
  int status = 0;
  waitpid(child, &status, 0);
  return failed || status != 0;
}
