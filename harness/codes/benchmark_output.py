# SPDX-License-Identifier: BSD-3-Clause
"""The outputs that are tables: OSU Micro-Benchmarks 5 to 7, Intel MPI Benchmarks 2019 to 2021; IMB-ASYNC and
mpi-progress, which print a line for each row.

Columns are read by their names, which differ with a program's options, never by their places.
"""

from __future__ import annotations

import re

from harness.codes.output import (
    LONGEST,
    MB,
    PERCENT,
    US,
    Column,
    Damaged,
    Output,
    Row,
    Value,
    amount,
    count,
    number,
    positive,
    whole_lines,
)

OSU_COLUMNS = {
    "Latency (us)": Column("latency_s", US),
    "Avg Latency(us)": Column("latency_s", US),
    "Bandwidth (MB/s)": Column("bytes_per_s", MB),
    "Messages/s": Column("messages_per_s"),
    "Overall(us)": Column("overall_s", US),
    "Compute(us)": Column("compute_s", US),
    "Coll. Init(us)": Column("init_s", US),
    "MPI_Test(us)": Column("test_s", US),
    "MPI_Wait(us)": Column("wait_s", US),
    "Pure Comm.(us)": Column("pure_s", US),
    "Min Comm.(us)": Column("shortest_pure_s", US),
    "Max Comm.(us)": Column("longest_pure_s", US),
    "Overlap(%)": Column("overlap", PERCENT),
    "P50 Tail Lat(us)": Column("p50_latency_s", US),
    "P90 Tail Lat(us)": Column("p90_latency_s", US),
    "P99 Tail Lat(us)": Column("p99_latency_s", US),
}
VALIDATION = "Validation"
_OSU_TITLE = re.compile(r"^# OSU (?:MPI )?(.+?) Test(?: v(\S+))?\s*$", re.MULTILINE)

IMB_COLUMNS = {
    "t[usec]": Column("latency_s", US),
    "t_min[usec]": Column("shortest_s", US),
    "t_max[usec]": Column("longest_s", US),
    "t_avg[usec]": Column("latency_s", US),
    "t_ovrl[usec]": Column("overall_s", US),
    "t_pure[usec]": Column("pure_s", US),
    "t_CPU[usec]": Column("compute_s", US),
    "overlap[%]": Column("overlap", PERCENT),
    "Mbytes/sec": Column("bytes_per_s", MB),
    "Msg/sec": Column("messages_per_s"),
}
IMB_FAILED = ("out-of-mem.", "time-out.", "int-overflow.", "int-overflow")
IMB_END = "# All processes entering MPI_Finalize"
_IMB_TITLE = re.compile(r"^# Benchmarking (\S+)")
_IMB_PROCESSES = re.compile(r"^# #processes = (\d+)")
_IMB_WAITING = re.compile(r"^# \( *(\d+) additional processes")
_IMB_MODE = re.compile(r"^#\s+MODE: (\S+)")
_IMB_HEAD = ("#bytes", "#repetitions")
_IMB_WITHOUT_END = "MT part"


def osu(text: str) -> Output:
    """A program of the OSU Micro-Benchmarks.

    It prints no last line: what sizes are lacking, the points that were asked for say.
    """
    title = _OSU_TITLE.search(text)
    if title is None:
        raise Damaged("it has no title of the OSU Micro-Benchmarks")
    if "DATA VALIDATION ERROR" in text:
        raise Damaged("its own validation found wrong data")
    whole_lines(text)
    columns: list[str] = []
    rows = []
    for line in text[title.end() :].splitlines():
        if line.startswith("# Size"):
            columns = re.split(r"\s{2,}", line.removeprefix("#").strip())
        elif line.strip() and not line.startswith("#"):
            rows.append(_osu_row(title[1], columns, line))
    if not rows:
        raise Damaged("it has no line of results")
    return Output(rows)


def osu_validated(text: str) -> Output:
    """The same of a program that was told to validate its data (-c): what has no column of that did not."""
    found = osu(text)
    if not all(VALIDATION in line.split() for line in text.splitlines() if line.startswith("# Size")):
        raise Damaged("it has not validated its data")
    return found


def _osu_row(benchmark: str, columns: list[str], line: str) -> Row:
    words = line.split()
    if not columns or len(words) != len(columns) or not words[0].isdigit():
        raise Damaged(f"a line has not the columns {', '.join(columns) or 'of any head'}: '{line.strip()[:LONGEST]}'")
    values = dict(zip(columns, words, strict=True))
    if (said := values.get(VALIDATION, "Pass")) != "Pass":
        raise Damaged(f"its own validation says {said} of messages of {words[0]} bytes")
    known = {column: values[column] for column in columns if column in OSU_COLUMNS}
    samples = {
        OSU_COLUMNS[name].quantity: OSU_COLUMNS[name].factor * amount(value, name) for name, value in known.items()
    }
    if not samples:
        raise Damaged(f"no column of {', '.join(columns)} is known")
    return Row({"benchmark": benchmark, "size_bytes": count(words[0], "Size")}, samples)


