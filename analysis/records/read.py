# SPDX-License-Identifier: BSD-3-Clause
"""One record file -> header, points with their samples, end, and what was wrong with which line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.records.schema import BadLine, Shapes, check_histogram, migrate, numbers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
        return PointLine(number, fields, {name: numbers(name, values) for name, values in names.items()})
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
