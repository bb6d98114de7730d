# SPDX-License-Identifier: BSD-3-Clause
"""What a run is asked for, and the jobs of its session: a study on an MPI each, with its launches. Whoever makes the
session plans them, once, and a check finds them in its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from harness.base import machine, validate
from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.base.paths import results_dir
from harness.job import records
from harness.job import session as sessions
from harness.job.plan import Launch, Point, Sampler, job_estimate_s, launch_estimate_s, points_of, simulated_point_s
from harness.job.read_back import PROGRAM
from harness.job.records import Folders
from harness.job.session import Asked
from reframe_checks.catalogue import Scale, Study

LAUNCHES = "launches"  # the folder of a session
LOOKED_AT = 20  # sessions, the newest: each is a file to read
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

    def learnt_s(self, system: str, scale: str) -> tuple[float, str]:
        """The same as the newest session says that has run this study on this system and MPI at this scale, and that
        session's name; as it is reckoned, and empty, where there is none."""
        for name in reversed(sessions.names()[-LOOKED_AT:]):
            folder = results_dir() / name
            try:
                facts = sessions.facts_of(folder)
            except (UsageError, OSError):
                continue
            if (facts.system, facts.scale) != (system, scale) or facts.request is None:
                continue
            pattern = f"{self.study.name}.{system}.{self.mpi}.*.jsonl"
            if took := list(_seconds_a_point(sorted((folder / "records").glob(pattern)))):
                return statistics.median(took) * sum(len(self.points_of(launch)) for launch in self.launches), name
        return self.estimate_s(), ""

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


class OnSystem(Protocol):
    """What jobs have to know of the system they run on. `emulated`: its processors are; `model`: nothing is measured, a
    model predicts: its files with their SHA-256."""

    @property
    def name(self) -> str: ...
    @property
    def config(self) -> Path: ...
    @property
    def partition(self) -> str: ...
    @property
    def emulated(self) -> bool: ...
    @property
    def model(self) -> Callable[[], Mapping[str, str]]: ...

    def programs_of(self, mpi: str) -> Path:
        """The folder with engine and workloads for this MPI."""


S = TypeVar("S", bound=OnSystem)


