# SPDX-License-Identifier: BSD-3-Clause
"""What stands on the screen while launches run, and what a shell completes."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from harness.base.paths import ROOT
from harness.cli import main
from harness.commands import VARIABLE
from harness.sessions.run import Progress
from harness.setup import entry, environment

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|38;[\d;]+|9[0-7])m")
JOB = {"study": "overlap-ratio", "mpi": "mpich"}
EVENTS: list[dict[str, Any]] = [
    {"event": "job", **JOB, "launches": 4},
    {"event": "tried", **JOB, "seconds": 10.0},
    {"event": "launch", **JOB, "variant": "bare", "status": "ok", "seconds": 10.0, "found": "a step takes 1 ms"},
    {
        "event": "launch",
        **JOB,
        "variant": "adaptive",
        "status": "failed",
        "reason": "it broke",
        "seconds": 10.0,
        "found": "no",
    },
    {"event": "launch", **JOB, "variant": "off", "status": "skipped", "reason": "expected failure: so", "seconds": 5.0},
]


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


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_has_a_bar_with_an_estimate_and_a_line_of_what_failed(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, colour: bool
) -> None:
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    played(terminal.screen)
    text = terminal.shown()
    assert "overlap-ratio mpich 1/4 bare" in text
    assert "about 20 s left" in text and "━" in text
    lines = re.findall(r"\d\d:\d\d:\d\d (.*?)\r", text)
    assert [line.split(" (")[0].strip() for line in lines] == [
        "overlap-ratio on mpich: 4 launches, about 60 s",
        "mpich 2/4 adaptive: failed: it broke",
        "mpich 3/4 off: expected failure: so",
    ]
    assert bool(COLOUR.search(text)) is colour
    assert text.endswith("\x1b[2K"), "the bar is taken away at the end"


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
        "mpich 1/4 bare: ok, a step takes 1 ms (10.0 s, about 30 s left)",
        "mpich 2/4 adaptive: failed: it broke (10.0 s, about 20 s left)",
        "mpich 3/4 off: expected failure: so (5.0 s, about 10 s left)",
    ]


def test_why_launches_are_skipped_is_said_once() -> None:
    out = io.StringIO()
    progress = Progress({("s", "mpich"): 0.0}, out)
    about = {"study": "s", "mpi": "mpich", "seconds": 0.0, "event": "launch"}
    for variant, reason in (("bare", "no cores"), ("off", "no cores"), ("idle", "no kernel"), ("bare", "no cores")):
        progress.handle({**about, "variant": variant, "status": "skipped", "reason": reason})
    progress.handle({**about, "mpi": "openmpi", "variant": "bare", "status": "skipped", "reason": "no cores"})
    said = [line[9:].split(": ", 1)[1] for line in out.getvalue().splitlines()]
    assert said == ["skipped: no cores (0.0 s)", "skipped: no kernel (0.0 s)", "skipped: no cores (0.0 s)"]


# What each shell does when a word is to be completed, by hand: there is no terminal here.
ASKED = {
    "bash": "{script}\nCOMP_WORDS=({words})\nCOMP_CWORD=2\n_bench_completion {bench}\necho ${{COMPREPLY[@]}}",
    "zsh": (
        "compdef() {{ : }}\n_arguments() {{ print -r -- $@ }}\n{script}\n"
        "words=({words})\nCURRENT=3\n_bench_completion | grep -oE -- '--json'"
    ),
    "fish": "{script}\ncomplete --do-complete '{words}'",
}


def completed(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What comes for the last of these words."""
    monkeypatch.setenv(VARIABLE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words.replace(" ", "\n"))
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert main([]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "wanted"),
    {
        "bench comp": {"compare", "compare-program", "completion"},
        "bench vcluster s": {"status"},
        "bench run overlap-r": {"overlap-ratio"},
        "bench run pio": {"pioman"},
        "bench run --dry": {"--dry-run"},
        "bench run x --mpi mpich,open": {"mpich,openmpi"},
        "bench run x --variant bare,adap": {"bare,adaptive"},
        "bench run x --system vcluster-": {"vcluster-slurm", "vcluster-spack"},
        "bench run x --scale q": {"quick"},
        "bench run x --scale t": {"test"},
        "bench run --resume 2026": {"20260102-030405-some"},
        "bench completion ": {"bash", "fish", "zsh"},
    }.items(),
)
def test_what_comes_next(
    words: str, wanted: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = tmp_path / "20260102-030405-some"
    session.mkdir()
    (session / "session.json").write_text("{}")
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    assert set(completed(words, monkeypatch, capsys)) == wanted


@pytest.mark.parametrize("shell", ASKED)
def test_the_shell_completes_by_the_printed_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    text = ASKED[shell].format(script=capsys.readouterr().out, bench=ROOT / "bench", words=f"{ROOT}/bench doctor --js")
    done = subprocess.run([shell, "-c", text], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.split()[:1] == ["--json"], done.stderr


def test_a_clone_that_is_not_set_up_completes_nothing_and_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "complete_bash")
    monkeypatch.setattr(entry, "venv_is_there", lambda: False)
    monkeypatch.setattr(environment, "ensure", lambda: pytest.fail("a Tab must not install anything"))
    assert entry.main([]) == 0