def imb(text: str) -> Output:
    """A program of the Intel MPI Benchmarks: every benchmark that it ran, at every size.

    A size that it gave up has a row that says so; the larger ones are then not run.
    """
    heads: dict[str, Value] = {}
    columns: list[str] = []
    rows = []
    ran = running = 0
    for line in text.splitlines():
        words = line.split()
        if found := _IMB_TITLE.match(line):
            heads, columns = {"benchmark": found[1]}, []
        elif found := _IMB_PROCESSES.match(line):
            heads["processes"] = running = count(found[1], "#processes")
            ran = max(ran, running)
        elif found := _IMB_WAITING.match(line):
            ran = max(ran, running + count(found[1], "additional processes"))
        elif found := _IMB_MODE.match(line):
            heads["mode"] = found[1]
        elif words and words[0] in _IMB_HEAD:
            columns = words
        elif words and columns and not line.startswith("#"):
            rows.append(_imb_row(heads, columns, words))
    if IMB_END not in text and _IMB_WITHOUT_END not in text:
        raise Damaged("it ends before its last line")
    whole_lines(text)
    if not rows:
        raise Damaged("it has no line of results")
    return Output(rows, processes=ran)


def _imb_row(heads: dict[str, Value], columns: list[str], words: list[str]) -> Row:
    values = dict(zip(columns, words, strict=False))
    point = dict(heads)
    if "#bytes" in values:
        point |= {"size_bytes": count(values["#bytes"], "#bytes")}
    if failed := next((word for word in words if word.rstrip(";") in IMB_FAILED), ""):
        return Row(point, {}, f"it says '{failed.rstrip(';')}'")
    if len(words) != len(columns):
        raise Damaged(f"a line has not the columns {', '.join(columns)}: '{' '.join(words)[:LONGEST]}'")
    if number(values.get("defects", "0"), "defects") > 0:
        raise Damaged(f"its own check found {values['defects']} defects in {point.get('benchmark', 'one of its own')}")
    known = [name for name in columns if name in IMB_COLUMNS]
    return Row(point, {IMB_COLUMNS[n].quantity: IMB_COLUMNS[n].factor * amount(values[n], n) for n in known})


_ASYNC = re.compile(
    r"^(a?sync)_(\w+): \{ len: (\S+), "
    r'(?: error: "(.*)"|ncycles: \S+,  time: \[ (\S+), .*, overhead: \[ (\S+) , .*\]) \}$',
    re.MULTILINE,
)


def imb_async(text: str) -> Output:
    """IMB-ASYNC, whose counts are of bytes: `async_X` with the time of a whole cycle, and how much of it was not
    computation; with the time of `sync_X`, where that was run before."""
    whole_lines(text)
    rows, pure = [], {}
    for kind, name, size, error, time, exposed in _ASYNC.findall(text):
        point: dict[str, Value] = {"benchmark": name, "size_bytes": count(size, "len")}
        if error:
            rows.append(Row(point, {}, f"it says '{error}'"))
            continue
        overall = positive(time, "time")
        if kind == "sync":
            pure[name, size] = overall
            continue
        left = amount(exposed, "overhead")
        if left > overall:
            raise Damaged(f"the overhead of {name} is longer than its time")
        samples = {"overall_s": overall, "exposed_s": left, "compute_s": overall - left}
        rows.append(Row(point, samples | ({"pure_s": pure[name, size]} if (name, size) in pure else {})))
    if not rows:
        raise Damaged("it has no line of results")
    return Output(rows)


_PROGRESS = re.compile(r"^Time for (\S+) times (\w+) on (.+) with (\w+) lock: (\S+)us \(.*us avg\)$", re.MULTILINE)
_PROGRESS_LAST = "sendrecv_twoway"
_PROGRESS_TYPE = "MPI_UINT64_T"


def mpi_progress(text: str) -> Output:
    """devreal/mpi-progress: what an operation on the window of another took on average. Of its two datatypes the larger
    counts; what it did on its own window stands in other lines."""
    whole_lines(text)
    found = _PROGRESS.findall(text)
    if not any(name == _PROGRESS_LAST for _, name, *_ in found):
        raise Damaged("it ends before its last benchmark")
    rows = []
    for times, name, datatype, lock, whole in found:
        often, time = positive(times, f"how often {name}"), positive(whole, f"time of {name}")
        if datatype == _PROGRESS_TYPE and not name.endswith("_large"):  # of which it says another number than it does
            rows.append(Row({"benchmark": name, "lock": lock}, {"latency_s": US * time / often}))
    if not rows:
        raise Damaged("it has no line of results")
    return Output(rows)
