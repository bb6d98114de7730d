# SPDX-License-Identifier: BSD-3-Clause
"""What a run was asked for, checked whole before anything is installed, built or brought up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness import systems, variants
from harness.errors import UsageError
from harness.mpis import WHEEL_MPIS
from harness.schedule.plan import Launch, Point, Sampler, job_estimate_s, points_of
from harness.setup import mpi as mpi_setup
from harness.systems import System
from reframe_checks.study import Scale, Study
from reframe_checks.study_table import by_names


@dataclass(frozen=True)
class Job:
    """One study on one MPI: the unit that ReFrame runs."""

    study: Study
    mpi: str
    scale: Scale
    launches: list[Launch]

    def estimate_s(self) -> float:
        sampler = Sampler(self.scale.min_samples, self.scale.max_samples, self.scale.warmup, self.scale.time_box_s)
        points = list(map(dict, self.scale.points()))
        return job_estimate_s(points, self.launches, self._swept, sampler, self.scale.point_s)

    def points_of(self, launch: Launch) -> list[Point]:
        """The points that this launch measures."""
        return points_of(list(map(dict, self.scale.points())), launch, self._swept)

    @property
    def _swept(self) -> list[str]:
        return self.study.sweep(self.scale).axes


@dataclass(frozen=True)
class Request:
    """A run as it was asked for. `settings`: --set pairs; `variants` empty: each study's own.

    `all_mpis`: every study runs on all of `mpis`; else on those of them that its scale names, if it names any.
    `slowdown`: factor on all computation, so that a regression can be seen to be found; 1 in every honest run.
    """

    studies: list[Study]
    system: System
    mpis: list[str]
    variants: list[str]
    scale: str = "quick"
    settings: dict[str, str] = field(default_factory=dict)
    seed: int = 1
    nodes: int = 2
    all_mpis: bool = True
    slowdown: float = 1.0

    def jobs(self) -> list[Job]:
        """The jobs in the order in which they run; raises UsageError for a setting that a study does not know."""
        jobs = []
        for study in self.studies:
            scale = study.scale(self.scale, self.settings)
            for mpi in self._mpis_of(scale):
                stem = f"{study.name}.{self.system.name}.{mpi}"
                names = self.variants or list(scale.variants)
                jobs.append(Job(study, mpi, scale, study.launches(stem, scale, names, self.seed)))
        return jobs

    def programs(self) -> dict[str, list[str]]:
        """Each MPI that a job runs on, with the programs that its studies run."""
        found: dict[str, set[str]] = {}
        for job in self.jobs():
            found.setdefault(job.mpi, set()).add(job.study.workload[0])
        return {mpi: sorted(programs) for mpi, programs in found.items()}

    def _mpis_of(self, scale: Scale) -> list[str]:
        wanted = [mpi for mpi in self.mpis if mpi in scale.mpis]
        if self.all_mpis or not scale.mpis:
            return self.mpis
        return wanted or self.mpis[:1]  # a site's own MPIs have other names

    def facts(self) -> dict[str, Any]:
        """For session.json: enough to ask for the same again."""
        return {
            "scale": self.scale,
            "studies": [study.name for study in self.studies],
            "system": self.system.name,
            "mpi_names": self.mpis,
            "request": {
                "variants": self.variants,
                "settings": self.settings,
                "seed": self.seed,
                "nodes": self.nodes,
                "all_mpis": self.all_mpis,
                "config": str(self.system.config),
                **({"slowdown": self.slowdown} if self.slowdown != 1 else {}),
            },
            "expected": [launch.identity for job in self.jobs() for launch in job.launches],
        }


def from_facts(facts: dict[str, Any]) -> Request:
    """The request that a session.json holds; UsageError if it holds none."""
    try:
        asked = facts["request"]
        builtin = systems.BUILTIN.get(facts["system"])
        name = facts["system"] if builtin and str(builtin.config) == asked["config"] else asked["config"]
        studies, scale, mpis = facts["studies"], facts["scale"], ",".join(facts["mpi_names"])
        options = {key: asked[key] for key in ("variants", "settings", "seed", "nodes")}
        options |= {"all_mpis": asked.get("all_mpis", True), "slowdown": asked.get("slowdown", 1.0)}
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"The session's session.json does not say what was asked for: no {error}.") from error
    system = systems.by_name(name)
    return Request(by_names(studies), system, choose_mpis(mpis, system), scale=scale, **options)


def parse_list(text: str | None) -> list[str]:
    """ "a,b" as ["a", "b"]; nothing as []."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def parse_settings(pairs: list[str]) -> dict[str, str]:
    """--set name=value pairs as a dictionary, or UsageError."""
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (equals and name and text):
            raise UsageError(f"--set {pair}: name=value is wanted, as in --set size_bytes=65536,4194304.")
        settings[name] = text
    return settings


def choose_mpis(text: str | None, system: System) -> list[str]:
    """The MPIs named, or all that the harness installs itself; of a site, all that its file names."""
    names = parse_list(text)
    if system.programs is not None:
        if unknown := [name for name in names if name not in system.programs]:
            raise UsageError(f"{system.config} has no MPI '{unknown[0]}'. It has: {', '.join(system.programs)}.")
        return names or list(system.programs)
    for name in names:
        mpi = mpi_setup.by_name(name)
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    return names or list(WHEEL_MPIS)


def choose_variants(text: str | None) -> list[str]:
    """The variants named, each known."""
    return [variants.check(name) for name in parse_list(text)]
