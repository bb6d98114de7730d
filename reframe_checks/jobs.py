# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a session: a study on an MPI each, with its launches. Whoever makes the session plans them, once, and a
check finds them in its folder.

What is asked of a list of jobs (which programs they need, which points are still missing) is asked here, whoever made
the session.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.base import machine, validate
from harness.base.mpis import MPIS
from harness.job import records
from harness.job.plan import Launch, Point, Sampler, job_estimate_s, launch_estimate_s, points_of
from harness.job.read_back import PROGRAM
from harness.job.records import Folders
from harness.job.session import Asked
from reframe_checks.study import Scale, Study

LAUNCHES = "launches"  # the folder of a session
PROFILER = "progress_profile"  # the target that builds it
ENGINE_SETS = "PROGRESS_ENGINE_"  # what a setting of the engine begins with in the environment


@dataclass(frozen=True)
class Job:
    """One study on one MPI: the unit that ReFrame runs."""

    study: Study
    mpi: str
    scale: Scale
    launches: list[Launch]

    def estimate_s(self) -> float:
        """About how long it takes; 0 of somebody else's program, which is tried first."""
        if not self.study.workload:
            return 0.0
        return job_estimate_s(self._points, self.launches, self._swept, self.sampler, self.scale.point_s)

    @property
    def sampler(self) -> Sampler:
        return Sampler(self.scale.min_samples, self.scale.max_samples, self.scale.warmup, self.scale.time_box_s)

    def launch_estimate_s(self) -> float:
        """About how long a launch of all points takes."""
        return launch_estimate_s(self._points, self.sampler, self.scale.point_s)

    def points_of(self, launch: Launch) -> list[Point]:
        """The points that this launch measures."""
        return points_of(self._points, launch, self._swept)

    @property
    def _points(self) -> list[Point]:
        return list(map(dict, self.scale.points()))

    @property
    def _swept(self) -> list[str]:
        return self.study.sweep(self.scale).axes


def planned(asked: Asked, study: Study, scale: Scale, system: str, mpi: str) -> Job:
    """The job with its launches, the same whenever the same is asked for."""
    stem = f"{study.name}.{system}.{mpi}"
    if rounds := asked.rounds:
        return Job(study, mpi, scale, rounds.last(stem, asked.seed))
    names = list(dict.fromkeys([*scale.beside, *(asked.variants or scale.variants)]))
    return Job(study, mpi, scale, study.launches(stem, scale, names, asked.seed))


def write(jobs: Iterable[Job], session: Path) -> None:
    """Put the launches of each job where its check finds them."""
    for job in jobs:
        file = _file(session, job.study.name, job.mpi)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps([asdict(launch) for launch in job.launches], indent=1) + "\n")


def launches_of(session: Path, study: str, mpi: str) -> list[Launch]:
    """Those that were planned of this job; UsageError if there are none."""
    return validate.read(list[Launch], _file(session, study, mpi))


def _file(session: Path, study: str, mpi: str) -> Path:
    return session / LAUNCHES / f"{study}.{mpi}.json"


def programs(asked: Asked, jobs: Iterable[Job]) -> dict[str, list[str]]:
    """Each MPI that a job runs on, with the programs of ours that its studies run."""
    found: dict[str, set[str]] = {}
    for job in jobs:
        found.setdefault(job.mpi, set()).update(job.study.workload[:1])
        if asked.program and asked.program.profiled:
            found[job.mpi].add(PROFILER)
        if not (rounds := asked.rounds):
            continue
        found[job.mpi].update(rounds.around.workload[:1] if rounds.around else [])
        found[job.mpi].update([] if rounds.drop is None else [PROGRAM])  # a setting is tried before it is launched
        for side in rounds.sides:
            needed = found.setdefault(side.mpi or job.mpi, set())
            needed.update(job.study.workload[:1], [PROGRAM] if side.probes else [])
    return {mpi: sorted(names) for mpi, names in found.items()}


