# SPDX-License-Identifier: BSD-3-Clause
"""What session.json says of a session: what was asked for, with what it was measured, how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from harness.base import validate
from harness.job.plan import Gate
from harness.job.program import Program
from harness.job.race import Race

State = Literal["running", "complete", "incomplete", "interrupted"]


@dataclass(frozen=True)
class Asked:
    """Enough to ask for the same again, beside the studies, the system, the MPIs and the scale.

    `config`: the system's file; `partition`: which of a site's, if it has several; `all_mpis`: every study on all MPIs,
    not only on those that its scale names; `gate`: of a comparison of arms; `program`: of the study that runs somebody
    else's; `mpi_environment`: variables of the MPI for every launch.
    """

    __pydantic_config__ = validate.MODEL

    variants: list[str]
    settings: dict[str, str]
    seed: int
    nodes: int
    config: str
    partition: str = ""
    all_mpis: bool = True
    slowdown: float = 1.0
    gate: Gate | None = None
    program: Program | None = None
    mpi_environment: dict[str, str] = field(default_factory=dict)
    race: Race | None = None


@dataclass(frozen=True)
class Resumed:
    """`differences`: what was not as in the first run, where that was forced."""

    __pydantic_config__ = validate.MODEL

    time: str
    differences: list[str]


@dataclass(frozen=True)
class Git:
    __pydantic_config__ = validate.MODEL

    commit: str
    dirty: bool


@dataclass(frozen=True)
class Costs:
    """What ./bench engine-costs was asked for, beside its study."""

    __pydantic_config__ = validate.MODEL

    parts: list[str]
    launches: int


@dataclass
class Facts:
    """A session.json. `expected`: the launches that were planned; `identity`: what must be the same in a resumed run;
    `work_of`: the session whose calibration it took; `origin`: drawn when it was made, tells it from others of its name
    wherever its folder is; `emulated`: on processors that are; `simulated`: nothing was
    measured, a model predicted: its files with their SHA-256. Times are in ISO 8601, UTC.
    """

    __pydantic_config__ = validate.MODEL

    session: str
    created: str
    state: State
    schema: Literal[1] = 1
    finished: str | None = None
    command: list[str] = field(default_factory=list)
    scale: str = ""
    studies: list[str] = field(default_factory=list)
    system: str = ""
    mpi_names: list[str] = field(default_factory=list)
    request: Asked | None = None
    expected: list[str] = field(default_factory=list)
    identity: dict[str, str] = field(default_factory=dict)
    spack: dict[str, Any] | None = None
    mpis: dict[str, dict[str, str]] = field(default_factory=dict)
    git: Git | None = None
    version: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    reframe: str = ""
    python: str = ""
    network: str = ""
    network_measured: dict[str, float] = field(default_factory=dict)
    emulated: bool = False
    simulated: dict[str, str] = field(default_factory=dict)
    work_of: str | None = None
    origin: str = ""
    resumed: list[Resumed] = field(default_factory=list)
    costs: Costs | None = None
