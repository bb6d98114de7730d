/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Moves what the socket takes now; the bytes moved, 0 if it takes none, -1 and errno for an error. */
static ssize_t move(const message* self, char* from, size_t bytes) {
  const ssize_t moved =
      self->receives ? recv(self->socket, from, bytes, 0) : send(self->socket, from, bytes, MSG_NOSIGNAL);
  if (moved == 0) errno = ECONNRESET; /* the peer has gone */
  if (moved > 0) return moved;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

static int finish(message* self, int error) {
  self->error = error;
  return PE_DONE;
}

/* The ltask: header first, then data. It returns rather than wait. */
static int progress(void* argument) {
  message* self = argument;
  const size_t total = sizeof self->header + self->bytes;
  while (self->moved < total) {
    const int in_header = self->moved < sizeof self->header;
    char* from = in_header ? (char*)&self->header + self->moved : self->data + (self->moved - sizeof self->header);
    const ssize_t moved = move(self, from, in_header ? sizeof self->header - self->moved : total - self->moved);
    if (moved < 0) return finish(self, errno);
    if (moved == 0) return PE_AGAIN;
    self->moved += (size_t)moved;
    if (in_header && self->moved == sizeof self->header && self->header != self->bytes) return finish(self, EMSGSIZE);
  }
  return finish(self, 0);
}

static int start(pe_core* core, message* self, int socket, int receives, char* data, size_t bytes) {
  self->socket = socket;
  self->receives = receives;
  self->data = data;
  self->bytes = bytes;
  self->header = bytes; /* a receiver's is overwritten */
  self->moved = 0;
  self->error = 0;
  pe_ltask_init(&self->task, progress, self);
  return pe_core_submit(core, &self->task, PE_ROOT); /* any core may serve a socket */
}

int message_send(pe_core* core, message* self, int socket, const void* data, size_t bytes) {
  return start(core, self, socket, 0, (char*)data, bytes);
}

int message_receive(pe_core* core, message* self, int socket, void* data, size_t bytes) {
  return start(core, self, socket, 1, data, bytes);
}

int message_done(const message* self) { return pe_ltask_done(&self->task); }

int message_wait(pe_core* core, message* self) {
  const int error = pe_core_wait(core, &self->task);
  return error ? error : self->error;
}
