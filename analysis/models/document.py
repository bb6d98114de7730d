# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside measurements, as a document: the medians of the errors, and every point of every variant."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from analysis.documents.sources import source
from analysis.models.validate import Compared, Verdict
from analysis.text_table import markdown

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