def may_offload(asked: Asked, jobs: Iterable[Job]) -> bool:
    """Whether a launch could ask for the engine's safety=offload, which is a library of its own: by its variant, or
    where others than the studies say how the engine is set."""
    if asked.rounds or asked.program or any(name.startswith(ENGINE_SETS) for name in os.environ):
        return True
    return any("offload" in launch.variant for job in jobs for launch in job.launches)


def missing(jobs: Iterable[Job], nodes: int, folders: Folders) -> list[str]:
    """The launches that have points which are neither ok nor skipped."""
    lacking = []
    for job in jobs:
        ranks = job.study.reporting(nodes)
        for launch in job.launches:
            wanted = {records.key(point) for point in job.points_of(launch)}
            done = records.finished(folders.records, launch.identity, ranks)
            if not wanted <= done | records.skipped(folders.records, launch.identity):
                lacking.append(launch.identity)
    return lacking


@dataclass(frozen=True)
class Where:
    """On what a session's jobs run. `programs`: of each MPI, the folder with engine and workloads; `emulated`: its
    processors are; `model`: nothing is measured, a model predicts: its files with their SHA-256."""

    system: str
    programs: Mapping[str, Path]
    emulated: bool
    model: Mapping[str, str]


def facts(
    asked: Asked, scale: str, studies: Iterable[str], mpis: Iterable[str], jobs: Sequence[Job], where: Where
) -> dict[str, Any]:
    """Those facts of a session that say what was asked for: enough to ask for the same again."""
    return {
        "scale": scale,
        "studies": list(studies),
        "system": where.system,
        "emulated": where.emulated,
        "simulated": dict(where.model),
        "mpi_names": list(mpis),
        "request": asked,
        "expected": [launch.identity for job in jobs for launch in job.launches],
    }


def identity(asked: Asked, jobs: Sequence[Job], where: Where) -> dict[str, str]:
    """What must be the same for two runs to belong to one session: system, MPI, engine, workload, as they are here."""
    here = machine.facts()
    system = ":".join(filter(None, [where.system, asked.partition]))
    told = {"system": f"{system} on {here['cpu_model']} with {here['cpus']} CPUs, kernel {here['kernel']}"}
    offload = may_offload(asked, jobs)
    for name, executables in programs(asked, jobs).items():
        folder, mpi = where.programs[name], MPIS.get(name)
        if mpi and folder == mpi.build_dir / "bin":  # the harness's own
            told[f"{name} version"] = "; ".join(mpi.wheels or mpi.packages)
        told[f"{name} engine"] = _engine(folder, offload)
        for side in asked.rounds.sides if asked.rounds else ():
            if side.progress_run:
                told[f"{name} engine of {side.name}"] = _engine(Path(side.progress_run).parent, offload=True)
        for executable in executables:
            told[f"{name} workload {executable}"] = _digest(folder / executable)
    told |= {f"model {name}": digest[:16] for name, digest in where.model.items()}
    if asked.program:
        told["program"] = _digest(Path(asked.program.command[0]))
    return told


def _engine(folder: Path, offload: bool) -> str:
    """Of the libraries beside the programs: of one MPI in a build, of one or several in an installation."""
    names = ["libprogress_engine.so", *(["libprogress_engine_offload.so"] if offload else [])]
    places = (sorted(folder.parent.glob(f"{place}/{names[0]}")) for place in ("lib*", "lib*/progress_engine/*"))
    found = next(filter(None, places), [folder.parent / "lib" / names[0]])
    return _digest(*(one.with_name(name) for one in found for name in names))


def _digest(*files: Path) -> str:
    """Of all of them together."""
    try:
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    except OSError:
        return "absent"


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What differs between two identities, in words."""
    return [
        f"{name}: was {before.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]


# What ReFrame's own database and reports get of a job: one performance variable a variant and point.
#
# A record's header says which of its quantities leads, and in what unit it is; the value is the median of the launches'
# medians on rank 0.


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
