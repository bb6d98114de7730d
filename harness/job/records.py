# SPDX-License-Identifier: BSD-3-Clause
"""Record files as the job sees them, in the folders of a session: read what a launch left, complete it, put it in its
place whole. The analysis reads the same layout.

A record file is never half there: it is written under a temporary name, flushed to the disk and renamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
SCHEMA_VERSION = 5

# What the runner adds to a point's intention; it does not identify the point.
DERIVED = ("work_units",)
FAILURES = ("failed", "timeout")
LATE_S, LOOK_EVERY_S = 5.0, 0.2
NOT_NEEDED = "not needed"  # so the reason begins of a launch that was left out, as enough was known
EXPECTED, UNEXPECTED = "expected failure: ", "unexpected success: "  # of what is known to fail on an MPI
STOPPED, UNWRITABLE = 128 + signal.SIGTERM, os.EX_IOERR  # the statuses of a job that was told to stop, or cannot write
NOT_RUN = "not run: "  # so the reason begins of a launch that its job did not come to


@dataclass
class RecordFile:
    """The lines of one launch's record. `cut_off`: there is no end line, or a line was not whole."""

    header: dict[str, Any] | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    cut_off: bool = False


def key(point: dict[str, Any]) -> str:
    """What identifies a point among a study's points."""
    return json.dumps({name: value for name, value in point.items() if name not in DERIVED}, sort_keys=True)


def read(path: Path) -> RecordFile:
    """What is whole in a record file; a file that is not there is an empty one."""
    record = RecordFile()
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for text in lines:
        try:
            _add(record, json.loads(text))
        except (ValueError, KeyError, TypeError, RecursionError):  # damaged: no line of a record
            record.cut_off = True
    record.cut_off |= record.end is None
    return record


def read_when_whole(path: Path) -> RecordFile:
    """What a launch has left that ended well: cut off only if its end does not come either."""
    return when_there(path.parent, lambda: read(path), lambda record: not record.cut_off)


def when_there(folder: Path, look: Callable[[], T], whole: Callable[[T], bool]) -> T:
    """What is seen in `folder`, once it is whole. A rank on another node may have written it, from where it comes some
    seconds later by a shared file system: what is not whole then stays so."""
    deadline = time.monotonic() + LATE_S
    while not whole(found := look()) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
        with contextlib.suppress(OSError):
            os.listdir(folder)  # noqa: PTH208 - has the client of a network's file system ask for what is new
    return found


def _add(record: RecordFile, line: dict[str, Any]) -> None:
    """Put a line where it belongs; KeyError, TypeError or ValueError if it is none of a record's."""
    if "header" in line:
        record.header = dict(line["header"])
    elif "end" in line:
        record.end = dict(line["end"])
    else:
        types = {"point": dict, "rank": int, "status": str, "samples": dict}
        if not all(isinstance(line[name], kind) for name, kind in types.items()):
            raise TypeError("not a point")
        if line["status"] != "ok" and not line.get("reason"):
            raise ValueError("no reason")
        record.points.append(line)


def write(path: Path, record: RecordFile) -> None:
    """Put a record file in its place, whole or not at all. Raises OSError (disk full, read-only folder)."""
    lines = [{"header": record.header}, *record.points, {"end": record.end}]
    partial = path.with_name(path.name + ".part")
    try:
        with partial.open("w") as stream:
            stream.writelines(json.dumps(line) + "\n" for line in lines)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def attempts(folder: Path, identity: str) -> list[Path]:
    """The record files of a launch: of its first run, then of each resumed one, in that order."""
    resumed = sorted(folder.glob(f"{identity}.r*.jsonl"), key=lambda path: int(path.stem.rpartition(".r")[2]))
    first = folder / f"{identity}.jsonl"
    return [path for path in (first, *resumed) if path.exists()]


def next_attempt(folder: Path, identity: str) -> Path:
    """Where the next run of this launch puts its record."""
    done = attempts(folder, identity)
    return folder / (f"{identity}.r{len(done)}.jsonl" if done else f"{identity}.jsonl")


def finished(folder: Path, identity: str, ranks: int) -> set[str]:
    """The keys of the points of this launch that every rank has finished, in one and the same attempt."""
    done: set[str] = set()
    for path in attempts(folder, identity):
        ok: dict[str, set[int]] = {}
        for line in read(path).points:
            if line["status"] == "ok":
                ok.setdefault(key(line["point"]), set()).add(line["rank"])
        done |= {point for point, seen in ok.items() if len(seen) >= ranks}
    return done


def skipped(folder: Path, identity: str) -> set[str]:
    """The keys of the points of this launch that cannot be measured here at all."""
    lines = [line for path in attempts(folder, identity) for line in read(path).points]
    return {key(line["point"]) for line in lines if line["status"] == "skipped"}


