# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench harm covers: every benchmark of every workload, as the built programs list them themselves."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What a benchmark asks for that has no default. Work: some ten milliseconds of computation.
FILL: dict[str, Any] = {"size_bytes": 1 << 20, "work_units": 10_000}
SMALLER: dict[str, Any] = {"ults": 20}  # in place of the default: each moves a message of its own
LIMIT_S = 20


@dataclass(frozen=True)
class Workload:
    """A benchmark of a workload's program, with the point at which it is compared."""

    program: Path
    benchmark: str
    point: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.program.name} {self.benchmark}"


def workloads(folder: Path) -> list[Workload]:
    """Of all programs in `folder` (a build's bin) that list benchmarks: `PROGRAM --list`."""
    found = []
    for program in sorted(folder.iterdir()):
        for line in _answer(program, "--list").splitlines():
            benchmark = line.split(maxsplit=1)[0]
            parameters = _answer(program, benchmark, "--list-parameters")
            if parameters:
                found.append(Workload(program, benchmark, point_of(json.loads(parameters))))
    return found


def _answer(program: Path, *arguments: str) -> str:
    """What the program says; nothing where it knows no such question."""
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL
    )
    return done.stdout if done.returncode == 0 else ""


def point_of(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """The defaults but for SMALLER, and for a parameter that has none a value that FILL or its own domain names."""
    given = {p["name"]: p["default"] if p["default"] is not None else _value(p) for p in parameters}
    return given | {name: value for name, value in SMALLER.items() if name in given}


def _value(parameter: dict[str, Any]) -> Any:
    if parameter["name"] in FILL:
        return FILL[parameter["name"]]
    if parameter.get("choices"):
        return parameter["choices"][0]
    return True if parameter["type"] == "boolean" else max(1, parameter.get("minimum") or 0)