@dataclass(frozen=True)
class Request(Generic[S]):
    """A run as it was asked for: on these MPIs of a system, `asked` whatever session.json says of it beside them."""

    studies: list[Study]
    system: S
    mpis: list[str]
    asked: Asked
    scale: str = "quick"

    @classmethod
    def of(
        cls,
        studies: list[Study],
        system: S,
        mpis: list[str],
        variants: list[str],
        scale: str = "quick",
        settings: Mapping[str, str] = MappingProxyType({}),
        seed: int = 1,
        nodes: int = 2,
        **more: Any,
    ) -> Request[S]:
        """`variants` empty: each study's own; `settings`: --set pairs; `more`: other fields of Asked."""
        program = next((study.program for study in studies if study.program), None)
        asked = Asked(variants, dict(settings), seed, nodes, str(system.config), system.partition, **more)
        return cls(studies, system, mpis, replace(asked, program=program), scale)

    def but(self, **changes: Any) -> Request[S]:
        """The same with other fields of `asked`."""
        return replace(self, asked=replace(self.asked, **changes))

    def jobs(self) -> list[Job]:
        """The jobs in the order in which they run; raises UsageError for a setting that a study does not know."""
        found: list[Job] = []
        for known in self.studies:
            study = known.asked(self.asked.settings)
            scale = study.scale(self.scale, self.asked.settings)
            if self.system.model():
                scale = replace(scale, point_s=simulated_point_s(study.tasks(self.asked.nodes)))
            if not study.workload and not study.case:
                study.named()
            found += [self._planned(study, scale, mpi) for mpi in self._mpis_of(scale)]
        return found

    def programs(self) -> dict[str, list[str]]:
        """Each MPI that a job runs on, with the programs of ours that its studies run."""
        found: dict[str, set[str]] = {}
        for job in self.jobs():
            found.setdefault(job.mpi, set()).update(job.study.workload[:1])
            if self.asked.program and self.asked.program.profiled:
                found[job.mpi].add(PROFILER)
            if not (rounds := self.asked.rounds):
                continue
            found[job.mpi].update(rounds.around.workload[:1] if rounds.around else [])
            found[job.mpi].update([] if rounds.drop is None else [PROGRAM])  # a setting is tried before it is launched
            for side in rounds.sides:
                needed = found.setdefault(side.mpi or job.mpi, set())
                needed.update(job.study.workload[:1], [PROGRAM] if side.probes else [])
        return {mpi: sorted(names) for mpi, names in found.items()}

    def may_offload(self) -> bool:
        """Whether a launch could ask for the engine's safety=offload, which is a library of its own: by its variant, or
        where others than the studies say how the engine is set."""
        if self.asked.rounds or self.asked.program or any(name.startswith(ENGINE_SETS) for name in os.environ):
            return True
        return any("offload" in launch.variant for job in self.jobs() for launch in job.launches)

    def missing(self, folders: Folders) -> list[str]:
        """The launches that have points which are neither ok nor skipped there."""
        lacking = []
        for job in self.jobs():
            ranks = job.study.reporting(self.asked.nodes)
            for launch in job.launches:
                wanted = {records.key(point) for point in job.points_of(launch)}
                done = records.finished(folders.records, launch.identity, ranks)
                if not wanted <= done | records.skipped(folders.records, launch.identity):
                    lacking.append(launch.identity)
        return lacking

    def facts(self) -> dict[str, Any]:
        """Those facts of a session that say what was asked for: enough to ask for the same again."""
        return {
            "scale": self.scale,
            "studies": [study.name for study in self.studies],
            "system": self.system.name,
            "emulated": self.system.emulated,
            "simulated": dict(self.system.model()),
            "mpi_names": list(self.mpis),
            "request": self.asked,
            "expected": [launch.identity for job in self.jobs() for launch in job.launches],
        }

    def identity(self) -> dict[str, str]:
        """What must be the same for what is run later to belong to the same session: system, MPI, engine, workload, as
        they are here."""
        here = machine.facts()
        system = ":".join(filter(None, [self.system.name, self.asked.partition]))
        told = {"system": f"{system} on {here['cpu_model']} with {here['cpus']} CPUs, kernel {here['kernel']}"}
        offload = self.may_offload()
        for name, executables in self.programs().items():
            folder, mpi = self.system.programs_of(name), MPIS.get(name)
            if mpi and folder == mpi.build_dir / "bin":  # the harness's own
                told[f"{name} version"] = "; ".join(mpi.wheels or mpi.packages)
            told[f"{name} engine"] = _engine(folder, offload)
            for side in self.asked.rounds.sides if self.asked.rounds else ():
                if side.progress_run:
                    told[f"{name} engine of {side.name}"] = _engine(Path(side.progress_run).parent, offload=True)
            for executable in executables:
                told[f"{name} workload {executable}"] = _digest(folder / executable)
        told |= {f"model {name}": digest[:16] for name, digest in self.system.model().items()}
        if self.asked.program:
            told["program"] = _digest(Path(self.asked.program.command[0]))
        return told

    def _mpis_of(self, scale: Scale) -> list[str]:
        wanted = [mpi for mpi in self.mpis if mpi in scale.mpis]
        if self.asked.all_mpis or not scale.mpis:
            return self.mpis
        return wanted or self.mpis[:1]  # a site's own MPIs have other names

    def _planned(self, study: Study, scale: Scale, mpi: str) -> Job:
        """The job with its launches, the same whenever the same is asked for."""
        stem, asked = f"{study.name}.{self.system.name}.{mpi}", self.asked
        if rounds := asked.rounds:
            return Job(study, mpi, scale, rounds.last(stem, asked.seed))
        names = list(dict.fromkeys([*scale.beside, *(asked.variants or scale.variants)]))
        return Job(study, mpi, scale, study.launches(stem, scale, names, asked.seed))


def _seconds_a_point(files: list[Path]) -> Iterator[float]:
    """Of each launch that ended well: its launcher, MPI_Init and end count, too."""
    for path in files:
        try:
            _, *points, last = map(json.loads, path.read_text(errors="replace").splitlines())
            if last["end"]["status"] == "ok":
                yield last["end"]["launch_s"] / len({json.dumps(line["point"], sort_keys=True) for line in points})
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            continue


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