def failure(folder: Path, identity: str) -> str:
    """Why a run of this launch failed, the first that did, behind its last point too; empty where none did. What a job
    did not come to, or was told to stop, is no failure of the launch."""
    for record in map(read, attempts(folder, identity)):
        for line in [*record.points, record.end or {}]:
            why = str(line.get("reason") or line.get("status", ""))
            if line.get("status") in FAILURES and not why.startswith(NOT_RUN):
                return why
    return ""


def unmeasured(point: dict[str, Any], status: str, reason: str) -> dict[str, Any]:
    """The line of a point that has no samples, and why."""
    return {"point": point, "rank": 0, "status": status, "reason": reason, "samples": {}}


def empty_header(context: dict[str, Any], arguments: list[str], start_time: str) -> dict[str, Any]:
    """The header of a launch that never wrote its own."""
    return {
        "schema": SCHEMA_VERSION,
        "context": context,
        "workload": {"name": None, "version": None},
        "quantities": {},
        "arguments": arguments,
        "mpi_library": None,
        "thread_level": None,
        "world_size": None,
        "ranks": [],
        "start_time": start_time,
    }


def not_run(context: dict[str, Any], points: list[dict[str, Any]], status: str, reason: str, time: str) -> RecordFile:
    """The record of a launch that was not even tried."""
    return RecordFile(
        header=empty_header(context, [], time),
        points=[unmeasured(point, status, reason) for point in points],
        end={"status": status, "reason": reason, "ranks": [], "elapsed_s": 0.0},
    )


PROBE_BYTES = 1 << 16  # larger than what a nearly full disk may still have in a block


@dataclass(frozen=True)
class Folders:
    """The folders of one session."""

    session: Path

    @property
    def records(self) -> Path:
        return self.session / "records"

    @property
    def calibration(self) -> Path:
        return self.session / "calibration"

    @property
    def logs(self) -> Path:
        return self.session / "logs"

    @property
    def nodes(self) -> Path:
        return self.session / "nodes"

    @property
    def scratch(self) -> Path:
        return self.session / "scratch"

    @property
    def progress(self) -> Path:
        """The fifo by which its jobs say how far they are."""
        return self.session / "progress.fifo"

    @property
    def profiles(self) -> Path:
        """Of the processes of a program that is profiled; there only where one was."""
        return self.session / "profiles"

    def make(self) -> None:
        for folder in (self.records, self.calibration, self.logs, self.nodes, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)


def trouble(session: Path) -> str:
    """Why this session does not take records any more, as the system calls it; empty if it does."""
    probe = Folders(session).records / f".probe.{os.getpid()}"
    try:
        with probe.open("wb") as stream:
            stream.write(bytes(PROBE_BYTES))
            os.fsync(stream.fileno())
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
    return ""


# What ReFrame's own database and reports get of a job: one performance variable a variant and point.
#
# A record's header says which of its quantities leads, and in what unit it is; the value is the median of the launches'
# medians on rank 0.


def performance_name(variant: str, point: dict[str, Any]) -> str:
    """As in adaptive/pattern=both/size_bytes=4194304: every axis of the point, since points differ in any of them.

    ReFrame itself cuts a name at a colon, and its tables are split at a bar.
    """
    axes = [f"{axis}={value}" for axis, value in point.items() if axis not in DERIVED]
    return "/".join([variant.replace(":", "+"), *axes])


def performance(files: Iterable[Path]) -> dict[str, tuple[float, str]]:
    """Of these record files: the name of each performance variable, its value and its unit."""
    medians: dict[tuple[str, str], list[float]] = {}
    for file in files:
        record = read(file)
        header = record.header or {}
        for quantity, declared in header.get("quantities", {}).items():
            if declared["leading"]:
                for name, value in _medians(header["context"]["variant"], quantity, record.points):
                    medians.setdefault((name, declared["unit"]), []).append(value)
    return {name: (statistics.median(values), unit) for (name, unit), values in medians.items()}


def _medians(variant: str, quantity: str, lines: list[dict[str, Any]]) -> Iterable[tuple[str, float]]:
    for line in lines:
        if line["status"] != "ok" or line["rank"] != 0:
            continue
        if samples := line["samples"].get(quantity):
            armed = line["samples"].get("armed", [])  # of its engine paused by turns it is what is with the engine
            kept = [value for value, on in zip(samples, armed, strict=True) if on] if len(armed) == len(samples) else []
            yield performance_name(variant, line["point"]), statistics.median(kept or samples)
        elif histogram := line.get("histograms", {}).get(quantity):  # in place of very many samples
            yield performance_name(variant, line["point"]), histogram["quantiles"]["0.5"]
