# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of a race share: made-up measurements, and a session with made-up records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.tests.synthetic import Behaviour, Synthetic, write_lines
from analysis.tuning.measured import DEFAULT, OLD, REFERENCE, TUNED, Asked, Axis, Block, Measured, Score

SPACE = (Axis("burst", ("default", "1", "20")), Axis("UCX_RNDV_THRESH", ("default", "8192"), of_mpi=True))
CONTENDERS = {"s001": {"burst": "20"}, "s002": {"burst": "1", "UCX_RNDV_THRESH": "8192"}}
ARMS = (DEFAULT, REFERENCE, "s001", "s002")


def made(
    gains: Mapping[str, float], rounds: int = 6, bounds: Mapping[str, float] | None = None, **more: Any
) -> Measured:
    """A race of one block in which every round adds some noise of its own to all arms."""
    rng = np.random.default_rng(1)
    scores: dict[str, dict[int, Score]] = {}
    for turn in range(rounds):
        common = rng.normal(0, 1)
        for arm, gain in gains.items():
            inflation = (bounds or {}).get(arm, 1.0) + rng.normal(0, 1e-3)
            kept = {"inflation": inflation}
            scores.setdefault(arm, {})[turn] = Score(gain + common + rng.normal(0, 1e-3), kept)
    wanted = Asked(
        "efficiency", SPACE, {"inflation": 1.05} if bounds else {}, contenders=CONTENDERS,
        blocks=(Block(tuple(gains), rounds, 0),),
    )  # fmt: skip
    plain = {arm: {turn: one.value for turn, one in turns.items()} for arm, turns in scores.items()}
    return Measured(wanted, scores, plain=plain, **more)


def confirmed(
    gain: float,
    inflation: float = 1.0,
    failures: Mapping[str, str] | None = None,
    race: Measured | None = None,
    of_default: float | None = None,
) -> Measured:
    """The race above with s001 as its winner, measured afresh. `of_default`: its inflation, if that is another."""
    race = race or made({DEFAULT: 0.0, "s001": 0.2, "s002": -0.1}, bounds={DEFAULT: 1.0})
    rng = np.random.default_rng(3)
    fresh = {OLD: (0.0, of_default or inflation), TUNED: (gain, inflation)}
    scores = dict(race.scores) | {
        arm: {
            turn: Score(value + rng.normal(0, 0.01), {"inflation": bound + rng.normal(0, 1e-3)})
            for turn in range(6, 18)
        }
        for arm, (value, bound) in fresh.items()
    }
    plain = {arm: {turn: one.value for turn, one in turns.items()} for arm, turns in scores.items()}
    blocks = (*race.asked.blocks, Block(tuple(fresh), 12, 6))
    wanted = replace(race.asked, blocks=blocks)
    return Measured(wanted, scores, failures or {}, plain, session="made-up")


BEHAVIOURS = {
    DEFAULT: Behaviour(0.6, 1.02), REFERENCE: Behaviour(0.05), "s001": Behaviour(0.8, 1.02),
    "s002": Behaviour(0.4, 1.2),
}  # fmt: skip


def race_session(folder: Path, arms: Mapping[str, Behaviour], comp: float = 1.0, **race: Any) -> Path:
    """A session of two rounds of these arms, with records as a launch leaves them."""
    maker = Synthetic(comp_over_comm=(comp,), sizes=(1 << 20, 1 << 22))
    maker.write(folder)
    for path in (folder / "records").glob("*.jsonl"):
        path.unlink()
    facts = json.loads((folder / "session.json").read_text())
    said = {
        "variant": "adaptive", "objective": "efficiency", "bounds": {"inflation": 1.05}, "search": "tpe", "at_once": 6,
        "block_rounds": 2, "confirm": 12, "points": [], "untuned": [],
        "space": [{"name": axis.name, "values": list(axis.values), "of_mpi": axis.of_mpi} for axis in SPACE],
        "contenders": [{"name": name, "values": values} for name, values in CONTENDERS.items()],
        "blocks": [{"arms": list(arms), "rounds": 2}],
    }  # fmt: skip
    facts["request"] = {"race": {**said, **race}}
    (folder / "session.json").write_text(json.dumps(facts))
    rng = np.random.default_rng(1)
    for turn in range(2):
        for order, (arm, behaviour) in enumerate(arms.items()):
            context = {
                "session": folder.name, "launch": f"x.{turn}.{arm}", "study": "overlap-ratio", "system": "vcluster",
                "mpi": "mpich", "variant": "bare" if arm == REFERENCE else "adaptive", "repetition": turn,
                "order": order, "arm": arm, "scale": "test",
                **({"mpi_environment": {"UCX_RNDV_THRESH": "8192"}} if arm == "s002" else {}),
            }  # fmt: skip
            write_lines(folder / "records" / f"x.{turn}.{arm}.jsonl", maker.launch_lines(context, behaviour, rng))
    return folder
