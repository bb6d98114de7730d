# SPDX-License-Identifier: BSD-3-Clause
"""One record file -> header, points with their samples, end, and what was wrong with which line.

The format itself is results/schema/record.schema.json. Validating every line with jsonschema would cost more than
parsing it, so lines of one shape are validated once: the schema constrains types, names, short words and the signs of
numbers, and `skeleton` keeps exactly those. Arrays of samples are checked by NumPy (`numbers`).

`Quantity`: what a recorded quantity is: its unit, which way is better, whether the workload is about it.

The headers of records say so from version 2 of the schema on; BEFORE says it of what they do not declare.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from jsonschema import Draft202012Validator


# Of two times, and negative where chance has it.
DIFFERENCES = frozenset({"excess_latency_s", "overhead_s", "remainder_s"})
SIGNS = {"lower": 1, "higher": -1, "neither": 0}


@dataclass(frozen=True)
class Quantity:
    """`better` is lower, higher or neither; of a workload's quantities one is `leading`: what it is about."""

    unit: str
    better: str
    leading: bool = False

    @property
    def sign(self) -> int:
        """1 where less is better, -1 where more is, 0 where neither is."""
        return SIGNS[self.better]


TIME = Quantity("s", "lower")
BEFORE = {
    "total_s": TIME,
    "elapsed_s": TIME,
    "latency_s": TIME,
    "mean_latency_s": TIME,
    "task_s": TIME,
    "overhead_s": TIME,
    "mflops": Quantity("MFLOP/s", "higher"),
    "bandwidth_bytes_per_s": Quantity("B/s", "higher"),
    "bytes_per_s": Quantity("B/s", "higher"),
    "operations_per_s": Quantity("1/s", "higher"),
    "batch_median_s": TIME,
}


def declared(header: Mapping[str, Any]) -> dict[str, Quantity]:
    """What the header of a record says of its quantities, in its order; nothing in version 1 of the schema."""
    return {name: Quantity(**facts) for name, facts in header.get("quantities", {}).items()}


def judged_by(known: Mapping[str, Quantity]) -> Iterator[tuple[str, Quantity]]:
    """What a point can be judged by, the best first: the leading quantity, the others as they are declared, and those
    of BEFORE that are not. Differences are left out, as nothing can be said of their ratios."""
    told = sorted(known.items(), key=lambda item: not item[1].leading)
    rest = [item for item in BEFORE.items() if item[0] not in known]
    yield from ((name, found) for name, found in (*told, *rest) if found.sign and name not in DIFFERENCES)


SCHEMA_FILE = Path(__file__).resolve().parents[2] / "results" / "schema" / "record.schema.json"
CURRENT = 5


def _with_quantities(line: dict[str, Any]) -> dict[str, Any]:
    """Version 1 said nothing of its quantities: none is declared."""
    if not isinstance(header := line.get("header"), dict):
        return line
    return {**line, "header": {**header, "schema": 2, "quantities": {}}}


