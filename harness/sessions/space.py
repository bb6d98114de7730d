# SPDX-License-Identifier: BSD-3-Clause
"""What may be tuned: settings of the engine and variables of the MPI, from tables that are data, or from a file.

A parameter has a handful of values, and the first of them leaves it alone. `--space FILE` is YAML with the values that
somebody wants tried:

    engine: {burst: [1, 20], rest_us: [0, 1000]}
    mpi: {UCX_RNDV_THRESH: [8192, inf]}
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from harness.base import process, settings_file, validate
from harness.base.errors import UsageError, there_are
from harness.job.read_back import TELLING, Probe
from harness.job.search import Parameter

T = TypeVar("T")
TABLES = Path(__file__).with_name("mpi_variables.yaml")
UNSET = "default"
PARTS = ("engine", "mpi")
ANSWER_LIMIT_S = 30.0
# Of the engine's settings those that decide how it polls, and what is tried of each beside its default; which of them
# act depends on the preset. progress-info says what they mean, their ranges and defaults.
ENGINE: dict[str, list[str]] = {
    "burst": ["1", "2", "5", "10", "30"],
    "min_distance_us": ["20", "50", "200", "500"],
    "start_distance_us": ["100", "200", "1000", "2000"],
    "max_distance_us": ["1000", "2000", "8000", "16000"],
    "rest_us": ["0", "1000", "3000", "30000"],
    "timer_us": ["200", "500", "1000", "5000"],
    "slice_us": ["0", "300", "1000"],
}


@dataclass(frozen=True)
class Variable:
    """A line of a table; see its head."""

    __pydantic_config__ = validate.MODEL

    name: str
    default: str
    range: str
    values: list[str]
    read_back: str
    meaning: str
    key: str = ""


@dataclass(frozen=True)
class Table:
    """Variables of one library. `tried`: False where they are only as documented."""

    __pydantic_config__ = validate.MODEL

    table: str
    mpis: list[str]
    source: str
    variables: list[Variable]
    tried: bool = True

    def of(self, mpi: str) -> bool:
        return any(fnmatch.fnmatchcase(mpi, pattern) for pattern in self.mpis)


@dataclass(frozen=True)
class OwnSpace:
    """The file of --space."""

    __pydantic_config__ = validate.MODEL

    engine: dict[str, list[str | int]] = field(default_factory=dict)
    mpi: dict[str, list[str | int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Space:
    """`probes`: what is asked of the MPI before a search; a parameter of the MPI has one each."""

    parameters: list[Parameter]
    probes: list[Probe]


def tables() -> list[Table]:
    """All tables, in their order."""
    found = _model(list[Table], TABLES)
    unknown = [one.name for table in found for one in table.variables if one.read_back not in TELLING]
    if unknown:
        raise UsageError(f"{TABLES}: {unknown[0]} is read back in a way that there is not.")
    return found


def variables_of(mpi: str) -> list[Variable]:
    """Those of the tables of this MPI."""
    return [variable for table in tables() if table.of(mpi) for variable in table.variables]


def of(text: str, mpi: str, programs: Path, variant: str) -> Space:
    """The space that --space means: engine, mpi, both, or a file. UsageError with what is wrong with it.

    `programs`: where progress-info is; `variant`: under which the engine's settings are tuned.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    own = OwnSpace()
    if not parts or any(part not in PARTS for part in parts):
        if len(parts) != 1 or not Path(parts[0]).is_file():
            raise UsageError(f"--space {text}: engine, mpi, engine,mpi or a file is wanted; there is no such file.")
        own = _model(OwnSpace, Path(parts[0]))
        for name, values in [*own.engine.items(), *own.mpi.items()]:
            for value in values:  # what is found is written to files
                settings_file.check_writable(f"--space {text}:", name, str(value))
        parts = [part for part in PARTS if getattr(own, part)]
    found: list[Parameter] = []
    if "engine" in parts:
        found += _engine(own.engine or ENGINE, text, programs, variant)
    wanted = {name: list(map(str, values)) for name, values in own.mpi.items()}
    if "mpi" in parts:
        wanted = wanted or {one.name: one.values for one in variables_of(mpi)}
        found += [Parameter(name, [UNSET, *values], of_mpi=True) for name, values in wanted.items() if values]
    if not found:
        raise UsageError(f"--space {text}: nothing is left to tune for {mpi}: ./bench tune --list shows the tables.")
    probes = probes_of({name: values[0] for name, values in wanted.items() if values})
    probes = [replace(probe, others=wanted[probe.name][1:]) for probe in probes]
    return Space(found, probes if "mpi" in parts else [])


def probes_of(values: Mapping[str, str]) -> list[Probe]:
    """What shows that an MPI took each variable; a file of one's own may name one that is in the table of another."""
    known = {one.name: one for table in tables() for one in table.variables}
    found = []
    for name, value in values.items():
        how, key = (known[name].read_back, known[name].key) if name in known else (_guess(name), "")
        found.append(Probe(name, value, how, key or name.removeprefix("OMPI_MCA_")))
    return found


def _guess(name: str) -> str:
    """How a variable that no table has is read back: by whose it is."""
    prefixes = {"MPIR_CVAR_": "mpi_t", "OMPI_MCA_": "mpi_t", "UCX_": "ucx", "FI_": "ofi", "I_MPI_": "intel"}
    return next((how for prefix, how in prefixes.items() if name.startswith(prefix)), "")


def _engine(
    wanted: dict[str, list[Any]] | dict[str, list[str]], text: str, programs: Path, variant: str
) -> list[Parameter]:
    """The engine's settings, each held against what progress-info says of it; its default is not tried twice."""
    preset, *own = variant.split(":")
    done = process.answer([str(programs / "progress-info"), "--json"], ANSWER_LIMIT_S)
    try:
        info = json.loads(done.out)
    except ValueError as error:
        raise UsageError(f"progress-info of {programs} does not tell its settings: {done.last_line}.") from error
    known = {entry["key"]: entry for entry in info["settings"]}
    given = dict(pair.split("=", 1) for pair in own)
    preset_values = info["presets"].get(preset, {}).get("settings", {})
    found = []
    for name, values in wanted.items():
        entry = known.get(name)
        if entry is None:
            raise UsageError(f"--space {text}: the engine has no setting '{name}'. {there_are(name, known)}")
        here = str(given.get(name, preset_values.get(name, entry["default"])))
        tried = [str(value) for value in values if str(value) != here]
        for value in tried:
            if "range" in entry and not _inside(value, entry["range"]):
                low, high = entry["range"]
                raise UsageError(f"--space {text}: {name} is a whole number from {low} to {high}, not {value}.")
        if tried:
            found.append(Parameter(name, [UNSET, *tried], of_mpi=False))
    return found


def _inside(value: str, limits: Sequence[int]) -> bool:
    return bool(re.fullmatch(r"-?[0-9]{1,18}", value)) and limits[0] <= int(value) <= limits[1]


def _model(model: type[T], path: Path) -> T:
    """What stands in a YAML file; UsageError if it is none of the model."""
    import yaml  # noqa: PLC0415 - of a file that few commands read

    try:
        found = yaml.safe_load(path.read_text()) or {}
        return validate.parse(model, json.dumps(found), str(path))
    except (OSError, yaml.YAMLError, ValueError, TypeError) as error:
        raise UsageError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}.") from error
