# SPDX-License-Identifier: BSD-3-Clause
"""Any number of sessions -> tidy pandas frames.

records = load([Path("results/latest")])
records.samples    one row a sample
records.points     one row a (launch, point, rank), with the file that it is from
records.launches   one row a file, which a launch that was resumed has several of: what was asked, what really ran
records.problems   what is damaged, cut off or missing, each with file and line
records.sessions   session.json of each, with `nodes`: what the compute nodes that ran say of themselves
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.errors import UsageError
from analysis.records import frames
from analysis.records.frames import NOISE_FIELDS, disturbance, took
from analysis.records.read import LaunchFile, Problem, Shapes, declared, read
from harness.base import paths

Array = npt.NDArray[Any]
SHOWN = 3  # problems said in a sentence; `Records.problems` has all
LAUNCH_KEYS = ["session", "system", "mpi", "variant", "study", "launch", "repetition", "order"]
POINT_FIELDS = ["rank", "role", "status", "reason", "converged", "warmup"]
CALIBRATED = {"work_units"}  # chosen anew in every session, and unknown where a launch never began
# Columns of the frames here and of evaluate(): a point's parameter of the same name is called point_<name>.
RESERVED = {
    *LAUNCH_KEYS,
    *POINT_FIELDS,
    *NOISE_FIELDS,
    *("point", "line", "samples", "quantity", "index", "value", "metric", "low", "high", "interval", "defensible"),
    *("file", "launches", "freedom", "ideal", "serial", "note", "noisy", "unconverged", "disturbance", "total_s"),
}


@dataclass
class Records:
    """Everything that was recorded, and what was wrong with it.

    `series` has one row a (launch, point, rank, quantity): `row` is the point's index in `points`, `first` and
    `count` say where its samples lie in `values` (float64, seconds where the quantity ends in _s).
    """

    sessions: list[dict[str, Any]]
    launches: pd.DataFrame
    points: pd.DataFrame
    series: pd.DataFrame
    values: Array
    parameters: list[str]
    histograms: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def series_values(self, first: int, count: int) -> Array:
        """The samples of one series, a view."""
        return self.values[first : first + count]

    @cached_property
    def spans(self) -> dict[tuple[int, str], tuple[int, int]]:
        """(row of `points`, quantity) -> first and count of its series."""
        columns = (self.series[name].tolist() for name in ("row", "quantity", "first", "count"))
        return {(row, quantity): (first, count) for row, quantity, first, count in zip(*columns, strict=True)}

    def emulated(self, session: str) -> bool:
        """Did this session run on emulated processors? By what it says itself, or any of its records does."""
        if any(facts["session"] == session and facts.get("emulated") for facts in self.sessions):
            return True
        return "emulated" in self.launches and bool(
            self.launches["emulated"][self.launches["session"] == session].any()
        )

    def simulated(self, session: str) -> bool:
        """Was this session predicted by a model? By what it says itself, or any of its records does."""
        if any(facts["session"] == session and facts.get("simulated") for facts in self.sessions):
            return True
        return "simulated" in self.launches and bool(
            self.launches["simulated"][self.launches["session"] == session].any()
        )

    def networks(self, session: str) -> list[str]:
        """On which networks its launches were, in the records' words; of one where nobody changed it meanwhile."""
        if not len(self.launches):
            return []
        named = self.launches.loc[self.launches["session"] == session, "network"].dropna()
        return sorted(set(named) - {""})

    def network_conflict(self, session: str) -> str:
        """A sentence where its launches were on several networks; empty of one."""
        networks = self.networks(session)
        if len(networks) < 2:
            return ""
        return (
            f"Session {session} was measured on {len(networks)} networks, whose times cannot be held against each "
            f"other: {'; '.join(networks)}."
        )

    def cautions(self) -> list[str]:
        """What a reader must know before believing: sessions cut short, bad files, whose machine it was."""
        said = []
        for session in self.sessions:
            if self.emulated(session["session"]):
                said.append(
                    f"Session {session['session']} ran on emulated machines: its times say nothing of any hardware's, "
                    f"and decide no claim."
                )
            if self.simulated(session["session"]):
                said.append(
                    f"Session {session['session']} is simulated: a model predicted all of its numbers, nothing was "
                    f"measured."
                )
            if conflict := self.network_conflict(session["session"]):
                said.append(conflict)
            if session.get("state", "complete") != "complete":
                said.append(f"Session {session['session']} is {session['state']}: what it had measured by then counts.")
        said += self.disturbed()
        if self.problems:
            first = "; ".join(map(str, self.problems[:SHOWN]))
            said.append(f"{len(self.problems)} problems in the files, the first: {first}.")
        measured = [session for session in self.sessions if not self.simulated(session["session"])]
        return said + [caution for session in measured for caution in frames.machine_cautions(session)]

    def disturbed(self) -> list[str]:
        """Of each session beside which something else ran, that it did."""
        found = ((name, took(disturbance(mine))) for name, mine in self.points.groupby("session", sort=False))
        again = "Measure again when the machine is idle."
        return [f"Session {name} was disturbed: {said}. {again}" for name, said in found if said]

    @cached_property
    def samples(self) -> pd.DataFrame:
        """One row a sample: launch, point and rank as categories, `quantity`, `index` in its series, `value`."""
        counts = self.series["count"].to_numpy()
        owner = np.repeat(np.arange(len(self.series), dtype=np.int32), counts)
        of_point = self.series["row"].to_numpy()
        columns: dict[str, Any] = {}
        for name in [*LAUNCH_KEYS, *self.parameters, "rank", "role"]:
            columns[name] = _spread(self.points[name], of_point, owner)
        columns["quantity"] = _spread(self.series["quantity"], np.arange(len(self.series)), owner)
        starts = self.series["first"].to_numpy()
        columns["index"] = (np.arange(len(owner), dtype=np.int64) - starts[owner]).astype(np.int32)
        columns["value"] = self.values
        return pd.DataFrame(columns, copy=False)


