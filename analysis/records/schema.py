# SPDX-License-Identifier: BSD-3-Clause
"""The record format as the loader sees it: which schema versions it knows, and whether a line obeys.

The format itself is results/schema/record.schema.json. Validating every line with jsonschema would cost more than
parsing it, so lines of one shape are validated once: the schema constrains types, names, short words and the signs of
numbers, and `skeleton` keeps exactly those. Arrays of samples are checked by NumPy (`numbers`).
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.records.quantities import DIFFERENCES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from jsonschema import Draft202012Validator

SCHEMA_FILE = Path(__file__).resolve().parents[2] / "results" / "schema" / "record.schema.json"
CURRENT = 4


def _with_quantities(line: dict[str, Any]) -> dict[str, Any]:
    """Version 1 said nothing of its quantities: none is declared."""
    if not isinstance(header := line.get("header"), dict):
        return line
    return {**line, "header": {**header, "schema": 2, "quantities": {}}}


def _without_arms(line: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had no arms of a gate and no results of somebody else's program: it lacks nothing else."""
    if not isinstance(header := line.get("header"), dict):
        return line
    return {**line, "header": {**header, "schema": 3}}


def _without_mpi_environment(line: dict[str, Any]) -> dict[str, Any]:
    """Version 3 had no variables of an MPI that were set for a launch: it lacks nothing else."""
    if not isinstance(header := line.get("header"), dict):
        return line
    return {**line, "header": {**header, "schema": 4}}


# Older version -> function that makes a parsed line of the next version. Version 1 is the first; a new version adds
# its step here, and files of every age go on loading.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _with_quantities,
    2: _without_arms,
    3: _without_mpi_environment,
}


class BadLine(ValueError):  # noqa: N818 - the loader's word for it
    """A line that is not what the schema says; the message says what is wrong, without file and line."""


def migrate(line: dict[str, Any], version: int) -> dict[str, Any]:
    """The line as schema version CURRENT says it. BadLine if the version is not known."""
    while version != CURRENT:
        if version not in MIGRATIONS:
            raise BadLine(
                f"schema version {version}, this analysis reads up to {CURRENT}: update it or migrate the file"
            )
        line = MIGRATIONS[version](line)
        version += 1
    return line


@functools.cache
def _validator(definition: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    schema = json.loads(SCHEMA_FILE.read_text())
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})


def skeleton(value: Any) -> Any:
    """What of `value` the schema can see, hashable: types, names, words, signs; arrays as the set of their items."""
    if isinstance(value, dict):
        return tuple((key, skeleton(value[key])) for key in value)
    if isinstance(value, list):
        return frozenset(map(skeleton, value))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return type(value), (value > 0) - (value < 0)
    return str(value)


def sample_of(value: Any) -> Any:
    """`value` with one item of each shape in its lists: valid if and only if the whole is, where it counts no items."""
    if isinstance(value, dict):
        return {key: sample_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sample_of(item) for item in {skeleton(item): item for item in value}.values()]
    return value


class Shapes:
    """Remembers which shapes of lines have been found valid. One a loader; not for several threads at once."""

    def __init__(self) -> None:
        self._known: set[Any] = set()

    def check(self, definition: str, value: dict[str, Any]) -> None:
        """BadLine with the place and the reason unless `value` obeys `#/$defs/<definition>`."""
        shape = (definition, skeleton(value))
        if shape in self._known:
            return
        if not _validator(definition).is_valid(sample_of(value)):  # thousands of ranks have a line or two of their own
            errors = sorted(_validator(definition).iter_errors(value), key=lambda e: -len(e.path))
            error = errors[0]
            place = ".".join(map(str, error.absolute_path)) or definition.replace("_", " ")
            raise BadLine(f"{place}: {error.message[:200]}")
        self._known.add(shape)


def check_histogram(name: str, histogram: dict[str, Any]) -> None:
    """BadLine unless what the histogram says of its samples is finite, and times not negative."""
    for place, value in {**{key: histogram[key] for key in ("min", "max", "mean")}, **histogram["quantiles"]}.items():
        if not math.isfinite(value):
            raise BadLine(f"histograms.{name}: {place} is not a finite number")
        if name.endswith("_s") and name not in DIFFERENCES and value < 0:
            raise BadLine(f"histograms.{name}: {place} is a negative time ({value:g} s)")


def numbers(name: str, values: Any) -> npt.NDArray[np.float64]:
    """The samples of one quantity as float64, BadLine unless they are finite numbers, and times not negative."""
    import numpy as np  # noqa: PLC0415

    try:
        array = np.asarray(values)
    except ValueError as error:  # a ragged list
        raise BadLine(f"samples.{name}: not a list of numbers") from error
    if not isinstance(values, list) or array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
        raise BadLine(f"samples.{name}: not a list of numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise BadLine(f"samples.{name}: sample {int(np.argmin(np.isfinite(array)))} is not a finite number")
    if name.endswith("_s") and name not in DIFFERENCES and array.size and array.min() < 0:
        raise BadLine(f"samples.{name}: sample {int(np.argmin(array))} is a negative time ({array.min():g} s)")
    return array.astype(np.float64, copy=False)
