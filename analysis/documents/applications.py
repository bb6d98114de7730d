# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of applications measured, as the tables that their papers print: P7, R3, F4, G1 and G5; NPB with
overlap; and one rank beside the originals.

.venv/bin/python -m analysis.documents.applications results/latest
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

from analysis.documents.kernels import nas, npb_overlap
from analysis.documents.serial import serial_rates
from analysis.documents.whole import print_of, whole
from analysis.evidence import SETTING, Evidence, Where, matching
from analysis.figures.plot import plain_words
from analysis.figures.style import STYLES
from analysis.figures.summary import summary
from analysis.records import frames
from analysis.text_table import markdown
from analysis.words import in_order, mpi_title, seconds_text

HEAD = """# Applications

Medians of the launches' medians on the rank where each is largest, in brackets their interval.
"""
NONE = "–"
# of a solve, in words, and whether those are meant that wait for who comes late before each reduction
CALLS = (
    ("irecv", "Irecv", False),
    ("send", "Send or Isend", False),
    ("wait", "Waitall of the halo", False),
    ("allreduce", "Allreduce or its start", False),
    ("allreduce_wait", "Wait of Iallreduce", False),
    ("barrier", "Barrier before each Allreduce, where there is one", True),
    ("allreduce", "Allreduce after it", True),
    ("outside", "outside of MPI calls", False),
)
SOLVES = ("blocking", "overlapped", "pipelined")
WAYS = ("blocking", "nonblocking", "direct", "overlapped")
FFT = "fft"
TRANSFORM = {"fields": 3, "field": "complex"}  # what the program transforms where a point does not say it
Lines = list[str]


def time_text(row: pd.Series, times: float = 1.0) -> str:
    """A duration with its interval; `times`: what it is multiplied by."""
    value, low, high = (times * float(row[name]) for name in ("value", "low", "high"))
    return f"{seconds_text(value)} [{seconds_text(low)}, {seconds_text(high)}]"


def _cell(frame: pd.DataFrame, where: Where, say: Callable[[pd.Series], str]) -> str:
    """What the one row says that is meant; a dash where there is none, or no value."""
    mine = matching(frame[frame["value"].notna()], where)
    return say(mine.iloc[0]) if len(mine) else NONE


def _number(row: pd.Series) -> str:
    return f"{row['value']:.0f}"


def _a_step(row: pd.Series) -> str:
    return time_text(row, 1 / float(row["steps"]))


def _of_a_step(row: pd.Series) -> str:
    return f"{row['value'] / float(row['steps']):g}"


def _parts(
    evidence: Evidence, study: str, quantity: str, *parameters: str, usual: Where | None = None
) -> Iterator[tuple[str, Where, Any]]:
    """Each session, system, MPI and value of the parameters that the study was measured at: its title, what its rows
    have, and those of the quantity. `usual`: more parameters, with the value of rows that have none; a title has those
    that have several values in its session."""
    frame = _with(summary(evidence, study, quantity), usual or {})
    if not len(frame) or not frame["value"].notna().any():
        return
    always = [name for name in parameters if name in frame]
    names = [*SETTING, *always, *(usual or {})]
    for keys, part in frames.groups(frame, names):
        here = dict(zip(names, keys, strict=True))
        session = frame[frame["session"] == here["session"]]
        said = [name for name in names[3:] if name in always or session[name].nunique() > 1]
        words = [mpi_title(str(here["mpi"])), str(here["system"]), f"ranks {_ranks(evidence, study, here)}"]
        words += [f"{name} {plain_words(here[name], name)}" for name in said]
        yield ", ".join(words), here, part


def _with(frame: pd.DataFrame, usual: Where) -> pd.DataFrame:
    """The frame, with what its rows do not say of these parameters."""
    return frame.assign(**{name: frame[name].fillna(value) if name in frame else value
                           for name, value in usual.items()})  # fmt: skip


def _ranks(evidence: Evidence, study: str, here: Where) -> int:
    launches = evidence.records.launches
    mine = matching(launches[launches["study"] == study], {name: here[name] for name in SETTING})
    return int(mine["world_size"].max())


def _columns(part: pd.DataFrame, parameter: str, order: Sequence[str]) -> list[tuple[str, str]]:
    """(a value of the parameter, a variant), where there are any."""
    there = set(zip(part[parameter], part["variant"], strict=True))
    variants = in_order(part["variant"], STYLES)
    return [(name, variant) for name in in_order(part[parameter], order) for variant in variants
            if (name, variant) in there]  # fmt: skip


def minife_calls(evidence: Evidence) -> Lines:
    """G1: time, and packets in and out, of each MPI call and outside of all of them."""
    lines: Lines = []
    study = "minife-packets"
    found: dict[str, pd.DataFrame] = {}

    def of(quantity: str, here: Where, more: Where, say: Callable[[pd.Series], str]) -> str:
        if quantity not in found:
            found[quantity] = summary(evidence, study, quantity)
        return _cell(found[quantity], {**here, **more}, say)

    for title, here, part in _parts(evidence, study, "elapsed_s", "nx"):
        columns = _columns(part, "mode", SOLVES)
        rows = []
        for call, words, barrier in CALLS:
            row = [words]
            for mode, variant in columns:
                which = {"mode": mode, "variant": variant}
                timed = {**which, "packets": False, "barrier": barrier}
                time = of("comp_s" if call == "outside" else f"{call}_s", here, timed, time_text)
                packets = [
                    of(f"{call}_packets_{way}", here, {**which, "packets": True, "barrier": barrier}, _number)
                    for way in ("in", "out")
                ]
                row.append(f"{time}; {' in, '.join(packets)} out" if set(packets) != {NONE} else time)
            if set(row[1:]) != {NONE}:
                rows.append(row)
        whole = {"packets": False, "barrier": False}
        rows.append(["a solve", *(of("elapsed_s", here, {"mode": mode, "variant": variant, **whole}, time_text)
                                  for mode, variant in columns)])  # fmt: skip
        heads = [f"{mode}, {variant}" for mode, variant in columns]
        lines += [f"### {title}", "", *markdown(["time; packets", *heads], rows), ""]
    return ["## G1: miniFE, by MPI call", "", *lines] if lines else []


