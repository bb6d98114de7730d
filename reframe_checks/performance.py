# SPDX-License-Identifier: BSD-3-Clause
"""What ReFrame's own database and reports get of a job: one performance variable a variant and point.

A record's header says which of its quantities leads, and in what unit it is; the value is the median of the launches'
medians on rank 0.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.job import records


def name_of(variant: str, point: dict[str, Any]) -> str:
    """As in adaptive/pattern=both/size_bytes=4194304: every axis of the point, since points differ in any of them.

    ReFrame itself cuts a name at a colon, and its tables are split at a bar.
    """
    axes = [f"{axis}={value}" for axis, value in point.items() if axis not in records.DERIVED]
    return "/".join([variant.replace(":", "+"), *axes])


def variables(files: Iterable[Path]) -> dict[str, tuple[float, str]]:
    """Of these record files: the name of each performance variable, its value and its unit."""
    medians: dict[tuple[str, str], list[float]] = {}
    for file in files:
        record = records.read(file)
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
            yield name_of(variant, line["point"]), statistics.median(kept or samples)
        elif histogram := line.get("histograms", {}).get(quantity):  # in place of very many samples
            yield name_of(variant, line["point"]), histogram["quantiles"]["0.5"]
