# SPDX-License-Identifier: BSD-3-Clause
"""What stands on the screen: commands under headings, and a long run's progress as a bar on a terminal alone."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import threading
from collections.abc import Iterator
from typing import Any, TextIO

import pytest

from harness.cli import LONGEST_HELP, main, sentence
from harness.commands import COMMANDS, HEADINGS
from harness.sessions.progress import Progress
from harness.tests.pages import bench

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|38;[\d;]+|9[0-7])m")
JOB = {"study": "overlap-ratio", "mpi": "mpich"}
EVENTS: list[dict[str, Any]] = [
    {"event": "job", **JOB, "launches": 4},
    {"event": "tried", **JOB, "seconds": 10.0},
    {"event": "launch", **JOB, "variant": "bare", "status": "ok", "seconds": 10.0},
    {"event": "launch", **JOB, "variant": "adaptive", "status": "failed", "reason": "it broke", "seconds": 10.0},
]


def test_every_command_stands_under_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = re.split(r"^([A-Z].*):$", capsys.readouterr().out, flags=re.MULTILINE)
    sections = {
        heading: re.findall(r"^  ([a-z][\w-]*) ", text, re.MULTILINE)
        for heading, text in zip(shown[1::2], shown[2::2], strict=True)
    }
    assert [heading for heading in sections if heading in HEADINGS] == list(HEADINGS)
    listed = [name for heading in HEADINGS for name in sections[heading]]
    assert sorted(listed) == sorted(COMMANDS)
    assert all(name in sections[command.heading] for name, command in COMMANDS.items())


def test_a_command_is_listed_with_the_sentence_of_its_own_help() -> None:
    assert {name: sentence(name) for name in COMMANDS} == {
        name: command.get_short_help_str(LONGEST_HELP) for name, command in bench().commands.items()
    }


class Terminal:
    """A terminal to write to; what it has shown is read all the time, so that nobody waits."""

    def __init__(self) -> None:
        self._ours, its = pty.openpty()
        self.screen: TextIO = os.fdopen(its, "w")
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(self._ours, 1 << 16):
                self._parts.append(part)

    def shown(self) -> str:
        """All that it has shown. Nothing can be written any more."""
        self.screen.close()
        self._reader.join()
        return b"".join(self._parts).decode()

    def close(self) -> None:
        self.shown()
        os.close(self._ours)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    found = Terminal()
    yield found
    found.close()


def played(out: TextIO) -> None:
    progress = Progress({("overlap-ratio", "mpich"): 60.0}, out)
    with progress.shown():
        for event in EVENTS:
            progress.handle(event)


def test_a_terminal_has_a_bar_with_an_estimate_and_a_line_of_what_failed(terminal: Terminal) -> None:
    played(terminal.screen)
    text = terminal.shown()
    assert "overlap-ratio mpich 1/4 bare" in text
    assert "about 20 s left" in text and "━" in text
    lines = re.findall(r"\d\d:\d\d:\d\d (.*?)\r", text)
    assert [line.split(" (")[0].strip() for line in lines] == [
        "overlap-ratio on mpich: 4 launches, about 60 s",
        "mpich 2/4 adaptive: failed: it broke",
    ]
    assert COLOUR.search(text)
    assert text.endswith("\x1b[2K"), "the bar is taken away at the end"


def test_no_color_takes_the_colour_away(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    played(terminal.screen)
    text = terminal.shown()
    assert "overlap-ratio mpich 1/4 bare" in text
    assert not COLOUR.search(text)


@pytest.mark.parametrize("where", ["a file", "a dumb terminal"])
def test_elsewhere_each_launch_is_a_plain_line(where: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    if where == "a file":
        out = io.StringIO()
        played(out)
        text = out.getvalue()
    else:
        monkeypatch.setenv("TERM", "dumb")
        played(terminal.screen)
        text = terminal.shown()
    assert "\x1b" not in text
    words = [line[9:].strip() for line in text.splitlines()]
    assert words == [
        "overlap-ratio on mpich: 4 launches, about 60 s",
        "mpich once to try it: ok (10.0 s, about 40 s left)",
        "mpich 1/4 bare: ok (10.0 s, about 30 s left)",
        "mpich 2/4 adaptive: failed: it broke (10.0 s, about 20 s left)",
    ]
