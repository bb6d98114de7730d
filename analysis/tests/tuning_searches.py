# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of a search share: made-up measurements, and a session with made-up records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.tests.synthetic import Behaviour, Synthetic, write_lines
from analysis.tuning.search_records import DEFAULT, OLD, REFERENCE, TUNED, Axis, Block, Measured, Score, SearchPlan

SPACE = (Axis("burst", ("default", "1", "20")), Axis("UCX_RNDV_THRESH", ("default", "8192"), of_mpi=True))
CONTENDERS = {"s001": {"burst": "20"}, "s002": {"burst": "1", "UCX_RNDV_THRESH": "8192"}}
SIDES = (DEFAULT, REFERENCE, "s001", "s002")


def made(
    gains: Mapping[str, float], rounds: int = 6, bounds: Mapping[str, float] | None = None, **more: Any
) -> Measured:
    """A search of one block in which every round adds some noise of its own to all sides."""
    rng = np.random.default_rng(1)
    scores: dict[str, dict[int, Score]] = {}
    for round_ in range(rounds):
        common = rng.normal(0, 1)
        for side, gain in gains.items():
            inflation = (bounds or {}).get(side, 1.0) + rng.normal(0, 1e-3)
            kept = {"inflation": inflation}
            scores.setdefault(side, {})[round_] = Score(gain + common + rng.normal(0, 1e-3), kept)
    wanted = SearchPlan(
        "efficiency", SPACE, {"inflation": 1.05} if bounds else {}, contenders=CONTENDERS,
        blocks=(Block(tuple(gains), rounds, 0),),
    )  # fmt: skip
    plain = {side: {round_: one.value for round_, one in rounds.items()} for side, rounds in scores.items()}
    return Measured(wanted, scores, plain=plain, **more)


def confirmed(
    gain: float,
    inflation: float = 1.0,
    failures: Mapping[str, str] | None = None,
    search: Measured | None = None,
    of_default: float | None = None,
) -> Measured:
    """The search above with s001 as its winner, measured afresh. `of_default`: its inflation, if that is another."""
    search = search or made({DEFAULT: 0.0, "s001": 0.2, "s002": -0.1}, bounds={DEFAULT: 1.0})
    rng = np.random.default_rng(3)
    fresh = {OLD: (0.0, of_default or inflation), TUNED: (gain, inflation)}
    scores = dict(search.scores) | {
        side: {
            round_: Score(value + rng.normal(0, 0.01), {"inflation": bound + rng.normal(0, 1e-3)})
            for round_ in range(6, 18)
        }
        for side, (value, bound) in fresh.items()
    }
    plain = {side: {round_: one.value for round_, one in rounds.items()} for side, rounds in scores.items()}
    blocks = (*search.asked.blocks, Block(tuple(fresh), 12, 6))
    wanted = replace(search.asked, blocks=blocks)
    return Measured(wanted, scores, failures or {}, plain, session="made-up")


BEHAVIOURS = {
    DEFAULT: Behaviour(0.6, 1.02), REFERENCE: Behaviour(0.05), "s001": Behaviour(0.8, 1.02),
    "s002": Behaviour(0.4, 1.2),
}  # fmt: skip


def search_session(folder: Path, sides: Mapping[str, Behaviour], comp: float = 1.0, **search: Any) -> Path:
    """A session of two rounds of these sides, with records as a launch leaves them."""
    maker = Synthetic(comp_over_comm=(comp,), sizes=(1 << 20, 1 << 22))
    maker.write(folder)
    for path in (folder / "records").glob("*.jsonl"):
        path.unlink()
    facts = json.loads((folder / "session.json").read_text())
    said = {
        "variant": "adaptive", "objective": "efficiency", "bounds": {"inflation": 1.05}, "method": "tpe", "at_once": 6,
        "block_rounds": 2, "confirm": 12, "points": [], "untuned": [],
        "space": [{"name": axis.name, "values": list(axis.values), "of_mpi": axis.of_mpi} for axis in SPACE],
        "contenders": [{"name": name, "values": values} for name, values in CONTENDERS.items()],
        "blocks": [{"sides": list(sides), "rounds": 2}],
    }  # fmt: skip
    facts["request"] = {"search": {**said, **search}}
    (folder / "session.json").write_text(json.dumps(facts))
    rng = np.random.default_rng(1)
    for round_ in range(2):
        for order, (side, behaviour) in enumerate(sides.items()):
            context = {
                "session": folder.name, "launch": f"x.{round_}.{side}", "study": "overlap-ratio", "system": "vcluster",
                "mpi": "mpich", "variant": "bare" if side == REFERENCE else "adaptive", "repetition": round_,
                "order": order, "side": side, "scale": "test",
                **({"mpi_environment": {"UCX_RNDV_THRESH": "8192"}} if side == "s002" else {}),
            }  # fmt: skip
            write_lines(folder / "records" / f"x.{round_}.{side}.jsonl", maker.launch_lines(context, behaviour, rng))
    return folder
