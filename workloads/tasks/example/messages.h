/* SPDX-License-Identifier: BSD-3-Clause */
/* An example of a communication library on top of progress_engine/core.h: messages over a socket, in the background.
 * Everything that touches the socket is an ltask; the program that sends and receives never has to poll. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "progress_engine/core.h"

/* One direction's message in flight: the caller's memory until it is done. */
typedef struct message {
  pe_ltask task;
  int socket;
  int receives;
  char* data;
  uint64_t bytes;  /* of data */
  uint64_t header; /* on the wire before the data: their number, in this machine's order */
  size_t moved;    /* of header and data together */
  int error;       /* an errno number once done, 0 if all is well */
} message;

/* Start to send or receive `bytes` over a non-blocking stream socket; one message a direction and socket at a time.
 * The receiver must expect as many bytes as are sent (error EMSGSIZE). 0 or an errno number. */
int message_send(pe_core* core, message* self, int socket, const void* data, size_t bytes);
int message_receive(pe_core* core, message* self, int socket, void* data, size_t bytes);
/* 1 once it has gone or arrived, or failed. */
int message_done(const message* self);
/* Waits for it: 0 or an errno number. */
int message_wait(pe_core* core, message* self);

#endif
