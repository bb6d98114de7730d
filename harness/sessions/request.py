# SPDX-License-Identifier: BSD-3-Clause
"""What a run was asked for, checked whole before anything is installed, built or brought up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from harness.base import mpis, variants
from harness.base.errors import UsageError, there_are
from harness.base.mpis import WHEEL_MPIS
from harness.base.paths import ROOT
from harness.job.plan import simulated_point_s
from harness.job.records import Folders
from harness.job.session import Asked, Facts
from harness.sites import systems
from harness.sites.systems import System
from reframe_checks import jobs as planning
from reframe_checks.catalogue import by_names
from reframe_checks.jobs import Job, planned
from reframe_checks.study import Scale, Study

SYSTEMS = systems.SYSTEMS_DIR.relative_to(ROOT)


@dataclass(frozen=True)
class Request:
    """A run as it was asked for: on these MPIs of a system, `asked` whatever session.json says of it beside them."""

    studies: list[Study]
    system: System
    mpis: list[str]
    asked: Asked
    scale: str = "quick"

    @classmethod
    def of(
        cls,
        studies: list[Study],
        system: System,
        mpis: list[str],
        variants: list[str],
        scale: str = "quick",
        settings: Mapping[str, str] = MappingProxyType({}),
        seed: int = 1,
        nodes: int = 2,
        **more: Any,
    ) -> Request:
        """`variants` empty: each study's own; `settings`: --set pairs; `more`: other fields of Asked."""
        program = next((study.program for study in studies if study.program), None)
        asked = Asked(variants, dict(settings), seed, nodes, str(system.config), system.partition, **more)
        return cls(studies, system, mpis, replace(asked, program=program), scale)

    def but(self, **changes: Any) -> Request:
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
            found += [planned(self.asked, study, scale, self.system.name, mpi) for mpi in self._mpis_of(scale)]
        return found

    def programs(self) -> dict[str, list[str]]:
        """Each MPI that a job runs on, with the programs of ours that its studies run."""
        return planning.programs(self.asked, self.jobs())

    def may_offload(self) -> bool:
        """Whether a launch could ask for the engine's safety=offload."""
        return planning.may_offload(self.asked, self.jobs())

    def identity(self) -> dict[str, str]:
        """What must be the same for what is run later to belong to the same session."""
        return planning.identity(self.asked, self.jobs(), self._where)

    def missing(self, folders: Folders) -> list[str]:
        """The launches that have points which are neither ok nor skipped there."""
        return planning.missing(self.jobs(), self.asked.nodes, folders)

    @property
    def _where(self) -> planning.Where:
        programs = {mpi: self.system.programs_of(mpi) for mpi in self.programs()}
        return planning.Where(self.system.name, programs, self.system.emulated, self.system.model())

    def _mpis_of(self, scale: Scale) -> list[str]:
        wanted = [mpi for mpi in self.mpis if mpi in scale.mpis]
        if self.asked.all_mpis or not scale.mpis:
            return self.mpis
        return wanted or self.mpis[:1]  # a site's own MPIs have other names

    def facts(self) -> dict[str, Any]:
        """Those facts of a session that say what was asked for: enough to ask for the same again."""
        studies = [study.name for study in self.studies]
        return planning.facts(self.asked, self.scale, studies, self.mpis, self.jobs(), self._where)


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
        studies=[study.with_program(asked.program) for study in by_names(facts.studies)],
        system=system,
        mpis=_known_mpis(facts.mpi_names, system),  # whether they are here is asked by who runs it
        asked=replace(asked, config=str(system.config), partition=system.partition),
        scale=facts.scale,
    )


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
    for mpi in map(mpis.by_name, names):
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    return names or list(WHEEL_MPIS)


def _known_mpis(names: list[str], system: System) -> list[str]:
    """The names, if the system, or the table of MPIs, has them all; UsageError else."""
    if system.programs is None:
        return [mpis.by_name(name).name for name in names]
    if unknown := [name for name in names if name not in system.programs]:
        raise UsageError(f"{system.config} has no MPI '{unknown[0]}'. {there_are(unknown[0], system.programs)}")
    return names


def choose_variants(text: str | None) -> list[str]:
    """The variants named, each known."""
    return [variants.check(name) for name in parse_list(text)]
