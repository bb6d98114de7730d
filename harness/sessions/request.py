# SPDX-License-Identifier: BSD-3-Clause
"""What a run was asked for, checked whole before anything is installed, built or brought up."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from harness.base import variants
from harness.base.errors import UsageError
from harness.base.mpis import WHEEL_MPIS
from harness.base.paths import ROOT
from harness.job.plan import (
    Gate,
    Launch,
    Point,
    Sampler,
    gate_schedule,
    job_estimate_s,
    launch_estimate_s,
    points_of,
    simulated_point_s,
)
from harness.job.program import Program
from harness.job.race import Race, last_block
from harness.job.read_back import PROGRAM
from harness.sessions.facts import Asked, Facts
from harness.setup import mpi as mpi_setup
from harness.sites import systems
from harness.sites.systems import System
from reframe_checks.catalogue import by_names
from reframe_checks.study import Scale, Study

ENGINE_SETS = "PROGRESS_ENGINE_"  # what a setting of the engine begins with in the environment
SYSTEMS = systems.SYSTEMS_DIR.relative_to(ROOT)


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
        points = list(map(dict, self.scale.points()))
        return job_estimate_s(points, self.launches, self._swept, self.sampler, self.scale.point_s)

    @property
    def sampler(self) -> Sampler:
        return Sampler(self.scale.min_samples, self.scale.max_samples, self.scale.warmup, self.scale.time_box_s)

    def launch_estimate_s(self) -> float:
        """About how long a launch of all points takes."""
        return launch_estimate_s(list(map(dict, self.scale.points())), self.sampler, self.scale.point_s)

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
    `mpi_environment`: variables of the MPI for every launch, bare included. `race`: of settings, whose last block runs.
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
    gate: Gate | None = None
    mpi_environment: dict[str, str] = field(default_factory=dict)
    race: Race | None = None

    def jobs(self) -> list[Job]:
        """The jobs in the order in which they run; raises UsageError for a setting that a study does not know."""
        jobs = []
        for known in self.studies:
            study = known.asked(self.settings)
            scale = study.scale(self.scale, self.settings)
            if self.system.model():
                scale = replace(scale, point_s=simulated_point_s(study.tasks(self.nodes)))
            if not study.workload and not study.case:
                study.named()
            for mpi in self._mpis_of(scale):
                stem = f"{study.name}.{self.system.name}.{mpi}"
                names = self.variants or list(scale.variants)
                if self.race:
                    jobs.append(Job(study, mpi, scale, last_block(stem, self.race, self.seed)))
                elif self.gate:
                    jobs.append(Job(study, mpi, scale, gate_schedule(stem, self.gate, self.seed)))
                else:
                    jobs.append(Job(study, mpi, scale, study.launches(stem, scale, names, self.seed)))
        return jobs

    def programs(self) -> dict[str, list[str]]:
        """Each MPI that a job runs on, with the programs of ours that its studies run."""
        found: dict[str, set[str]] = {}
        for job in self.jobs():
            found.setdefault(job.mpi, set()).update(job.study.workload[:1])
            if self.race:
                found[job.mpi].add(PROGRAM)
            if self.gate:
                found[job.mpi].add(self.gate.canary.workload[0])
                for arm in self.gate.arms:
                    needed = found.setdefault(arm.mpi or job.mpi, set())
                    needed.update(job.study.workload[:1], [PROGRAM] if arm.probes else [])
        return {mpi: sorted(programs) for mpi, programs in found.items()}

    def may_offload(self) -> bool:
        """Whether a launch could ask for the engine's safety=offload, which is a library of its own: by its variant, or
        where others than the studies say how the engine is set."""
        if self.gate or self.race or self.program or any(name.startswith(ENGINE_SETS) for name in os.environ):
            return True
        return any("offload" in launch.variant for job in self.jobs() for launch in job.launches)

    @property
    def program(self) -> Program | None:
        """The program of somebody else's that a study runs."""
        return next((study.program for study in self.studies if study.program), None)

    def _mpis_of(self, scale: Scale) -> list[str]:
        wanted = [mpi for mpi in self.mpis if mpi in scale.mpis]
        if self.all_mpis or not scale.mpis:
            return self.mpis
        return wanted or self.mpis[:1]  # a site's own MPIs have other names

    def facts(self) -> dict[str, Any]:
        """Those facts of a session that say what was asked for: enough to ask for the same again."""
        return {
            "scale": self.scale,
            "studies": [study.name for study in self.studies],
            "system": self.system.name,
            "emulated": self.system.emulated,
            "simulated": self.system.model(),
            "mpi_names": self.mpis,
            "request": Asked(
                variants=self.variants,
                settings=self.settings,
                seed=self.seed,
                nodes=self.nodes,
                config=str(self.system.config),
                partition=self.system.partition,
                all_mpis=self.all_mpis,
                slowdown=self.slowdown,
                gate=self.gate,
                mpi_environment=self.mpi_environment,
                race=self.race,
                program=self.program,
            ),
            "expected": [launch.identity for job in self.jobs() for launch in job.launches],
        }


def from_facts(facts: Facts) -> Request:
    """The request that a session.json holds; UsageError if it holds none."""
    asked = facts.request
    if asked is None:
        raise UsageError(f"The session.json of {facts.session} does not say what was asked for: it has no request.")
    # by name, since the checkout may have been moved; a site's own file may name its system as it likes
    builtin = facts.system in systems.BUILTIN and f"/{SYSTEMS}/" in f"/{asked.config}"
    file = ":".join(filter(None, [asked.config, asked.partition]))
    system = systems.by_name(facts.system if builtin else file)
    return Request(
        studies=with_program(by_names(facts.studies), asked.program),
        system=system,
        mpis=_known_mpis(facts.mpi_names, system),  # whether they are here is asked by who runs it
        variants=asked.variants,
        scale=facts.scale,
        settings=asked.settings,
        seed=asked.seed,
        nodes=asked.nodes,
        all_mpis=asked.all_mpis,
        slowdown=asked.slowdown,
        gate=asked.gate,
        mpi_environment=asked.mpi_environment,
        race=asked.race,
    )


def with_program(studies: list[Study], program: Program | None) -> list[Study]:
    """The studies, those without a workload with this program."""
    return [study if study.workload or study.case else replace(study, program=program) for study in studies]


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
    """The MPIs named, or all that the harness installs itself; of a site, all that its file names.

    UsageError for one that is not known, or a Debian package that is not here.
    """
    names = _known_mpis(parse_list(text), system)
    if system.programs is not None:
        return names or list(system.programs)
    for mpi in map(mpi_setup.by_name, names):
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    return names or list(WHEEL_MPIS)


def _known_mpis(names: list[str], system: System) -> list[str]:
    """The names, if the system, or the table of MPIs, has them all; UsageError else."""
    if system.programs is None:
        return [mpi_setup.by_name(name).name for name in names]
    if unknown := [name for name in names if name not in system.programs]:
        raise UsageError(f"{system.config} has no MPI '{unknown[0]}'. It has: {', '.join(system.programs)}.")
    return names


def choose_variants(text: str | None) -> list[str]:
    """The variants named, each known."""
    return [variants.check(name) for name in parse_list(text)]