def _without_sides(line: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had no sides of a gate and no results of somebody else's program: it lacks nothing else."""
    if not isinstance(header := line.get("header"), dict):
        return line
    return {**line, "header": {**header, "schema": 3}}


def _without_mpi_environment(line: dict[str, Any]) -> dict[str, Any]:
    """Version 3 had no variables of an MPI that were set for a launch: it lacks nothing else."""
    if not isinstance(header := line.get("header"), dict):
        return line
    return {**line, "header": {**header, "schema": 4}}


def _with_its_side(line: dict[str, Any]) -> dict[str, Any]:
    """Version 4 called a side of a gate or a setting of a search its arm, and the check run a canary."""
    if not isinstance(header := line.get("header"), dict):
        return line
    context = dict(header.get("context") or {})
    if (side := context.pop("arm", None)) is not None:
        context["side"] = "check" if side == "canary" else side
    return {**line, "header": {**header, "schema": 5, "context": context}}


# Older version -> function that makes a parsed line of the next version. Version 1 is the first; a new version adds
# its step here, and files of every age go on loading.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _with_quantities,
    2: _without_sides,
    3: _without_mpi_environment,
    4: _with_its_side,
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


PAUSED = "paused_"  # before the name of a quantity: of the repetitions in which the engine was paused
ARMED = "armed"


def apart(samples: dict[str, npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float64]]:
    """The samples of a launch that paused its engine in one of each two repetitions: under their names those with the
    engine, under PAUSED those without, in the order of the pairs; ARMED is left of each pair's first repetition. What
    was measured several times a repetition has as many values in each; what cannot be told apart is left out. The
    samples of other launches stay as they are. BadLine where they are no pairs."""
    armed = samples.get(ARMED)
    if armed is None:
        return samples
    pairs = len(armed) // 2
    first, second = armed[: 2 * pairs].reshape(-1, 2).T
    if len(armed) % 2 or not pairs or (first + second != 1).any() or (first * second != 0).any():
        raise BadLine(f"samples.{ARMED}: not one repetition with the engine and one without in each two")
    found: dict[str, npt.NDArray[np.float64]] = {}
    for name, values in samples.items():
        if name == ARMED or len(values) % len(armed):
            continue
        each = values.reshape(len(armed), -1)
        found |= {name: each[armed == 1].ravel(), f"{PAUSED}{name}": each[armed == 0].ravel()}
    return found | {ARMED: first}


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


@dataclass(frozen=True)
class Problem:
    """Something in the input that is not as it should be; `line` is 0 where the whole file or session is meant."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}"


@dataclass
class PointLine:
    """One point as one rank saw it. `fields` is the line without its samples, which are float64 arrays."""

    line: int
    fields: dict[str, Any]
    samples: dict[str, npt.NDArray[np.float64]]


@dataclass
class LaunchFile:
    """A parsed record file; `end` is None where the file was cut off."""

    path: Path
    header: dict[str, Any] | None = None
    points: list[PointLine] = field(default_factory=list)
    end: dict[str, Any] | None = None
    problems: list[Problem] = field(default_factory=list)


def read(path: Path, shapes: Shapes) -> LaunchFile:
    """Parses `path`. A damaged line becomes a problem that names file and line; all others count."""
    launch = LaunchFile(path)
    version = 1
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            if not text.strip():
                continue
            try:
                parsed = _parse(text)
                found = _version(parsed, version)
                _add(launch, number, migrate(parsed, found), shapes)
                version = found
            except BadLine as error:
                launch.problems.append(Problem(str(path), number, str(error)))
    _check_whole(launch)
    return launch


def _parse(text: bytes) -> dict[str, Any]:
    from pydantic_core import from_json  # noqa: PLC0415 - five times as fast as json

    try:
        parsed = from_json(text)
    except ValueError as error:
        raise BadLine(f"not JSON ({error})") from error
    if not isinstance(parsed, dict):
        raise BadLine("not a JSON object")
    return parsed


def _version(parsed: dict[str, Any], before: int) -> int:
    header = parsed.get("header")
    if not isinstance(header, dict):
        return before
    version = header.get("schema")
    if not isinstance(version, int) or isinstance(version, bool):
        raise BadLine("header: no schema version")
    return version


def _add(launch: LaunchFile, number: int, parsed: dict[str, Any], shapes: Shapes) -> None:
    match sorted(parsed):
        case ["header"]:
            shapes.check("header", parsed["header"])
            if launch.header is not None:
                raise BadLine("a second header")
            launch.header = parsed["header"]
        case ["end"]:
            shapes.check("end", parsed["end"])
            if launch.end is not None:
                raise BadLine("a second end line")
            launch.end = parsed["end"]
        case _:
            launch.points.append(_point(number, parsed, shapes))


def _point(number: int, parsed: dict[str, Any], shapes: Shapes) -> PointLine:
    """The point line; one whose samples cannot be used stays as a point of status `damaged`, with the reason."""
    samples = parsed.get("samples")
    names = samples if isinstance(samples, dict) else {}
    shapes.check("point_line", {**parsed, "samples": {name: [] for name in names}} if names else parsed)
    fields = {key: value for key, value in parsed.items() if key != "samples"}
    try:
        for name, histogram in fields.get("histograms", {}).items():
            check_histogram(name, histogram)
        return PointLine(number, fields, apart({name: numbers(name, values) for name, values in names.items()}))
    except BadLine as error:
        left = {name: value for name, value in fields.items() if name != "histograms"}
        return PointLine(number, {**left, "status": "damaged", "reason": str(error)}, {})


def _check_whole(launch: LaunchFile) -> None:
    def problem(text: str, line: int = 0) -> None:
        launch.problems.append(Problem(str(launch.path), line, text))

    if launch.header is None:
        problem("no usable header line, so it cannot be told what was launched; its points are left out")
    if launch.end is None:
        problem("no end line: the launch was cut off; the points before that count")
    seen: dict[tuple[Any, ...], int] = {}
    kept = []
    for point in launch.points:
        if point.fields["status"] == "damaged":
            problem(point.fields["reason"], point.line)
        key = (repr(sorted(point.fields["point"].items())), point.fields["rank"])
        if key in seen:
            problem(f"the same point and rank as line {seen[key]}; left out", point.line)
            continue
        seen[key] = point.line
        kept.append(point)
    launch.points = kept
