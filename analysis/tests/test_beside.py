# SPDX-License-Identifier: BSD-3-Clause
"""What ran on a core during a computation, from a trace: each moment belongs to one part, and parts are the whole."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from analysis.benchmarks import beside
from analysis.benchmarks.beside import PARTS, Place

ROOT = Path(__file__).resolve().parents[2]
APPLICATION, ENGINE, OTHER = 100, 101, 7
NAMES = {APPLICATION: "microbench", ENGINE: "pe-progress", OTHER: "cc1plus", 0: "<idle>", 9: "ksoftirqd/0"}


class Trace:
    """Lines as the kernel writes them, of core 0; a moment is in us."""

    def __init__(self) -> None:
        self.lines: list[str] = ["# tracer: nop"]

    def add(self, at: int, task: int, event: str, rest: str = "") -> None:
        process = {APPLICATION: "    100", ENGINE: "    100", OTHER: "      7"}.get(task, "-------")
        who = f"{NAMES[task]:>16}-{task:<7}({process})"
        self.lines.append(f"{who} [000] d..2. {1000 + at / 1e6:12.6f}: {event}: {rest}")

    def switch(self, at: int, old: int, new: int) -> None:
        rest = f"prev_comm={NAMES[old]} prev_pid={old} prev_prio=120 prev_state=R ==> "
        self.add(at, old, "sched_switch", f"{rest}next_comm={NAMES[new]} next_pid={new} next_prio=120")

    def repetition(self, at: int) -> None:
        """50 us alone, and 150 us beside a message, of which the engine has 56 and others 24."""
        self.add(at, APPLICATION, "alone_begin", "(0x1c980)")
        self.add(at + 50, APPLICATION, "alone_end", "(0x1ca00 <- 0x1c980)")
        at += 100
        self.add(at, APPLICATION, "beside_begin", "(0x1c9d0)")
        self.add(at, APPLICATION, "alone_begin", "(0x1c980)")  # beside() calls it
        self.switch(at + 10, APPLICATION, ENGINE)
        self.add(at + 10, ENGINE, "sys_exit", "NR 232 = 1")
        self.add(at + 15, ENGINE, "sys_enter", "NR 47 (5, 7f, 0, 0, 0, 0)")
        self.add(at + 20, ENGINE, "softirq_entry", "vec=3 [action=NET_RX]")
        self.add(at + 23, ENGINE, "local_timer_entry", "vector=236")
        self.add(at + 24, ENGINE, "local_timer_exit", "vector=236")
        self.add(at + 30, ENGINE, "softirq_exit", "vec=3 [action=NET_RX]")
        self.add(at + 40, ENGINE, "sys_exit", "NR 47 = 4096")
        self.add(at + 46, ENGINE, "sys_enter", "NR 232 (3, 7f, 0, 0, 0, 0)")
        self.switch(at + 66, ENGINE, OTHER)
        self.switch(at + 80, OTHER, 9)
        self.switch(at + 85, 9, 0)
        self.switch(at + 90, 0, APPLICATION)
        self.add(at + 150, APPLICATION, "alone_end", "(0x1ca00 <- 0x1c980)")
        self.add(at + 150, APPLICATION, "beside_end", "(0x55 <- 0x1c9d0)")

    def write(self, session: Path) -> None:
        with gzip.open(session / beside.FILE, "wt") as stream:
            stream.write("\n".join(self.lines) + "\n")


def recorded(session: Path, samples: int) -> None:
    context = {"mpi": "mpich", "variant": "adaptive", "launch": "l", "order": 0}
    point = {"pattern": "both", "size_bytes": 4096, "work_units": 9}
    line = {"point": point, "rank": 0, "role": "sender", "warmup": 1, "samples": {"total_s": [1.0] * samples}}
    end = {"end": {"ranks": [{"rank": 0, "cpus_observed": [0]}]}}
    header = {"header": {"context": context, "start_time": "2026-01-01T00:00:00Z"}}
    (session / "records").mkdir()
    (session / "records" / "l.jsonl").write_text("\n".join(map(json.dumps, (header, line, end))))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    trace = Trace()
    trace.switch(0, OTHER, APPLICATION)
    for at in (10, 1000, 2000):  # the first is the warm-up
        trace.repetition(at)
    trace.write(tmp_path)
    return tmp_path


def test_every_moment_belongs_to_the_innermost(session: Path) -> None:
    recorded(session, samples=2)
    ((place, found),) = beside.placed(session).items()
    assert place == Place("mpich", "size_bytes=4096", "adaptive", "sender")
    assert [one.kind for one in found] == ["alone", "beside"] * 2
    alone, window = found[:2]
    assert {part: round(1e6 * seconds) for part, seconds in alone.parts.items()} == {"computation": 50}
    us = {part: round(1e6 * seconds) for part, seconds in window.parts.items()}
    assert us == {
        "computation": 70,
        "other threads: user": 11,
        "other threads: moving bytes": 15,
        "soft interrupts: network": 9,
        "hard interrupts": 1,
        "other threads: waiting, waking": 20,
        "other programs": 14,
        "kernel threads": 5,
        "nothing": 5,
    }
    assert round(1e6 * window.seconds) == 150
    assert window.switches == 1
    assert set(us) <= set(PARTS)
    assert "| adaptive | sender | 2 | 50 | 3.000 | 20 | 11 | 15 | 20 |" in beside.table({place: found})


def test_kept_windows_give_the_table_without_the_trace(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(session, samples=2)
    assert beside.main(["--keep", str(session)]) == 0
    of_the_trace = capsys.readouterr().out
    assert "| mpich | size_bytes=4096 | adaptive | sender | 2 |" in of_the_trace
    (session / beside.FILE).unlink()
    assert beside.main([str(session)]) == 0
    assert capsys.readouterr().out == of_the_trace


def test_the_page_has_the_kept_windows_numbers() -> None:
    """Those of a sender of 4 MB: us of each part beside a message beyond those alone."""
    found = beside.placed(ROOT / "results/reference/limit-traced")
    columns, _, *rows = beside.table(found).splitlines()
    first = [name.strip() for name in columns.split("|")].index("computation")
    page = (ROOT / "docs/measured/overlap.md").read_text()
    for mpi, title in (("mpich", "MPICH"), ("openmpi", "Open MPI")):
        for variant in ("adaptive", "limit"):
            of = (mpi, "size_bytes=4194304, comp_over_comm=1.0", variant, "sender")
            (row,) = [cells for cells in (line.split(" | ") for line in rows)
                      if (cells[0].lstrip("| "), cells[1].partition(", wake_us")[0], *cells[2:4]) == of]  # fmt: skip
            us = [int(cell) for cell in row[first - 1 : first - 1 + len(PARTS)]]
            *mine, soft, hard, kernel, others, _ = us
            shown = [str(number) for number in (*mine, soft + hard, kernel + others)]
            assert f"| {title} | {variant} | {' | '.join(shown)} |" in page.replace("**", "")


def test_a_trace_that_lacks_windows_is_refused(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(session, samples=3)
    assert beside.main([str(session)]) == 2
    assert "the trace has 6 windows of a rank, the record 8" in capsys.readouterr().err
    (tmp_path / beside.FILE).unlink()
    assert beside.main([str(tmp_path)]) == 2
    assert "no trace.txt.gz" in capsys.readouterr().err
