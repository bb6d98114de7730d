# SPDX-License-Identifier: BSD-3-Clause
"""The first process of a node: collects orphans and runs what comes over a unix socket.

A request is four bytes of length (big endian) and as many of JSON; the caller's stdin, stdout and stderr may come
with it (SCM_RIGHTS). nsenter could not do this: siblings cannot enter each other's PID namespace.

    {"operation": "run", "argv", "env", "cwd"}      answer: {"status": N} when the command has ended, 128 + signal as in
                                                    a shell. Meanwhile each byte received is a signal number for the
                                                    command; a hang-up kills the command with all its descendants.
    {"operation": "service", ..., "name"}           answer at once: {"pid": N}; reaping and a hang-up leave it alone
    {"operation": "reap"}                           answer: {"killed": N} (everything but the services and the caller)
    {"operation": "services"}                       answer: {name: pid}

Only the owner of the directory of the socket can connect. Single threaded.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from . import processes

Request = dict[str, Any]
_REQUEST_LIMIT_S = 5.0


class Init:
    """Serves one socket until the process ends. `variables` override the environment of every command."""

    def __init__(self, name: str, socket_path: Path, variables: dict[str, str]) -> None:
        self.name = name
        self.variables = variables
        self.before_exec: Callable[[Request], None] = lambda _: None
        self._jobs: dict[int, socket.socket] = {}
        self._services: dict[int, str] = {}
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(socket_path))
        self._listener.listen(64)
        self._operations: dict[str, Callable[[socket.socket, Request, list[int]], None]] = {
            "run": self._run,
            "service": self._run_service,
            "reap": self._reap,
            "services": self._list_services,
        }

    def watch(self, descriptor: int, callback: Callable[[], None]) -> None:
        """Call back when the descriptor becomes readable."""
        self._selector.register(descriptor, selectors.EVENT_READ, callback)

    def unwatch(self, descriptor: int) -> None:
        """The end of `watch`; before the descriptor is closed."""
        self._selector.unregister(descriptor)

    def serve(self) -> NoReturn:
        """The loop. Must run in the main thread of the first process."""
        wake_in, wake_out = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_out, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.watch(self._listener.fileno(), self._accept)
        self.watch(wake_in, lambda: self._wake(wake_in))
        while True:
            for key, _ in self._selector.select():
                try:
                    key.data()
                except Exception:  # whatever it is, the node must not die of it
                    traceback.print_exc()

    def _wake(self, wake_in: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake_in, 4096)
        self._collect()

    def _collect(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._services.pop(pid, None)
            if connection := self._jobs.pop(pid, None):
                code = os.waitstatus_to_exitcode(status)
                self._answer(connection, {"status": code if code >= 0 else 128 - code})

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        connection.settimeout(_REQUEST_LIMIT_S)
        try:
            request, descriptors = receive(connection)
        except (OSError, ValueError):  # gone before it said what it wants
            connection.close()
            return
        try:
            self._operations[request["operation"]](connection, request, descriptors)
        except (KeyError, OSError) as error:
            self._answer(connection, {"error": f"{type(error).__name__}: {error}"})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _answer(self, connection: socket.socket, answer: dict[str, Any]) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(connection)
        with contextlib.suppress(OSError):
            connection.send(json.dumps(answer).encode() + b"\n")
        connection.close()

    def _run(self, connection: socket.socket, request: Request, descriptors: list[int]) -> None:
        pid = self._spawn(request, descriptors)
        connection.setblocking(False)
        self._jobs[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._from_client(connection, pid))

    def _run_service(self, connection: socket.socket, request: Request, descriptors: list[int]) -> None:
        pid = self._spawn(request, descriptors)
        self._services[pid] = request["name"]
        self._answer(connection, {"pid": pid})

    def _list_services(self, connection: socket.socket, request: Request, descriptors: list[int]) -> None:
        del request, descriptors
        self._answer(connection, {name: pid for pid, name in self._services.items()})

    def _reap(self, connection: socket.socket, request: Request, descriptors: list[int]) -> None:
        del request, descriptors
        caller, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        spared = processes.spared_by_reaping(caller) | self._services.keys()
        self._answer(connection, {"killed": processes.kill_all_but(spared, self._collect)})

    def _from_client(self, connection: socket.socket, pid: int) -> None:
        if self._jobs.get(pid) is not connection:  # the command ended, and was answered, since select() returned
            return
        try:
            numbers = connection.recv(64)
        except OSError:
            numbers = b""
        for number in numbers:
            self._signal(pid, number)
        if not numbers:
            self._jobs.pop(pid, None)
            self._selector.unregister(connection)
            connection.close()
            processes.kill_tree(pid)

    @staticmethod
    def _signal(pid: int, number: int) -> None:
        try:
            os.killpg(pid, number)
        except ProcessLookupError:  # it has not yet made its session
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _spawn(self, request: Request, descriptors: list[int]) -> int:
        """Fork and execute in a session of its own; errors go to the command's stderr, status 126 or 127."""
        pid = os.fork()
        if pid == 0:
            try:
                self._execute(request, descriptors)
            finally:
                os._exit(126)
        return pid

    def _execute(self, request: Request, descriptors: list[int]) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python's own dispositions
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        for target, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, target)
        arguments = request["argv"]
        try:
            os.chdir(request["cwd"])
        except OSError:  # as ssh does where the home directory is missing
            os.chdir("/")
        try:
            self.before_exec(request)
            os.execvpe(arguments[0], arguments, {**request["env"], **self.variables})
        except OSError as error:
            sys.stderr = os.fdopen(2, "w")
            print(f"{self.name}: {arguments[0]}: {error.strerror}", file=sys.stderr, flush=True)
            os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def receive(connection: socket.socket) -> tuple[Request, list[int]]:
    """One request and the descriptors that came with it, which then are the caller's to close."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(3 * descriptors.itemsize)
    head, control, _, _ = connection.recvmsg(4, space, socket.MSG_CMSG_CLOEXEC)
    for _, _, data in control:
        descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    try:
        length = int.from_bytes(head, "big")
        body = b""
        while len(body) < length:
            part = connection.recv(length - len(body))
            if not part:
                raise ValueError("the request ends early")
            body += part
        return json.loads(body), list(descriptors)
    except (OSError, ValueError):
        for descriptor in descriptors:
            os.close(descriptor)
        raise
