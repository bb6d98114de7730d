# SPDX-License-Identifier: BSD-3-Clause
"""What shows that the values of a winner acted: the engine says in each record with which settings it ran, and of the
MPI's variables it was asked before the race (harness.job.read_back). And whether a value's own share of the gain was
measured: several that were found together may owe it to one of them."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.tuning.asked import ENGINE_ALONE, MPI_ALONE, TUNED
from analysis.tuning.measured import Measured

NO_SHARE = "; its own share of the gain was not measured"


def of(found: Measured, values: Mapping[str, str], taken: Mapping[str, tuple[bool, str]]) -> dict[str, str]:
    """Setting -> what shows that it acted where it was measured afresh. `taken`: variable of the MPI -> whether it was
    taken, and what shows that."""
    shown = {name: taken[name][1] if name in taken else _reported(name, found) for name in values}
    return {name: f"{why}{'' if _alone(name, found, values) else NO_SHARE}" for name, why in shown.items()}


def _alone(name: str, found: Measured, values: Mapping[str, str]) -> bool:
    """Whether a value was measured afresh without any other of the winner."""
    of_mpi = {axis.name for axis in found.asked.space if axis.of_mpi}
    beside = [other for other in values if (other in of_mpi) == (name in of_mpi)]
    arm = MPI_ALONE if name in of_mpi else ENGINE_ALONE
    return len(values) == 1 or (len(beside) == 1 and bool(found.scores.get(arm)))


def _reported(name: str, found: Measured) -> str:
    """What the engine says of its setting in the winner's fresh launches."""
    said = [_word(report[name]) for report in found.engine.get(TUNED, []) if name in report]
    if not said:
        return "no report of the engine names it"
    return f"the engine's reports, {len(said)} processes of fresh launches: {' and '.join(sorted(set(said)))}"


def _word(value: object) -> str:
    """As it is written in a file of settings."""
    return str(value).lower() if isinstance(value, bool) else str(value)
