# SPDX-License-Identifier: BSD-3-Clause
"""SPEC MPI2007, which is licensed: a copy of the user's own is built and run, and its result files are read.

What is measured so is an estimate in SPEC's words: it is no compliant run, and must be called that.
"""

from __future__ import annotations

import csv
import re

from harness.codes.code import LEADING_TIME, RANKS, Case, Code
from harness.codes.output import Damaged, Output, Row, Value, positive

MEDIUM = (
    "104.milc", "107.leslie3d", "113.GemsFDTD", "115.fds4", "121.pop2", "122.tachyon", "126.lammps", "127.wrf2",
    "128.GAPgeofem", "129.tera_tf", "130.socorro", "132.zeusmp2", "137.lu",
)  # fmt: skip
LARGE = (
    "121.pop2", "122.tachyon", "125.RAxML", "126.lammps", "128.GAPgeofem", "129.tera_tf", "132.zeusmp2", "137.lu",
    "142.dmilc", "143.dleslie", "145.lGemsFDTD", "147.l2wrf2",
)  # fmt: skip
SIZES = ("mtest", "mtrain", "mref", "ltest", "ltrain", "lref")
GOOD = "S"

BEGIN = re.compile(r"^overlap-bench: SPEC MPI2007 (\w+), an estimate: (\S+)$", re.MULTILINE)
_RAW = re.compile(r"^spec\.mpi2007\.results\.(\w+)\.base\.(\d+)\.(\w+):[ \t]*(.*)$", re.MULTILINE)
_TABLE, _NAME = "Full Results Table", "Benchmark"
ESTIMATED = "Est. "  # what newer tools of SPEC's put before the columns of a run that is not compliant
_WORDS = {
    "CE": "it was not built", "RE": "it failed", "VE": "its own verification says that its results are wrong",
    "NR": "it was not run", "NC": "it did not come to its end", "MR": "its parts were run by halves",
}  # fmt: skip


def results(text: str) -> Output:
    """The result files as the driver prints them, raw or CSV: of each a row for each of the suite's codes."""
    _, *parts = BEGIN.split(text)
    if not parts:
        raise Damaged("its runspec left no result file")
    rows: list[Row] = []
    for size, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        of_file = _of_csv(body, size) if name.endswith(".csv") else _of_raw(body, size)
        if not of_file:
            raise Damaged(f"its result file {name} has no results")
        rows += of_file
    return Output(rows)


def _of_raw(text: str, size: str) -> list[Row]:
    fields: dict[tuple[str, str], dict[str, str]] = {}
    for code, iteration, field, value in _RAW.findall(text):
        fields.setdefault((code, iteration), {})[field] = value.strip()
    rows = {}
    for (code, _), found in sorted(fields.items()):  # of several iterations the last
        name = found.get("benchmark") or code.replace("_", ".", 1)
        rows[name] = _row(name, size, found.get("valid", ""), found.get("reported_time", ""), found.get("errors", ""))
    return list(rows.values())


def _of_csv(text: str, size: str) -> list[Row]:
    lines = list(csv.reader(text.splitlines()))
    start = next((index for index, line in enumerate(lines) if line and line[0].endswith(_TABLE)), None)
    if start is None:
        raise Damaged(f"its result file has no {_TABLE}")
    heads = [index for index, line in enumerate(lines) if index > start and line and line[0] == _NAME]
    if not heads:
        raise Damaged(f"its {_TABLE} has no head")
    columns = [name.removeprefix(ESTIMATED) for name in lines[heads[0]]]
    rows = {}
    for line in lines[heads[0] + 1 :]:
        if len(line) < len(columns):
            break
        values = dict(zip(columns, line, strict=False))
        time, status = values.get("Base Run Time", ""), values.get("Base Status", "")
        if time or status:
            rows[values[_NAME]] = _row(values[_NAME], size, status, time, "")
    return list(rows.values())


def _row(name: str, size: str, verdict: str, seconds: str, errors: str) -> Row:
    point: dict[str, Value] = {"benchmark": name, "size": size}
    if verdict != GOOD:
        why = _WORDS.get(verdict, f"its result file says '{verdict}'")
        return Row(point, {}, f"{why}{f': {errors}' if errors else ''}")
    return Row(point, {"time_s": positive(seconds, f"reported time of {name}")})


def _suite(name: str, codes: tuple[str, ...]) -> Case:
    return Case(
        f"spec-mpi2007-{name}",
        f"SPEC MPI2007, {name}: an estimate, no compliant run",
        "runspec",
        ("--size={size}", f"--ranks={RANKS}", "{benchmark}"),
        results,
        {"benchmark": codes, "size": (f"{name[0]}test",)},
        {"time_s": LEADING_TIME},
        any_ranks=True,
        driver="runspec.py",
        built="benchspec/MPI2007/{benchmark}/exe/*_base.{label}",
    )


SPEC_MPI2007 = Code(
    "spec-mpi2007",
    "SPEC MPI2007",
    ("runspec",),
    variable="SPEC_MPI2007",
    cases=(_suite("medium", MEDIUM), _suite("large", LARGE)),
    note="licensed: SPEC_MPI2007, or apps in the site's file, names the folder of an installation of your own",
)
