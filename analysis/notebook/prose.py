# SPDX-License-Identifier: BSD-3-Clause
"""Sentences with numbers, and the values that the numbers stand for.

A number stands in brackets, as it was on the reference session: "MPICH hides [0.25] of it". It is checked there against
the value given with the sentence; on another session the value takes its place, written in the same way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from analysis.statistics.interval import Interval
from analysis.words import plain, seconds_text

Value = float | int | str | Interval
NUMBER = re.compile(r"\[([^\]]+)\]")
TIME = re.compile(r"^[−\d.]+ (s|ms|µs|ns)$")


class Mismatch(AssertionError):  # noqa: N818 - the name says it
    """A sentence says a number that the session does not have."""


def like(value: Value, sample: str) -> str:
    """The value written as the sample is: with as many digits, in per cent, as a time, with its interval."""
    if isinstance(value, str):
        return value
    if isinstance(value, Interval) and " to " in sample:
        digits = _digits(sample.partition(" ")[0])
        shown, low, high = (plain(number, digits) for number in (value.value, value.low, value.high))
        return f"{shown} ({low} to {high})"
    number = value.value if isinstance(value, Interval) else float(value)
    if TIME.match(sample):
        return seconds_text(number).replace("-", "−")
    if sample.endswith(" %"):
        return f"{plain(100 * number, _digits(sample.removesuffix(' %')))} %"
    return plain(number, _digits(sample))


def _digits(number: str) -> int:
    return len(number.partition(".")[2])


def known(value: Value | None) -> bool:
    """Whether there is a value at all."""
    number = value.value if isinstance(value, Interval) else value
    return number is not None and not (isinstance(number, float) and math.isnan(number))


def fill(sentence: str, values: Sequence[Value]) -> tuple[str, list[str]]:
    """The sentence with these values for its numbers, and how the two differ: 'it says 0.25, computed is 0.31'."""
    samples = NUMBER.findall(sentence)
    if len(samples) != len(values):
        raise Mismatch(f"{len(samples)} numbers in brackets and {len(values)} values: {sentence}")
    said = [like(value, sample) for value, sample in zip(values, samples, strict=True)]
    different = [f"it says {old}, computed is {new}" for old, new in zip(samples, said, strict=True) if old != new]
    in_turn = iter(said)
    return NUMBER.sub(lambda _: next(in_turn), sentence), different
