# SPDX-License-Identifier: BSD-3-Clause
"""What ran on the computing core while a message moved: of sessions with a trace (harness.sessions.traced).

    .venv/bin/python -m analysis.benchmarks.beside [--keep] SESSION...

Each computation of benchmark `overlap`, alone and beside a message, is a window on its core; every moment of it belongs
to what the core did then, to the innermost: a soft or hard interrupt, a system call of another thread of the rank, that
thread itself, the computing thread, somebody else's task, or nothing. So the parts of a window are its whole time. The
table has what a window beside a message has more of each than one alone, in us: means over the windows of all launches,
which add up. What the computation itself takes longer (caches, the processor's clock) is under `computation`.

A trace is large. --keep leaves each window with its parts in the session, windows.csv, which does as well without it.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import UsageError
from analysis.text_table import markdown

FILE = "trace.txt.gz"
KEPT = "windows.csv"
LINE = re.compile(r".{16}-(\d+) +\( *([-\d]+)\) \[(\d+)\] \S+ +([\d.]+): (\w+): ?(.*)")
SWITCH = re.compile(r"next_comm=(.*) next_pid=(\d+)")
KERNEL = re.compile(r"(ksoftirqd|kworker|migration|rcu\w*|kcompactd\d*|khugepaged|jbd2)\b")
WINDOWS = ("alone", "beside")
# Numbers of x86-64's system calls; others are "other calls".
CALLS = {
    "moving bytes": {0, 1, 19, 20, 44, 45, 46, 47},  # read, write, readv, writev, sendto, recvfrom, sendmsg, recvmsg
    "waiting, waking": {7, 23, 24, 35, 202, 230, 232, 270, 271, 281, 441},  # poll, select, yield, sleeps, futex, epoll
}
PARTS = (
    "computation",
    "other threads: user",
    "other threads: moving bytes",
    "other threads: waiting, waking",
    "other threads: other calls",
    "soft interrupts: network",
    "soft interrupts: others",
    "hard interrupts",
    "kernel threads",
    "other programs",
    "nothing",
)
NETWORK = ("NET_RX", "NET_TX")


@dataclass
class Window:
    """A computation: `parts` are its seconds; `switches`: how often another thread of the rank got the core."""

    kind: str
    cpu: str
    process: int
    begin: float
    parts: dict[str, float] = field(default_factory=dict)
    switches: int = 0

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


@dataclass
class Core:
    """What a core does now, and the window that is open on it, with the thread that computes."""

    task: int = 0
    name: str = ""
    since: float = 0.0
    interrupts: list[str] = field(default_factory=list)
    window: Window | None = None
    computing: int = 0


class Reader:
    """Goes through a trace, event by event, and collects its windows."""

    def __init__(self, processes: Mapping[int, int]) -> None:
        self.processes = processes  # thread -> its process
        self.calls: dict[int, int] = {}  # thread -> the system call that it is in
        self.cores: dict[str, Core] = {}
        self.windows: list[Window] = []

    def read(self, task: int, cpu: str, now: float, event: str, rest: str) -> None:
        core = self.cores.setdefault(cpu, Core())
        if core.window:
            part = self._part(core)
            core.window.parts[part] = core.window.parts.get(part, 0.0) + now - core.since
        core.since, core.task = now, task
        kind, _, end = event.rpartition("_")
        if event == "sched_switch":
            self._switch(core, rest)
        elif event == "sys_enter":
            self.calls[task] = int(rest.split()[1])
        elif event == "sys_exit":
            self.calls.pop(task, None)
        elif kind in WINDOWS and end == "begin" and core.window is None:
            core.window, core.computing = Window(kind, cpu, self.processes.get(task, 0), now), task
        elif kind in WINDOWS and core.window and core.window.kind == kind and task == core.computing:
            self.windows.append(core.window)
            core.window = None
        elif end == "entry":
            core.interrupts.append(_interrupt(event, rest))
        elif end == "exit" and core.interrupts:
            core.interrupts.pop()

    def _switch(self, core: Core, rest: str) -> None:
        found = SWITCH.search(rest)
        if not found:
            return
        core.name, core.task, core.interrupts = found[1], int(found[2]), []
        if core.window and self._of_the_rank(core):
            core.window.switches += 1

    def _of_the_rank(self, core: Core) -> bool:
        """Is it another thread of the rank whose window is open?"""
        assert core.window
        return core.task != core.computing and self.processes.get(core.task) == core.window.process

    def _part(self, core: Core) -> str:
        if core.interrupts:
            return core.interrupts[-1]
        if core.task == core.computing:
            return "computation"
        if core.task == 0:
            return "nothing"
        if not self._of_the_rank(core):
            return "kernel threads" if KERNEL.match(core.name) else "other programs"
        call = self.calls.get(core.task)
        if call is None:
            return "other threads: user"
        return "other threads: " + next((words for words, calls in CALLS.items() if call in calls), "other calls")


def _interrupt(event: str, rest: str) -> str:
    if not event.startswith("softirq"):
        return "hard interrupts"
    return f"soft interrupts: {'network' if any(name in rest for name in NETWORK) else 'others'}"


def windows(trace: Path) -> list[Window]:
    """The windows of a trace, in the order in which they ended."""
    processes: dict[int, int] = {}
    for match in _events(trace):
        if match[2].isdigit():
            processes[int(match[1])] = int(match[2])
    reader = Reader(processes)
    for match in _events(trace):
        reader.read(int(match[1]), match[3], float(match[4]), match[5], match[6])
    return reader.windows


def _events(trace: Path) -> Iterator[re.Match[str]]:
    with gzip.open(trace, "rt", errors="replace") as lines:
        yield from filter(None, (LINE.fullmatch(line.rstrip("\n")) for line in lines))


@dataclass(frozen=True)
class Place:
    """Whose windows: a rank of the launches of a variant at a point."""

    mpi: str
    point: str
    variant: str
    role: str


PLACE = ("mpi", "point", "variant", "role")


def keep(found: dict[Place, list[Window]], file: Path) -> None:
    """A line a window: its place, kind, how often another thread got the core, and its parts in us, as in a trace."""
    partial = file.with_name(f".{file.name}.part")
    with partial.open("w", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow([*PLACE, "kind", "switches", *PARTS])
        for place, windows in found.items():
            for one in windows:
                parts = [f"{1e6 * one.parts.get(part, 0.0):.0f}" for part in PARTS]
                table.writerow([*(getattr(place, name) for name in PLACE), one.kind, one.switches, *parts])
    partial.replace(file)  # whole or not at all


def kept(file: Path) -> dict[Place, list[Window]]:
    """What `keep` has left."""
    found: dict[Place, list[Window]] = {}
    with file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            parts = {part: 1e-6 * float(row[part]) for part in PARTS}
            one = Window(row["kind"], "", 0, 0.0, parts, int(row["switches"]))
            found.setdefault(Place(*(row[name] for name in PLACE)), []).append(one)
    return found


def placed(session: Path) -> dict[Place, list[Window]]:
    """The windows of each place, without those of warm-ups and of the calibration, which has none beside a message.

    A rank's core tells which process is its own, and the record how many windows each point has. UsageError where there
    are not as many.
    """
    if not (session / FILE).is_file() and (session / KEPT).is_file():
        return kept(session / KEPT)
    if not (session / FILE).is_file():
        raise UsageError(f"{session}: there is no {FILE}: python -m harness.sessions.traced takes a session with one")
    ranks: dict[tuple[str, int], list[Window]] = {}
    for window in sorted(windows(session / FILE), key=lambda one: one.begin):
        ranks.setdefault((window.cpu, window.process), []).append(window)
    left: dict[int, list[list[Window]]] = {}
    for (cpu, _), mine in ranks.items():
        if {one.kind for one in mine} == set(WINDOWS):
            left.setdefault(int(cpu), []).append(mine)
    found: dict[Place, list[Window]] = {}
    for record in _records(session):
        for rank in record[-1]["end"]["ranks"]:
            (cpu,) = rank["cpus_observed"]  # ranks are bound
            mine = left[cpu].pop(0) if left.get(cpu) else []
            _place(mine, [line for line in record[1:-1] if line["rank"] == rank["rank"]], record[0]["header"], found)
    return found


def _records(session: Path) -> list[list[dict[str, Any]]]:
    """The lines of each launch's record, in the order in which they ran."""
    found = [[json.loads(line) for line in path.read_text().splitlines()] for path in session.glob("records/*.jsonl")]
    return sorted(found, key=_began)