def minife_threads(evidence: Evidence) -> Lines:
    """F4: time in communication and of a solve, by kind of thread and variant, a row an MPI."""
    study = "minife-threads"
    solves = summary(evidence, study, "elapsed_s")
    rows, columns = [], []
    parts = list(_parts(evidence, study, "comm_s", "nx"))
    for _, _, part in parts:
        columns += [pair for pair in _columns(part, "threading", ("kernel", "ult")) if pair not in columns]
    for title, here, part in parts:
        row = [title]
        for threading, variant in columns:
            which = {"threading": threading, "variant": variant}
            communication = _cell(part, which, time_text)
            solve = _cell(solves, {**here, **which}, lambda x: seconds_text(x["value"]))
            row.append(communication if communication == NONE else f"{communication} of {solve}")
        rows.append(row)
    heads = [f"{threading}, {variant}" for threading, variant in columns]
    return ["## F4: miniFE, a thread a neighbour: communication of a solve", "",
            *markdown(["MPI", *heads], rows), ""] if rows else []  # fmt: skip


def minighost_ways(evidence: Evidence) -> Lines:
    """G5: time of a step for the four ways to exchange halos, both stencils."""
    study = "minighost-nonblocking"
    lines: Lines = []
    messages = summary(evidence, study, "messages")
    for title, here, part in _parts(evidence, study, "elapsed_s", "nx"):
        variants = in_order(part["variant"], STYLES)
        rows = []
        for stencil in sorted(part["stencil"].unique()):
            for way in in_order(part["mode"], WAYS):
                which = {"stencil": stencil, "mode": way}
                times = [_cell(part, {**which, "variant": variant}, _a_step) for variant in variants]
                sent = _cell(messages, {**here, **which, "variant": variants[0]}, _of_a_step)
                rows.append([f"{stencil:g}", way, sent, *times])
        lines += [f"### {title}", "", *markdown(["stencil", "exchange", "messages a rank", *variants], rows), ""]
    return ["## G5: miniGhost, a step by way of exchange", "", *lines] if lines else []


def fft_transposes(evidence: Evidence) -> Lines:
    """R3: blocking and bare, and what perfect overlap would leave of it, against the best that hides its transposes.

    That one against the best that blocks on any MPI, with a progress thread of the MPI's own or without. Only
    transforms of as many fields, all of them complex or real, are compared; into how many chunks they are cut is free.
    """
    rows = []
    for title, here, part in _parts(evidence, FFT, "elapsed_s", "nx", usual=TRANSFORM):
        bare = {"mode": "blocking", "variant": "bare"}
        base = matching(part, bare)
        hiding = part[(part["variant"] == "adaptive") & (part["mode"] != "blocking") & part["value"].notna()]
        if not base["value"].notna().any() or not len(hiding):
            continue
        whole = base.iloc[0]
        comp, comm = (
            float(matching(_transforms(evidence, name), {**here, **bare})["value"].iloc[0])
            for name in ("comp_s", "comm_s")
        )
        best, rival = _least(hiding), _least(_rivals(evidence, here))
        whose = f"{mpi_title(rival['mpi'])}, {rival['variant']}: {seconds_text(rival['value'])}"
        rows.append([
            title, time_text(whole), f"{comp / comm:.2f}" if comm else NONE, f"{best['mode']}: {time_text(best)}",
            f"{best['value'] / whole['value']:.2f}", f"{max(comp, comm) / whole['value']:.2f}", whose,
            f"{best['value'] / rival['value']:.2f}",
        ])  # fmt: skip
    columns = ["MPI", "blocking, bare", "comp/comm", "best with adaptive", "ratio", "with perfect overlap",
               "best blocking of all MPIs", "ratio"]  # fmt: skip
    return ["## R3: 3D FFT", "", *markdown(columns, rows), ""] if rows else []


def _transforms(evidence: Evidence, quantity: str) -> pd.DataFrame:
    return _with(summary(evidence, FFT, quantity), TRANSFORM)


def _rivals(evidence: Evidence, here: Where) -> pd.DataFrame:
    """What blocks, on any MPI of the same session and system, without the engine."""
    anywhere = {name: value for name, value in here.items() if name != "mpi"} | {"mode": "blocking"}
    found = matching(_transforms(evidence, "elapsed_s"), anywhere)
    return found[found["variant"].isin(["bare", "mpi-async"]) & found["value"].notna()]


def _least(frame: pd.DataFrame) -> pd.Series:
    return frame.iloc[int(frame["value"].argmin())]


TABLES = (serial_rates, nas, npb_overlap, fft_transposes, minife_threads, minife_calls, minighost_ways)


def document(evidence: Evidence) -> str:
    """All tables as Markdown, with where the numbers are from."""
    lines = [line for table in TABLES for line in table(evidence)]
    return whole(HEAD, lines, evidence)


def main(sessions: Sequence[str]) -> int:
    """Print the tables of these session folders."""
    return print_of(document, sessions)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
