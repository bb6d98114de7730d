# SPDX-License-Identifier: BSD-3-Clause
"""What a race was asked for and what was planned of it, as its session.json says (harness.job.race)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.errors import UsageError

# The names of arms are those of harness.job.race, which is not imported here; a test holds them against each other.
DEFAULT, REFERENCE, CONFIRM = "default", "reference", "confirm."
UNSET = "default"  # a parameter's value that leaves it alone
CHANGED = 3  # parameters that a first setting changes: a bad value of one of many would hide the others
# The arms of a confirmation: the winner and the default afresh, and the two factors of the winner one by one.
TUNED = f"{CONFIRM}tuned"
OLD = f"{CONFIRM}{DEFAULT}"
ENGINE_ALONE = f"{CONFIRM}tuned-engine"  # under the MPI as it is
MPI_ALONE = f"{CONFIRM}tuned-mpi"  # bare
BARE = f"{CONFIRM}{REFERENCE}"


@dataclass(frozen=True)
class Axis:
    """A parameter and its values, the first of which is UNSET."""

    name: str
    values: tuple[str, ...]
    of_mpi: bool = False


@dataclass(frozen=True)
class Tried:
    """A setting that ran: by how much it was better than the default, None where it failed; `beyond`: by how much a
    bound was broken, below zero where none was."""

    values: Mapping[str, str]
    gain: float | None
    beyond: float = -1.0


@dataclass(frozen=True)
class Block:
    """Rounds of the same arms; `first` is the number of its first round."""

    arms: tuple[str, ...]
    rounds: int
    first: int

    @property
    def turns(self) -> range:
        return range(self.first, self.first + self.rounds)


@dataclass(frozen=True)
class Asked:
    """`contenders`: name -> the parameters that are not left alone. `bounds`: metric -> what it may be at most.
    `confirm`: rounds of a confirmation, which may be looked at and go on `looks` times."""

    objective: str
    space: tuple[Axis, ...]
    bounds: Mapping[str, float] = field(default_factory=dict)
    search: str = "effects"
    seats: int = 6
    settle: int = 6
    confirm: int = 12
    looks: int = 3
    contenders: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    variant: str = "adaptive"
    elsewhere: bool = True  # the winner is confirmed at other points than those that were tuned
    verified: bool = True  # False for a program of one's own whose result nothing finds in its output

    @property
    def raced(self) -> list[Block]:
        """The blocks of the race itself."""
        return [block for block in self.blocks if block.rounds and not block.arms[0].startswith(CONFIRM)]

    @property
    def confirmed(self) -> list[Block]:
        """The blocks in which the winner was measured afresh."""
        return [block for block in self.blocks if block.rounds and block.arms[0].startswith(CONFIRM)]


def of(facts: Mapping[str, Any]) -> Asked:
    """What a session's facts say; UsageError if it is none of a race."""
    race = (facts.get("request") or {}).get("race")
    if not race:
        raise UsageError(f"{facts.get('session', 'this')} is no session of ./bench tune.")
    blocks, first = [], 0
    for block in race["blocks"]:
        blocks.append(Block(tuple(block["arms"]), block["rounds"], first))
        first += block["rounds"]
    return Asked(
        objective=race["objective"],
        space=tuple(Axis(axis["name"], tuple(axis["values"]), axis["of_mpi"]) for axis in race["space"]),
        bounds=dict(race["bounds"]),
        search=race["search"],
        seats=race["seats"],
        settle=race["settle"],
        confirm=race["confirm"],
        looks=race.get("looks", 1),
        contenders={one["name"]: dict(one["values"]) for one in race["contenders"]},
        blocks=tuple(blocks),
        variant=race["variant"],
        elsewhere=race["points"] != race["untuned"],
        verified=_verified(facts["request"].get("program")),
    )


def _verified(program: Mapping[str, Any] | None) -> bool:
    """Whether wrong results are seen: a study verifies its data; of somebody else's program what --check finds."""
    return not program or bool(program.get("check") or program.get("case"))
