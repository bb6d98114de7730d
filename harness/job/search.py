# SPDX-License-Identifier: BSD-3-Clause
"""A search of settings, as irace and F-Race have it: which take part, in which rounds, and the launches this means.

It is run a block at a time; a block is some rounds of the same settings, and after it is known who goes on. Each
round has every setting of its block once, the default among them: what is compared ran side by side. The blocks that
were planned stand in the session, so a search that was stopped goes on from there. In a block without rounds the
variables of the MPI are read back, a program of one's own is tried, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.base import validate
from harness.base.variants import with_settings
from harness.job.plan import Block, Point, Rounds, Side
from harness.job.read_back import Probe

DEFAULT = "default"  # what every setting is held against
REFERENCE = "reference"  # bare under the MPI as it is: whose times of communication and computation the metrics take
CONFIRM = "confirm."  # before the names of the sides that are measured afresh, at points that were not tuned
# Where one of them fails, no further launch of the confirmation is needed: a winner that failed is not confirmed, and
# where the default failed the rounds before that have both, and decide.
COMPARED = (f"{CONFIRM}{DEFAULT}", f"{CONFIRM}tuned")
HELD_AGAINST = (DEFAULT, REFERENCE, f"{CONFIRM}{REFERENCE}")  # of no setting: a launch of them that failed is repeated


@dataclass(frozen=True)
class Parameter:
    """One axis of the space: a setting of the engine, or a variable of the MPI (`of_mpi`). The first of `values` is
    the default, under which it is left alone."""

    __pydantic_config__ = validate.MODEL

    name: str
    values: list[str]
    of_mpi: bool


@dataclass(frozen=True)
class Contender:
    """A setting that takes part: the parameters that are not left at their defaults. `proposed`: by what."""

    __pydantic_config__ = validate.MODEL

    name: str
    values: dict[str, str]
    proposed: str = ""


@dataclass(frozen=True)
class Search:
    """What was asked for and what was planned of it so far.

    `variant`: of the default; `bounds`: metric -> what it may be at most; `points`: those that are tuned, `untuned`
    those at which the winner is confirmed; `spent_s`: how long the blocks took that are over; `at_once`: how many
    settings are measured at once; `block_rounds`: rounds of a block; `confirm`: those of the confirmation, to
    which as many are added where they leave it open, until they were looked at `looks` times.
    """

    __pydantic_config__ = validate.MODEL

    variant: str
    objective: str
    bounds: dict[str, float]
    minutes: float
    method: str
    at_once: int
    block_rounds: int
    confirm: int
    space: list[Parameter]
    points: list[Point]
    untuned: list[Point]
    reference: bool
    probes: list[Probe] = field(default_factory=list)
    contenders: list[Contender] = field(default_factory=list)
    sides: list[Side] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    spent_s: float = 0.0
    looks: int = 3

    def in_rounds(self) -> Rounds:
        """A setting that failed is launched no more; of what the settings are held against a launch is repeated. A
        confirmation is over where one of the two fails that are compared: what was measured before decides."""
        drop = {side.name: [] if side.name in HELD_AGAINST else [side.name] for side in self.sides}
        drop = {name: [*own, *(COMPARED if name.startswith(CONFIRM) else ())] for name, own in drop.items()}
        return Rounds(self.sides, self.blocks, drop=drop, grows=True)


def side_of(search: Search, name: str, values: dict[str, str], points: Sequence[Point], engine: bool = True) -> Side:
    """The side with which a setting runs: its engine's settings in the variant, the MPI's in the environment."""
    of_mpi = {parameter.name: parameter.of_mpi for parameter in search.space}
    settings = engine_of(search, values)
    variables = {key: value for key, value in values.items() if of_mpi[key]}
    preset = search.variant.partition(":")[0]
    variant = with_settings(preset, [f"{key}={value}" for key, value in settings.items()]) if engine else "bare"
    return Side(name, variant, points=list(points), environment=variables)


def engine_of(search: Search, values: dict[str, str]) -> dict[str, str]:
    """The engine's settings under these values: those of the search's variant, and what differs from them."""
    of_mpi = {parameter.name: parameter.of_mpi for parameter in search.space}
    own = dict(pair.split("=", 1) for pair in search.variant.split(":")[1:])
    return own | {key: value for key, value in values.items() if not of_mpi[key]}
