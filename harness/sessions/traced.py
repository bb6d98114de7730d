# SPDX-License-Identifier: BSD-3-Clause
"""A session with the kernel's own account of what ran on each CPU meanwhile:

    sudo .venv/bin/python -m harness.sessions.traced overlap-ratio --mpi mpich --variant adaptive,limit --set ...
    .venv/bin/python -m analysis.benchmarks.beside results/latest

The arguments are those of `./bench run`. The session gets a file more, trace.txt.gz: every switch of tasks and
interrupt on this machine, the system calls of the threads that move messages, and where each computation of benchmark
`overlap` begins and ends, by the kernel's tracing (ftrace). That takes a microsecond or less an event, and wants root
and virtual nodes or --system local: what runs on other machines is not seen.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS
from harness.base.paths import ROOT, require_clone
from harness.sessions import session as sessions
from harness.setup import build

TRACING = Path("/sys/kernel/tracing")
INSTANCE = "overlap-bench"
GROUP = "overlap_bench"
FILE = "trace.txt.gz"
BUFFER_KB = 262144  # a CPU's
TOOL_LIMIT_S = 30.0
CALLS = "raw_syscalls"
EVENTS = ("sched/sched_switch", "irq", "irq_vectors", CALLS)
# Whose system calls: those of the engine's thread and of variant limit's. Ranks that wait in MPI make a million of
# them a second, for which there is no room.
CALLERS = " || ".join(f'comm == "{name}"' for name in ("pe-progress", "tcp-moving"))
# What is a window, and the function of benchmark `overlap` that it is inside of, as its mangled name begins.
WINDOWS = {"alone": "_ZN9workloads11Computation5alone", "beside": "_ZN9workloads11Computation6beside"}


def offset_in_file(program: Path, function: str) -> int:
    """Where this function is in the program's file. Failure where it is not."""
    symbols = re.findall(rf"^([0-9a-f]+) [Tt] {function}", _said("nm", str(program)), re.MULTILINE)
    segments = re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", _said("readelf", "-lW", str(program)))
    for address in (int(text, 16) for text in symbols):
        for in_file, begin, size in ([int(text, 16) for text in segment] for segment in segments):
            if begin <= address < begin + size:
                return address - begin + in_file
    raise Failure(f"{program} has no function {function}: it is stripped, or another release's.")


def _said(*command: str) -> str:
    done = process.answer(command, TOOL_LIMIT_S)
    if done.status != 0:
        raise Failure(f"{' '.join(command)}: {done.last_line}")
    return done.out


@contextlib.contextmanager
def _mounted() -> Iterator[Path]:
    """The folder of the kernel's tracing. UsageError where it cannot be had."""
    if os.geteuid() != 0:
        raise UsageError("The kernel's tracing is root's: run this with sudo.")
    mounted = not (TRACING / "uprobe_events").exists()
    if mounted and (done := process.answer(["mount", "-t", "tracefs", "none", str(TRACING)], TOOL_LIMIT_S)).status != 0:
        raise UsageError(f"The kernel's tracing is not there: {done.last_line}")
    try:
        if not (TRACING / "uprobe_events").exists():
            raise UsageError("This kernel has no probes in programs (CONFIG_UPROBE_EVENTS).")
        yield TRACING
    finally:
        if mounted:
            process.answer(["umount", str(TRACING)], TOOL_LIMIT_S)


@contextlib.contextmanager
def _probed(tracing: Path, programs: dict[str, Path]) -> Iterator[list[str]]:
    """A probe at the begin and at the end of each window in these programs, by MPI; their groups."""
    groups = {f"{GROUP}_{re.sub(r'[^0-9a-z]', '_', name)}": program for name, program in programs.items()}
    file = tracing / "uprobe_events"
    try:
        for group, program in groups.items():
            for window, function in WINDOWS.items():
                place = f"{program}:{offset_in_file(program, function):#x}"
                for kind, end in (("p", "begin"), ("r", "end")):
                    _append(file, f"{kind}:{group}/{window}_{end} {place}\n")
        yield list(groups)
    finally:
        for group in groups:
            for window in WINDOWS:
                for end in ("begin", "end"):
                    with contextlib.suppress(OSError):
                        _append(file, f"-:{group}/{window}_{end}\n")


def _append(file: Path, line: str) -> None:
    """Python's own mode `a` seeks to the end first, which this kind of file does not take."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def recording(programs: dict[str, Path]) -> Iterator[Path]:
    """Record while the body runs; the file in which the kernel then has all of it."""
    with _mounted() as tracing:
        own = tracing / "instances" / INSTANCE
        own.mkdir(exist_ok=True)
        try:
            with _probed(tracing, programs) as groups:
                (own / "trace_clock").write_text("mono")
                (own / "buffer_size_kb").write_text(str(BUFFER_KB))
                (own / "options" / "record-tgid").write_text("1")
                (own / "events" / CALLS / "filter").write_text(CALLERS)
                events = [own / "events" / name / "enable" for name in (*EVENTS, *groups)]
                for event in events:
                    event.write_text("1")
                try:
                    yield own / "trace"
                finally:
                    for event in events:
                        event.write_text("0")
        finally:
            own.rmdir()


def lost(own: Path) -> int:
    """Events for which there was no room."""
    counts = (re.search(r"overrun: (\d+)", file.read_text()) for file in own.glob("per_cpu/cpu*/stats"))
    return sum(int(count[1]) for count in counts if count)


def main(words: Sequence[str]) -> int:
    require_clone("A trace")
    if not words or words[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    programs = {
        name: mpi.build_dir / "bin" / "microbench"
        for name, mpi in MPIS.items()
        if (mpi.build_dir / "bin" / "microbench").is_file()
    }
    try:
        if not programs:
            raise UsageError("Nothing is built yet: ./bench run the same first, without a trace.")
        for name in programs:
            build.ensure(MPIS[name], "microbench", "progress_engine/all")  # a probe is on the file that is there
        with recording(programs) as trace:
            status = process.attended([sys.executable, "-m", "harness", "run", *words], cwd=ROOT)
            (trace.parent / "tracing_on").write_text("0")
            session = sessions.load("latest")
            if missed := lost(trace.parent):
                raise Failure(f"{missed} events were lost: ask for fewer launches or samples.")
            with trace.open("rb") as text, gzip.open(session.path / FILE, "wb", compresslevel=1) as kept:
                shutil.copyfileobj(text, kept)
        print(session.path / FILE)
    except (UsageError, Failure) as error:
        print(f"traced: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
