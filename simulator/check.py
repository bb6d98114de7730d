# SPDX-License-Identifier: BSD-3-Clause
"""Predictions held against measurements: the error of each point, whether the variants come in the same order, and a
page of both.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.errors import UsageError
from analysis.records.load import Records
from analysis.tables import source
from analysis.text_table import markdown
from simulator.medians import Number, launch_medians, of_launches

Key = tuple[str, str, int, str, str]  # study, MPI, ranks, point, variant
QUANTITIES = ("total_s", "elapsed_s")  # of the benchmarks of overlap, of the applications
INTENTION = "work_units"  # follows from the rest of the point


@dataclass(frozen=True)
class Compared:
    """A point that was predicted and measured."""

    key: Key
    predicted: Number
    measured: Number

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted.value / self.measured.value - 1


@dataclass(frozen=True)
class Verdict:
    """`errors`: of an MPI, a study, so many ranks the median of the points' errors without their signs; `pairs`: of
    variants at a point whose measured intervals do not overlap, and how many the prediction has in the same order."""

    points: list[Compared]
    errors: dict[str, float]
    error: float
    pairs: int
    in_order: int
    wrong: list[str]


def totals(records: Records) -> dict[Key, Number]:
    """The total time of every point: the median of its launches, with their spread."""
    table = launch_medians(records, QUANTITIES)
    there = [name for name in QUANTITIES if name in table]
    if not there:
        raise UsageError("The sessions have no total times.")
    table = table.assign(whole=table[there].bfill(axis="columns").iloc[:, 0])
    ranks = dict(zip(records.launches["launch"], records.launches["world_size"], strict=True))
    axes = [name for name in records.parameters if name != INTENTION]
    table = table[table["whole"].notna()]
    found: dict[Key, list[float]] = {}
    for row in table.to_dict("records"):
        point = {name: _plain(row[name]) for name in axes if not _absent(row[name])}
        key = (row["study"], row["mpi"], int(ranks[row["launch"]]), json.dumps(point, sort_keys=True), row["variant"])
        found.setdefault(key, []).append(row["whole"])
    return {key: of_launches(np.array(values), "whole time") for key, values in found.items()}


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    """The same number however pandas keeps it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def pair(predicted: Mapping[Key, Number], measured: Mapping[Key, Number]) -> list[Compared]:
    """The points that both have."""
    return [Compared(key, predicted[key], number) for key, number in sorted(measured.items()) if key in predicted]


def judge(points: list[Compared]) -> Verdict:
    """Over all points; UsageError where there is none."""
    if not points:
        raise UsageError("No point was both predicted and measured.")
    parts: dict[str, list[float]] = {}
    for point in points:
        for part in (point.key[1], point.key[0], f"{point.key[2]} ranks"):
            parts.setdefault(part, []).append(abs(point.error))
    pairs = list(_decided_pairs(points))
    wrong = [
        f"{a.key[0]}, {a.key[1]}, {a.key[2]} ranks, {a.key[3]}: {a.key[4]} and {b.key[4]}"
        for a, b in pairs
        if (a.measured.value < b.measured.value) != (a.predicted.value < b.predicted.value)
    ]
    return Verdict(
        points=points,
        errors={mpi: statistics.median(errors) for mpi, errors in sorted(parts.items())},
        error=statistics.median(abs(point.error) for point in points),
        pairs=len(pairs),
        in_order=len(pairs) - len(wrong),
        wrong=wrong,
    )


def _decided_pairs(points: list[Compared]) -> Iterable[tuple[Compared, Compared]]:
    """Two variants of one point that the measurement tells apart."""
    for _, group in itertools.groupby(points, key=lambda point: point.key[:4]):
        for a, b in itertools.combinations(list(group), 2):
            if a.measured.high < b.measured.low or b.measured.high < a.measured.low:
                yield a, b


FIELDS = ("study", "mpi", "ranks", "point", "variant")


def to_json(predicted: Mapping[Key, Number]) -> list[dict[str, Any]]:
    """For a file of predictions."""
    return [dict(zip(FIELDS, key, strict=True)) | asdict(number) for key, number in sorted(predicted.items())]


def from_json(entries: Any, place: str) -> dict[Key, Number]:
    """What such a file holds; UsageError if it is none."""
    try:
        return {
            tuple(entry[name] for name in FIELDS): Number(*(entry[name] for name in ("value", "low", "high", "source")))
            for entry in entries
        }
    except (KeyError, TypeError) as error:
        raise UsageError(f"{place} is no file of predictions: {error!r}.") from None


HEAD = """# Predicted, then measured

Written by `./bench validate-model`. Whole times in ms: predicted / measured [95 % of the launches], and the error
relative to what was measured. The medians are of the errors without their signs. With `compute=sleep` the computation
was slept.
"""


def page(verdict: Verdict, about: Sequence[str], sessions: Sequence[dict[str, Any]]) -> str:
    """As Markdown. `about`: what the predictions are, a sentence each; `sessions`: those that were measured."""
    medians = [[part, _percent(error, "")] for part, error in verdict.errors.items()]
    medians.append([f"all {len(verdict.points)} points", _percent(verdict.error, "")])
    variants = sorted({point.key[-1] for point in verdict.points}, key=lambda name: (name != "bare", name))
    lines = [
        *(f"- {sentence}" for sentence in about),
        "",
        *markdown(["part", "median error"], medians),
        "",
        order_words(verdict),
        "",
        *(f"- wrong: {pair}" for pair in verdict.wrong),
        "",
        *markdown(["study", "MPI", "ranks", "point", *variants], _rows(verdict.points, variants)),
        "",
        *map(source, sessions),
    ]
    return "\n".join([HEAD, *lines, ""])


def order_words(verdict: Verdict) -> str:
    """In how many pairs of variants the prediction has the measured order."""
    share = f" ({100 * verdict.in_order / verdict.pairs:.0f} %)" if verdict.pairs else ""
    told = "Order of two variants that the measurement tells apart"
    return f"{told}: right in {verdict.in_order} of {verdict.pairs}{share}."


def _rows(points: Sequence[Compared], variants: Sequence[str]) -> Iterator[list[object]]:
    for (study, mpi, ranks, text), group in itertools.groupby(points, key=lambda point: point.key[:4]):
        found = {point.key[-1]: _cell(point) for point in group}
        words = ", ".join(f"{name}={value}" for name, value in json.loads(text).items())
        yield [study, mpi, ranks, words, *(found.get(variant, "") for variant in variants)]


def _cell(point: Compared) -> str:
    predicted, measured = point.predicted, point.measured
    spread = f"[{1e3 * measured.low:.1f}, {1e3 * measured.high:.1f}]"
    return f"{1e3 * predicted.value:.1f} / {1e3 * measured.value:.1f} {spread} {_percent(point.error, '+')}"


def _percent(share: float, sign: str) -> str:
    return f"{100 * share:{sign}.{0 if sign else 1}f} %"