def _spread(column: pd.Series[Any], of_point: Array, owner: Array) -> pd.Categorical:
    """A point's column repeated for every sample, as a category: a byte or two a row instead of eight."""
    category = pd.Categorical(column)
    codes: Any = category.codes[of_point][owner]
    return pd.Categorical.from_codes(codes, dtype=category.dtype)


def load(sessions: Sequence[Path]) -> Records:
    """Loads session folders (`results/<session>`), folders of record files, or single record files.

    A kept session does as well, and one with several is all of them (harness/base/paths.py). Raises UsageError where
    a path does not exist or is neither. An empty session loads: it says so in `problems`.
    """
    builder = _Builder()
    for path in sessions:
        for folder in paths.sessions_of(Path(path)):
            builder.add_session(folder)
    return builder.build()


def identity(point: dict[str, Any]) -> str:
    """What makes a point the same point in another launch or session: its parameters but the calibrated ones."""
    return json.dumps({name: value for name, value in point.items() if name not in CALIBRATED}, sort_keys=True)


def parameter_columns(point: dict[str, Any]) -> dict[str, Any]:
    """A point's parameters by the names that they have as columns."""
    return {(f"point_{name}" if name in RESERVED else name): value for name, value in point.items()}


def record_files(session: Path) -> list[Path]:
    """The record files of a session, in order of name."""
    if session.is_file():
        return [session]
    folder = session / "records" if (session / "records").is_dir() else session
    return sorted(folder.glob("*.jsonl"))


