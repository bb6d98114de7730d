# SPDX-License-Identifier: BSD-3-Clause
"""What a check has to know of a system beyond ReFrame's own: the `extras` of its partition and environments.

A file may have other extras besides, for a site's own tests; a name that is nearly one of these is taken for a slip.
results/schema/site.schema.json publishes them (python -m harness.sessions.schemas).
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.base import validate
from harness.base.errors import UsageError

Word = Annotated[str, Field(min_length=1)]
NEARLY = 0.8  # difflib's ratio: one letter of five
ADDED_BY_REFRAME = ("scheduler", "launcher")


class _Extras(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="allow", use_attribute_docstrings=True)

    @model_validator(mode="after")
    def _no_slip(self) -> _Extras:
        for name in self.model_extra or {}:
            if meant := difflib.get_close_matches(name, type(self).model_fields, 1, NEARLY):
                raise ValueError(f"there is no {name}: {meant[0]} is meant, or another name is wanted")
        return self


class OneNode(_Extras):
    """Where a study of one node runs, if there is a better node for it than the first."""

    hosts: list[str]
    cores: Annotated[int, Field(ge=1)]


class PartitionExtras(_Extras):
    """The extras of a partition."""

    launch: Literal["mpiexec", "launcher"] = "launcher"
    """mpiexec: the MPI's own, on `hosts` or the batch job's nodes; launcher: ReFrame's."""
    hosts: list[str] | None = None
    """The nodes by name, where no batch system chooses them."""
    nodes: Annotated[int, Field(ge=1)] | None = None
    """How many nodes there are at most, if fewer than a run may ask for."""
    cores: Annotated[int, Field(ge=1)] | None = None
    """Cores that the ranks of one node may use; a system that does not say is taken to have enough."""
    progress_cores: Annotated[int, Field(ge=0)] = 0
    """Cores beside its own that each rank is given for the engine's threads."""
    alone: OneNode | None = None
    """`hosts` and `cores` for a study of one node."""
    via: list[str] = []
    """What stands before mpiexec where the job cannot run on a node that launches: a command that runs it on one."""
    exports: list[str] = []
    """Environment variables that mpiexec is told to pass on to the ranks, where it does not by itself."""
    remote_shell: str | None = None
    """The ssh stand-in with which mpiexec reaches the nodes."""
    bind: bool = False
    """mpiexec binds each rank to a core; else the nodes' own confinement or the batch system does."""
    network: str = ""
    """What the network really is, in words, for the records."""
    network_measured: dict[str, float] = {}
    """What it let pass when it was measured: bits/s of single messages after a pause and of a stream, and how
    many bytes may be ahead of the rate after a pause."""
    emulated: bool = False
    """The nodes' processors are emulated: what is measured there says nothing of any hardware's time."""
    simulated: dict[str, str] = {}
    """Nothing is launched: a model predicts. Its files with their SHA-256."""
    cpus_shared: bool = False
    """The nodes are namespaces on one kernel, so one CPU number is one CPU on all of them."""
    cpus_too_few: str = ""
    """Why ranks must share CPUs here; such a system is for functional tests."""
    check_interfaces: bool = True
    """False: bytes on the interfaces cannot be seen, for lack of counters that a user may read."""
    settle_s: Annotated[float, Field(ge=0)] = 0.0
    """Pause before each timed transfer, for a network whose rate limiter lets a burst pass."""
    reap: list[str] = []
    """The command that kills what a dead launch left on its nodes; empty: one that the launcher runs on each."""


class FromSpack(_Extras):
    """What Spack installs before the job."""

    site: Word
    """As ./bench spack site has made it."""
    environment: Word
    """Of spack_env/environments."""


class EnvironmentExtras(_Extras):
    """The extras of an environment with the feature mpi."""

    mpi: Word
    """The environment's own name: of harness.base.mpis, or of the site's choosing."""
    library: Word
    """A word of MPI_Get_library_version: a run on another library has failed."""
    bin_dir: Word
    """Where progress-run and the workloads built for this MPI are."""
    async_progress: dict[str, str] = {}
    """Environment variables that switch on the MPI's own progress thread; empty: it has none."""
    shared_memory: dict[str, str] = {}
    """Environment variables with which ranks of one node talk through its memory, where that is not the default."""
    simulate: list[str] = []
    """The command that predicts a launch instead of starting it, up to -n and the number of ranks."""
    apps: dict[str, str] = {}
    """Other people's codes (./bench apps names them) -> the folder in which each is, for this MPI."""
    spack: FromSpack | None = None
    """Whether Spack installs the programs."""


class SiteExtras(_Extras):
    """The extras of a site's ReFrame configuration: of its partition with MPIs, and of each of these."""

    partition: PartitionExtras
    environment: EnvironmentExtras


def extras_of_partition(partition: Any) -> dict[str, Any]:
    """What the file says in the extras of ReFrame's partition; ReFrame's own error if that cannot be."""
    return _checked(PartitionExtras, partition)


def extras_of_environment(environment: Any) -> dict[str, Any]:
    """What the file says in the extras of ReFrame's environment; ReFrame's own error if that cannot be."""
    return _checked(EnvironmentExtras, environment)


def _checked(model: type[_Extras], of: Any) -> dict[str, Any]:
    from reframe.core.exceptions import ReframeError  # noqa: PLC0415 - half a second of imports

    said = {name: value for name, value in of.extras.items() if name not in ADDED_BY_REFRAME}
    try:
        return validate.check(model, said, f"extras of {of.name}").model_dump(exclude_unset=True)
    except UsageError as error:
        raise ReframeError(str(error)) from None  # of any other error it prints where it was raised
