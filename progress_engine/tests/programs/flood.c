// SPDX-License-Identifier: BSD-3-Clause
// Datagrams to every UDP port of this network namespace, as fast as they go, until it is ended: `flood COUNT`, at least
// COUNT of them. A third are random bytes, a third look like the bell's and are forged, the others are empty, short or
// long. Prints how many were sent when its standard input ends.
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { most_ports = 64, between_looks = 4096, usual = 32 };

static int ports[most_ports];

static int find_ports(int own) {
  FILE* file = fopen("/proc/net/udp", "r");
  if (!file) return 0;
  char line[256];
  int found = 0;
  while (found < most_ports && fgets(line, sizeof line, file)) {
    unsigned port = 0;
    if (sscanf(line, " %*d: %*x:%x", &port) == 1 && (int)port != own) ports[found++] = (int)port;
  }
  fclose(file);
  return found;
}

static uint64_t state = 1;
static uint64_t next(void) {  // xorshift64 (Marsaglia, 2003)
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static size_t make(unsigned char* bytes, long i) {
  for (int at = 0; at < usual; at += 8) {
    const uint64_t word = next();
    memcpy(bytes + at, &word, sizeof word);
  }
  if (i % 3 == 0) return usual;
  if (i % 3 == 1) return next() % (2 * usual);
  const uint32_t head[] = {0x314c4c45, 1 + (uint32_t)(next() % 3), (uint32_t)(next() % 4), (uint32_t)(next() % 4)};
  memcpy(bytes, head, sizeof head);
  return usual;
}

static int is_over(void) {
  struct pollfd input = {0, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 0;
  const int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to = {0}, own = {0};
  socklen_t size = sizeof own;
  to.sin_family = own.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (descriptor < 0 || bind(descriptor, (struct sockaddr*)&own, sizeof own) != 0 ||
      getsockname(descriptor, (struct sockaddr*)&own, &size) != 0)
    return 1;
  long sent = 0, tried = 0;
  int found = 0;
  unsigned char bytes[2 * usual] = {0};
  for (;; ++tried) {
    if (tried % between_looks == 0) {
      if (is_over() && sent >= count) break;
      found = find_ports(ntohs(own.sin_port));
      if (found == 0) usleep(1000);
    }
    if (found == 0) {
      if (is_over()) break;
      continue;
    }
    to.sin_port = htons((uint16_t)ports[tried % found]);
    const size_t length = make(bytes, tried);
    if (sendto(descriptor, bytes, length, 0, (struct sockaddr*)&to, sizeof to) >= 0) ++sent;
  }
  printf("%ld\n", sent);
  return 0;
}