class _Builder:
    """Collects rows as columns of plain lists; pandas sees them once, at the end."""

    def __init__(self) -> None:
        self.shapes = Shapes()
        self.sessions: list[dict[str, Any]] = []
        self.launches: list[dict[str, Any]] = []
        self.points: list[dict[str, Any]] = []
        self.parameters: dict[str, None] = {}
        self.series: list[tuple[int, str, int, int]] = []
        self.arrays: list[Array] = []
        self.length = 0
        self.histograms: dict[tuple[int, str], dict[str, Any]] = {}
        self.problems: list[Problem] = []

    def problem(self, file: Path | str, text: str) -> None:
        self.problems.append(Problem(str(file), 0, text))

    def add_session(self, path: Path) -> None:
        if not path.exists():
            raise UsageError(f"{path}: no such session; give a folder like results/<session>, or results/latest")
        provenance = self._provenance(path)
        self.sessions.append(provenance)
        found, before = set(), len(self.launches)
        for file in record_files(path):
            found.add(file.stem)
            self._add_launch(read(file, self.shapes), provenance)
        if not found and provenance.get("studies") != []:  # ./bench engine-costs may have none
            self.problem(path, "no record files: nothing was measured here, or the run ended before its first launch")
        hosts = [host for launch in self.launches[before:] for host in launch["hosts"]]
        provenance["nodes"], provenance["undescribed"] = frames.that_ran(
            frames.described_nodes(path, self.problem), hosts
        )
        missing = sorted(set(map(str, provenance.get("expected") or [])) - found)
        if missing:
            shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            self.problem(path, f"{len(missing)} planned launches have no record: {shown}")

    def _provenance(self, path: Path) -> dict[str, Any]:
        resolved = path.resolve()
        name = resolved.name if path.is_dir() else resolved.stem
        file = path / "session.json"
        loaded: Any = {}
        if path.is_dir():
            try:
                loaded = json.loads(paths.of_today(file.read_bytes()))
            except FileNotFoundError:
                self.problem(file, "missing: what machine and network this was is not known")
            except (OSError, ValueError) as error:
                self.problem(file, f"cannot be read ({error}): what machine and network this was is not known")
        if not isinstance(loaded, dict):
            self.problem(file, "not a JSON object: what machine and network this was is not known")
            loaded = {}
        return {"session": name, **loaded, "path": str(resolved)}

    def _add_launch(self, file: LaunchFile, provenance: dict[str, Any]) -> None:
        self.problems += file.problems
        if file.header is None:
            return
        row = launch_row(file, provenance)
        unknown = [key for key in ("study", "system", "mpi", "variant") if row[key] == "unknown"]
        if unknown:
            self.problem(file.path, f"the header's context does not say {', '.join(unknown)}; shown as 'unknown'")
        self.launches.append(row)
        keys = {key: row[key] for key in [*LAUNCH_KEYS, "file"]}
        for point in file.points:
            self._add_point(keys, point.line, point.fields, point.samples)

    def _add_point(self, keys: dict[str, Any], line: int, fields: dict[str, Any], samples: dict[str, Array]) -> None:
        row = len(self.points)
        parameters = parameter_columns(fields["point"])
        self.parameters.update(dict.fromkeys(parameters))
        noise = fields.get("noise", {})
        self.points.append(
            {
                **keys,
                "point": identity(fields["point"]),
                **parameters,
                **{name: fields.get(name) for name in POINT_FIELDS},
                **{name: noise.get(name) for name in NOISE_FIELDS},
                "samples": max((len(values) for values in samples.values()), default=0),
                "line": line,
            }
        )
        for quantity, values in samples.items():
            self.series.append((row, quantity, self.length, len(values)))
            self.arrays.append(values)
            self.length += len(values)
        for quantity, histogram in fields.get("histograms", {}).items():
            self.histograms[row, quantity] = histogram

    def build(self) -> Records:
        parameters = list(self.parameters)
        types = {"row": "int64", "quantity": "object", "first": "int64", "count": "int64"}
        columns = [*LAUNCH_KEYS, "file", "point", *parameters, *POINT_FIELDS, *NOISE_FIELDS, "samples", "line"]
        return Records(
            sessions=self.sessions,
            launches=pd.DataFrame(self.launches, columns=None if self.launches else [*LAUNCH_KEYS, "status", "reason"]),
            points=pd.DataFrame(self.points, columns=columns),
            series=pd.DataFrame(self.series, columns=list(types)).astype(types),
            values=np.concatenate(self.arrays) if self.arrays else np.empty(0),
            parameters=parameters,
            histograms=self.histograms,
            problems=self.problems,
        )


