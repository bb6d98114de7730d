# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's own count of a launch's energy: of the step that the launch was, where its ranks could read no counter.

The ranks' counters come first: they begin and end with what is measured, and a step's with its start. Slurm is asked by
sacct once the launch has ended and its record is in its place. (sstat needs no database, but knows a step only while it
runs, and so not all that it used.) In a job in which it did not answer once it is asked no more.
"""

from __future__ import annotations

import functools
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base import process
from harness.job import records

LIMIT_S = 10.0  # of each command
PAUSES_S = (0.2, 0.4, 0.8, 1.6, 3.2)  # a step's end comes to the database a moment after its launch's
SHORTEST_S = 4.0  # Slurm knows whole seconds: shorter launches cannot be told from what was started before and after
NO_VAL = 4294967294  # Slurm's number for nothing, of 32 bits; that of 64 bits and sums of several are larger
UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
# job.step alone: not the job, nor its script (.batch) or what Slurm itself runs in it (.extern).
LINE = re.compile(r"^(\d+\.\d+)\|(\d+)\|(\d+)\|(\d+)\|(.*)$", re.MULTILINE)
FIELDS = "JobIDRaw,Start,End,NNodes,ConsumedEnergyRaw"


@dataclass(frozen=True)
class Step:
    """A step that has ended. `joules` None: nothing was counted."""

    name: str
    start: int
    seconds: int
    nodes: int
    joules: float | None


def ended_steps(text: str) -> list[Step]:
    """Those in the lines of sacct. What still runs has `Unknown` for its end."""
    return [
        Step(name, int(start), int(end) - int(start), int(nodes), joules(said, int(nodes)))
        for name, start, end, nodes, said in LINE.findall(text)
    ]


def joules(said: str, nodes: int) -> float | None:
    """What sacct says of a step; None where that is nothing: no text, 0, NO_VAL, or of each node 1, as which
    acct_gather_energy/rapl counts a register that stands still."""
    number = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)", said)
    counted = float(number[1]) * UNITS[number[2]] if number else 0.0
    return counted if nodes < counted < NO_VAL else None


class SlurmEnergy:
    """Of the launches of the Slurm job in which this process is, if it is in one."""

    def __init__(self) -> None:
        self._job = os.environ.get("SLURM_JOB_ID", "")
        self._why_not = ""  # it is asked no more

    def add(self, path: Path, began: float, seconds: float, nodes: int) -> None:
        """Complete the record of a launch that ended well. `began`: by time.time(); `nodes` 0: not known before."""
        record = records.read(path)
        if not self._job or record.end is None:
            return
        sources = {energy.get("source") for rank in record.end["ranks"] if (energy := rank.get("energy"))}
        if len(sources) == 1 and None not in sources:  # what could not be read has none
            return
        record.end["energy"] = self._of(began, seconds, nodes)
        records.write(path, record)

    def _of(self, began: float, seconds: float, nodes: int) -> dict[str, Any]:
        """As `energy` of the end line of the record schema."""
        plugin = self._plugin
        if not self._why_not and seconds < SHORTEST_S:
            return {"unread": f"a launch of less than {SHORTEST_S:g} s is too short"}
        step = None if self._why_not else self._step(began, seconds)
        if step is None:
            return {"unread": self._why_not}
        if nodes not in (0, step.nodes):
            why = "mpirun leaves its own out, srun does not"
            return {"unread": f"step {step.name} was on {step.nodes} nodes, its launch on {nodes}: {why}"}
        if step.joules is None:
            return {"unread": f"it counted nothing for step {step.name}"}
        return {"plugin": plugin, "step": step.name, "nodes": step.nodes, "joules": step.joules}

    @functools.cached_property
    def _plugin(self) -> str:
        """Who counts energy here. Asked once a job, and only if it is to be known."""
        said = process.answer(["scontrol", "show", "config"], LIMIT_S)
        found = re.search(r"^AcctGatherEnergyType\s*=\s*(\S+)", said.out, re.MULTILINE)
        name = found[1].replace("acct_gather_energy/", "") if found else "none"
        if said.status != 0:
            self._why_not = f"scontrol: {said.last_line or 'it failed'}"
        elif name in ("none", "(null)"):
            self._why_not = "AcctGatherEnergyType is none"
        return name

    def _step(self, began: float, seconds: float) -> Step | None:
        """The step that the launch was: it lasted about as long, and began at about the same time."""
        ask = ["sacct", "--noheader", "--parsable2", f"--jobs={self._job}", f"--format={FIELDS}"]
        least = 0.75 * seconds - 1  # starting takes a moment, also before the step begins
        for pause in (*PAUSES_S, 0.0):
            said = process.answer(ask, LIMIT_S, {**os.environ, "SLURM_TIME_FORMAT": "%s"})
            if said.status != 0:
                self._why_not = f"sacct: {said.last_line or 'it failed'}"
                return None
            for step in ended_steps(said.out):
                # one that lasted so long before the launch began earlier, though clocks may differ by some
                if step.seconds >= least and step.start >= began - least / 2:
                    return step
            time.sleep(pause)
        self._why_not = f"sacct knows no step of job {self._job} that lasted as long as a launch"
        return None
