# SPDX-License-Identifier: BSD-3-Clause
"""How what was measured is said in words: MPIs, sizes, times, numbers, points. Sentences, tables and figures agree."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from analysis.records.load import CALIBRATED
from harness.base import validate

MPI_TITLES = {
    "mpich": "MPICH",
    "openmpi": "Open MPI",
    "intel-mpi": "Intel MPI",
    "debian-mpich": "MPICH (Debian)",
    "debian-openmpi": "Open MPI (Debian)",
}
MPI_ORDER = list(MPI_TITLES)

bytes_text = validate.bytes_text


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """The names, without repetition: those of `order` first and in its order, then the others as they come."""
    known = list(order)
    unique = list(dict.fromkeys(names))
    return sorted(unique, key=lambda name: known.index(name) if name in known else len(known))


def mpi_title(mpi: str) -> str:
    return MPI_TITLES.get(mpi, mpi)


def points_text(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"


def plain(value: float, digits: int = 2) -> str:
    """0.93, −0.20; never −0.00."""
    shown = f"{value:.{digits}f}"
    return shown.lstrip("-") if float(shown) == 0 else shown.replace("-", "−")


def seconds_text(seconds: float) -> str:
    """0.0005 -> '500 µs'."""
    if seconds == 0:
        return "0"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def added_text(value: float, low: float, high: float) -> str:
    """Seconds added to what perfect overlap takes, with their interval: 'adds 62 µs (60 µs to 65 µs)'."""
    return f"adds {seconds_text(value)} ({seconds_text(low)} to {seconds_text(high)})".replace("-", "−")


def interval_text(value: float, low: float, high: float) -> str:
    """A ratio with its interval as it stands in a table: '0.932 (0.910 to 0.951)'; "–" for one that is not there."""
    return "–" if math.isnan(value) else f"{value:.3f} ({low:.3f} to {high:.3f})"


def change_text(value: float, low: float, high: float, note: str = "") -> str:
    """A ratio of times with its interval, for people: "43 % shorter (41 to 45 %)", or
    "no difference shown (10 % shorter to 7 % longer)".

    It is called shorter or longer only where the whole interval is on that side of 1. `note` follows in the brackets.
    """
    by, least, most = (100 * (number - 1) for number in (value, low, high))
    if most < 0:
        return f"{_percent(-by)} % shorter ({_percent(-most)} to {_percent(-least)} %{note})"
    if least > 0:
        return f"{_percent(by)} % longer ({_percent(least)} to {_percent(most)} %{note})"
    return f"no difference shown ({_percent(0 - least)} % shorter to {_percent(most)} % longer{note})"


def _percent(value: float) -> str:
    return plain(value, 0 if abs(value) >= 1 else 1)


PARAMETERS: dict[str, Callable[[Any], str]] = {
    "pattern": str,
    "size_bytes": bytes_text,
    "comp_over_comm": "{:g}".format,
    "comp_s": seconds_text,
}
LABELS = {"comp_over_comm": "comp/comm ", "comp_s": "comp "}


def text(value: Any, digits: int = 2) -> str:
    """A number as it stands in a table; nothing for None and NaN."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    return plain(value, digits) if isinstance(value, float) else str(value)


def point_words(point: str) -> str:
    """A point, given as JSON, for people: 'both, 4 MB, comp/comm 1, period_us 10'.

    Every parameter is there but the calibrated ones, so that two points never have the same words.
    """
    parameters = json.loads(point)
    known = [name for name in PARAMETERS if parameters.get(name) is not None]
    others = [name for name in parameters if name not in known and name not in CALIBRATED]
    words = [f"{LABELS.get(name, '')}{PARAMETERS[name](parameters[name])}" for name in known]
    return ", ".join([*words, *(f"{name} {parameters[name]}" for name in others)])
