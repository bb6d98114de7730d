# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on a virtual node: `exec NODE CMD...` like env(1), `rsh [options] NODE CMD...` like ssh(1).

`up` copies this file as two executables into the cluster's directory, with the interpreter in their first line; the
directory is how they find the nodes, so no environment is needed. It imports as little as it can: a launcher starts it
once a node, and an interpreter without site packages is up in 10 ms.
"""

# pathlib alone would double the time that this file takes.
# ruff: noqa: PTH100, PTH109, PTH118

from __future__ import annotations

import json
import os
import signal
import socket
import sys

SSH_OPTIONS_WITH_VALUE = "BbcDEeFIiJLlmOopQRSWw"
KEPT_BY_LOGIN = ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM")
LOGIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
CONNECTION_LOST = 255  # ssh's status for it


def connect(path: str) -> socket.socket:
    """The socket of a node's init; raises OSError where the node is down."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def send(connection: socket.socket, request: dict[str, object], descriptors: list[int]) -> None:
    """Send one request, see init.py, with copies of the descriptors."""
    body = json.dumps(request).encode()
    socket.send_fds(connection, [len(body).to_bytes(4, "big")], descriptors)
    connection.sendall(body)


def receive(connection: socket.socket) -> dict[str, object] | None:
    """The answer; None when the node went away first."""
    answer = b""
    while not answer.endswith(b"\n"):
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return None
        answer += part
    result: dict[str, object] = json.loads(answer)
    return result


def split_ssh_arguments(arguments: list[str]) -> tuple[str, list[str]]:
    """The host without its user and domain, and the command; the options of ssh and rsh are skipped."""
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if len(option) == 2 and option[1] in SSH_OPTIONS_WITH_VALUE and rest:
            rest.pop(0)
    if not rest:
        sys.exit("usage: rsh [options of ssh] NODE [COMMAND...]")
    return rest[0].split("@")[-1].split(".")[0], rest[1:]


def login_request(command: list[str]) -> dict[str, object]:
    """What a login shell would run: a clean environment, the home directory, the words joined."""
    environment = {name: os.environ[name] for name in KEPT_BY_LOGIN if name in os.environ}
    environment["PATH"] = LOGIN_PATH
    argv = ["/bin/sh", "-c", " ".join(command)] if command else ["/bin/sh"]
    return {"operation": "run", "argv": argv, "env": environment, "cwd": environment.get("HOME", "/")}


def plain_request(command: list[str]) -> dict[str, object]:
    """The command as it stands, with this environment and directory."""
    return {"operation": "run", "argv": command, "env": dict(os.environ), "cwd": os.getcwd()}


def run(directory: str, node: str, request: dict[str, object]) -> int:
    """Run to the end with this process's stdin, stdout, stderr and signals; the exit status."""
    try:
        connection = connect(os.path.join(directory, node + ".sock"))
    except OSError as error:
        print(f"{node}: cannot connect: {error.strerror} (is there such a node, is it up?)", file=sys.stderr)
        return CONNECTION_LOST
    try:
        send(connection, request, [0, 1, 2])
        for number in FORWARDED:
            signal.signal(number, lambda received, _: connection.send(bytes([received])) and None)
        answer = receive(connection)
    except BrokenPipeError:
        answer = None
    if answer is None:
        print(f"{node}: the node went down", file=sys.stderr)
        return CONNECTION_LOST
    if "error" in answer:
        print(f"{node}: {answer['error']}", file=sys.stderr)
        return CONNECTION_LOST
    return int(str(answer["status"]))


def open_missing_streams() -> None:
    """A daemon may have started us without stdin, stdout or stderr, whose numbers the socket must not get."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)


def main() -> int:
    """The two executables, told apart by their name."""
    open_missing_streams()
    directory, name = os.path.split(os.path.abspath(sys.argv[0]))
    if name == "rsh":
        node, command = split_ssh_arguments(sys.argv[1:])
        return run(directory, node, login_request(command))
    if len(sys.argv) < 3:
        sys.exit("usage: exec NODE COMMAND...")
    return run(directory, sys.argv[1], plain_request(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
