# SPDX-License-Identifier: BSD-3-Clause
"""What this host says to a site's file: has it that scheduler, that partition, those modules, those compilers?

A job that cannot start for such a reason would wait in a queue first, so it is found out before anything is submitted.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.base.errors import UsageError, there_are
from harness.base.process import Answer, answer

Config = Mapping[str, Any]
TIMEOUT_S = 30
WITHOUT_MODULES = ("nomod",)


@dataclass(frozen=True)
class Scheduler:
    """`submit`: its command; `option`: how a job chooses a partition or queue; `listing`: what prints their names."""

    submit: str
    option: re.Pattern[str]
    listing: tuple[str, ...]


_SLURM = Scheduler("sbatch", re.compile(r"^(?:-p *|--partition[= ])(\S+)$"), ("sinfo", "-h", "-o", "%R"))
_PBS = Scheduler("qsub", re.compile(r"^-q *(\S+)$"), ("qstat", "-Q"))
_FLUX = Scheduler("flux", re.compile(r"^(?:-q *|--queue[= ])(\S+)$"), ("flux", "queue", "list", "-n", "-o", "{queue}"))
SCHEDULERS = {"slurm": _SLURM, "squeue": _SLURM, "pbs": _PBS, "torque": _PBS, "flux": _FLUX}


def check(system: Config, partition: Config, environments: list[Config]) -> None:
    """UsageError with the first thing that this host has not."""
    _check_scheduler(partition)
    for environment in environments:
        modules = [_module_name(module) for module in _modules(partition, environment)]
        if modules and system.get("modules_system", "nomod") in WITHOUT_MODULES:
            raise UsageError(
                f"environment {environment['name']}: it names the module {modules[0]}, and the system's "
                f"'modules_system' is 'nomod': say lmod or envmod."
            )
        if modules:
            _check_modules_system(system["modules_system"])
            _check_modules(environment["name"], modules)
        _check_compiler(environment, modules, _exports(partition, environment))


def _check_scheduler(partition: Config) -> None:
    scheduler = SCHEDULERS.get(partition["scheduler"])
    if scheduler is None:
        return
    where = f"partition {partition['name']}"
    if shutil.which(scheduler.submit) is None:
        name = partition["scheduler"]
        raise UsageError(f"{where}: its scheduler is '{name}', and there is no {scheduler.submit} on PATH here.")
    for option in partition.get("access", []):
        if asked := scheduler.option.match(option):
            _check_queue(where, scheduler, asked[1])


def _check_queue(where: str, scheduler: Scheduler, asked: str) -> None:
    done = answer(scheduler.listing, TIMEOUT_S)
    if done.status != 0:
        words = (done.err.strip().splitlines() or ["no word why"])[-1][:200].rstrip(".")
        raise UsageError(f"{where}: {scheduler.listing[0]} does not say which partitions there are: {words}.")
    known = _names(done.out)
    if asked not in known:
        raise UsageError(f"{where}: there is no partition or queue '{asked}' here. {there_are(asked, known)}")


def _names(listing: str) -> list[str]:
    """The first words of a listing's lines, below its heading if it has one that is underlined (qstat's has)."""
    words = [line.split()[0].rstrip("*") for line in listing.splitlines() if line.strip()]
    heading = max((place for place, word in enumerate(words) if set(word) == {"-"}), default=-1)
    return words[heading + 1 :]


def _modules(partition: Config, environment: Config) -> list[Any]:
    return [*partition.get("modules", []), *environment.get("modules", [])]


def _exports(partition: Config, environment: Config) -> str:
    """The variables of both in a shell's words, as ReFrame writes them into a job: what stands behind $ counts."""
    every = dict(partition.get("env_vars", [])) | dict(environment.get("env_vars", []))
    return "".join(f"export {name}={value} && " for name, value in every.items())


def _module_name(module: Any) -> str:
    return str(module["name"] if isinstance(module, dict) else module)


def _check_modules_system(name: str) -> None:
    """ReFrame talks to it by other ways than a login shell, and would end with its own words at the first check."""
    from reframe.core.exceptions import ReframeError  # noqa: PLC0415 - half a second of imports
    from reframe.core.modules import ModulesSystem  # noqa: PLC0415

    try:
        ModulesSystem.create(name)
    except ReframeError as error:
        raise UsageError(f"'modules_system' is '{name}', and ReFrame cannot use that here: {error}.") from error


def _check_modules(name: str, modules: list[str]) -> None:
    """Load them as a job would, in a login shell: only there `module` is surely known."""
    for count in range(1, len(modules) + 1):
        done = _shell(f"module load {shlex.join(modules[:count])}")
        words = (done.err + done.out).strip()
        # Environment Modules before 5 says ERROR and ends with status 0
        if done.status != 0 or re.search(r"(?i)\berror\b|unable to locate|not found", words):
            why = " ".join(words.split())[:160].rstrip(".")
            raise UsageError(f"environment {name}: the module {modules[count - 1]} cannot be loaded here: {why}.")


def _check_compiler(environment: Config, modules: list[str], exports: str) -> None:
    """What Spack builds needs no compiler here; any other MPI is named with its C compiler, which may want its
    variables: Intel MPI's asks for I_MPI_ROOT."""
    name, compiler = environment["name"], environment.get("cc", "")
    if environment["extras"].get("spack"):
        return
    if not compiler:
        raise UsageError(f"environment {name}: it has no 'cc': name the MPI's C compiler, mpicc say.")
    load = f"module load {shlex.join(modules)} && " if modules else f"PATH={shlex.quote(os.environ['PATH'])}; "
    load += exports
    if _shell(f"{load}command -v {shlex.quote(compiler)}").status != 0:
        after = f" after loading {', '.join(modules)}" if modules else ""
        raise UsageError(f"environment {name}: its C compiler '{compiler}' is not on PATH here{after}.")
    if _shell(f"{load}echo '#include <mpi.h>' | {shlex.quote(compiler)} -E -x c - > {os.devnull}").status != 0:
        raise UsageError(f"environment {name}: its C compiler '{compiler}' finds no mpi.h: is it the MPI's own?")


def _shell(script: str) -> Answer:
    return answer(["bash", "-lc", script], TIMEOUT_S)