def _began(record: list[dict[str, Any]]) -> tuple[str, int]:
    header = record[0]["header"]
    return header["start_time"], header["context"]["order"]  # the time is in seconds


def _place(
    mine: Sequence[Window], lines: Sequence[dict[str, Any]], header: dict[str, Any], found: dict[Place, list[Window]]
) -> None:
    context = header["context"]
    counts = [len(WINDOWS) * (line["warmup"] + len(line["samples"]["total_s"])) for line in lines]
    if sum(counts) != len(mine):
        raise UsageError(f"{context['launch']}: the trace has {len(mine)} windows of a rank, the record {sum(counts)}")
    for line, count in zip(lines, counts, strict=True):
        point = {name: value for name, value in line["point"].items() if name not in ("work_units", "pattern")}
        place = Place(context["mpi"], _words(point), context["variant"], line["role"])
        found.setdefault(place, []).extend(mine[len(WINDOWS) * line["warmup"] : count])
        mine = mine[count:]


def _words(point: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in point.items())


def table(found: dict[Place, list[Window]]) -> str:
    """Of each place what the median window beside a message has, and alone, part by part."""
    places = sorted(found, key=lambda one: (one.mpi, one.point, one.role, one.variant))
    rows: list[list[object]] = []
    for place in places:
        mine = {kind: [one for one in found[place] if one.kind == kind] for kind in WINDOWS}
        whole = {kind: statistics.median(one.seconds for one in mine[kind]) for kind in WINDOWS}
        parts = [_added(mine, part) for part in PARTS]
        switches = statistics.median(one.switches for one in mine["beside"])
        head = (place.mpi, place.point, place.variant, place.role, len(mine["beside"]))
        inflation = f"{whole['beside'] / whole['alone']:.3f}"
        rows.append([*head, f"{1e6 * whole['alone']:.0f}", inflation, *parts, f"{switches:.0f}"])
    columns = ["MPI", "point", "variant", "role", "windows", "alone, us", "inflation", *PARTS, "switches"]
    return "\n".join(markdown(columns, rows))


def _added(mine: dict[str, list[Window]], part: str) -> str:
    """How many us of it are in a window beside a message beyond those in one alone: means, which add up."""
    means = {kind: statistics.fmean(one.parts.get(part, 0.0) for one in windows) for kind, windows in mine.items()}
    return f"{1e6 * (means['beside'] - means['alone']):.0f}"


def main(arguments: Sequence[str]) -> int:
    try:
        for session in (argument for argument in arguments if argument != "--keep"):
            found = placed(Path(session))
            print(table(found))
            if "--keep" in arguments:
                keep(found, Path(session) / KEPT)
    except UsageError as error:
        print(f"beside: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