def launch_row(file: LaunchFile, provenance: dict[str, Any]) -> dict[str, Any]:
    """What a launch was asked to be and what really ran. A file without its end line has status `incomplete`."""
    header = file.header or {}
    context = header["context"]
    end = file.end or {"status": "incomplete", "reason": "the record has no end line", "ranks": []}
    level = header["thread_level"] or {}
    engines = [rank["engine"] for rank in end["ranks"] if rank.get("engine")]
    return {
        "session": context.get("session", provenance["session"]),
        **{key: context.get(key, "unknown") for key in ("system", "mpi", "study")},
        "variant": _variant(context),
        "launch": context.get("launch", file.path.stem),
        "repetition": context.get("repetition", 0),
        "order": context.get("order", 0),
        "side": context.get("side", ""),
        "mpi_environment": context.get("mpi_environment", {}),
        "scale": context.get("scale"),
        "network": context.get("network", provenance.get("network")),
        "emulated": context.get("emulated") is True,
        "simulated": "simulated" in context,
        "status": end["status"],
        "reason": end.get("reason"),
        "elapsed_s": end.get("elapsed_s"),
        "launch_s": end.get("launch_s"),
        "start_time": header["start_time"],
        "workload": header["workload"]["name"],
        "quantities": declared(header),
        "arguments": header["arguments"],
        "mpi_library": header["mpi_library"],
        "thread_asked": level.get("asked"),
        "thread_provided": level.get("provided"),
        "world_size": header["world_size"],
        "hosts": [rank["host"] for rank in header["ranks"]],
        "cpus_allowed": [rank["cpus_allowed"] for rank in header["ranks"]],
        "cpus_observed": [rank["cpus_observed"] for rank in end["ranks"]],
        "clock_resolution_s": max((rank["clock_resolution_s"] for rank in header["ranks"]), default=None),
        "network_bytes": sum(_bytes(rank) for rank in end["ranks"]),
        **_energy(header, end),
        "engine": engines[0] if engines else None,
        "engines": engines,
        "file": str(file.path),
    }


def _variant(context: dict[str, Any]) -> str:
    """Of a search the same variant runs under several settings of the MPI: those are variants of their own."""
    variant = str(context.get("variant", "unknown"))
    return f"{variant} ({context['side']})" if context.get("side") and context.get("mpi_environment") else variant


def _energy(header: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    """Of all machines together, where each could be read, all by the same source, else as Slurm counted; the first of
    the reasons where one could not, and Slurm's."""
    hosts = {rank["rank"]: rank["host"] for rank in header["ranks"]}
    told = [(hosts.get(rank["rank"], "?"), rank["energy"]) for rank in end["ranks"] if "energy" in rank]
    unread = [f"{host}: {energy['unread']}" for host, energy in told if "unread" in energy]
    sources = {energy.get("source", "powercap"): host for host, energy in told if "joules" in energy}
    if len(sources) > 1:
        unread.append("; ".join(f"{host}: by {source}" for source, host in sources.items()))
    known = len(sources) == 1 and all(energy.get("seconds", 0) > 0 for _, energy in told)
    slurm: dict[str, Any] = end.get("energy", {})
    if not known and "joules" in slurm:
        return {
            "energy_source": f"{slurm['nodes']} node{'s' * (slurm['nodes'] > 1)} by Slurm ({slurm['plugin']})",
            "joules": slurm["joules"],
            "watts": slurm["joules"] / end["launch_s"],
            "energy_unread": None,
        }
    unread = [*unread[:1], *([f"Slurm: {slurm['unread']}"] if "unread" in slurm else [])]
    return {
        "energy_source": next(iter(sources)) if known else None,
        "joules": sum(energy["joules"] for _, energy in told) if known else None,
        "watts": sum(energy["joules"] / energy["seconds"] for _, energy in told) if known else None,
        "energy_unread": "; ".join(unread) or None,
    }


def _bytes(rank: dict[str, Any]) -> int:
    interfaces: Iterable[dict[str, int]] = rank["interface_bytes"].values()
    return sum(counts["received"] + counts["sent"] for counts in interfaces)
