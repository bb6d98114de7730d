# SPDX-License-Identifier: BSD-3-Clause
"""Where the MPI chose another transport under one variant than under another, the report says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.metrics.evaluate import evaluate
from analysis.records.load import load
from analysis.report import tables
from analysis.report.transports import words
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic, write_lines

OB1 = {"component": "ob1", "libraries": ["mca_pml_ob1.so"], "devices": [], "tcp": True, "udp": True}
UCX = {"component": "ucx", "libraries": ["libucp.so"], "devices": ["/dev/infiniband/uverbs0"], "tcp": False}


def gaps(folder: Path, **transports: dict[str, Any] | None) -> list[list[str]]:
    """Of a session in which each variant's ranks had such a transport; None: they had no engine."""
    behaviour = {name: USUAL.get(name, Behaviour(0.1, 1.0)) for name in transports}
    made = Synthetic(mpis={"openmpi": behaviour}, launches=2, samples=5, comp_over_comm=(1.0,)).write(folder)
    for file in (made / "records").glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        transport = transports[lines[0]["header"]["context"]["variant"]]
        for rank in lines[-1]["end"]["ranks"]:
            rank["engine"] = {"preset": "any", "active": True, "transport": transport} if transport else None
        write_lines(file, lines)
    records = load([made])
    return [row for row in tables.gaps(records, evaluate(records))["rows"] if row[3] == "transport"]


def test_a_transport_is_said_as_the_engine_says_it() -> None:
    assert words(OB1) == "ob1, tcp"
    assert words(UCX) == "ucx, /dev/infiniband/uverbs0"
    assert words({}) == "unknown"


def test_another_transport_than_without_the_engine_is_said(tmp_path: Path) -> None:
    (row,) = gaps(tmp_path / "s", bare=None, off=UCX, adaptive=OB1)
    assert row[1:5] == ["openmpi", "adaptive", "transport", "differs"]
    assert row[5] == "ob1, tcp; ucx, /dev/infiniband/uverbs0 under off: not the engine alone differs"


@pytest.mark.parametrize(
    "transports", [{"off": OB1, "adaptive": OB1}, {"bare": None, "adaptive": OB1}, {"adaptive": OB1, "idle": OB1}]
)
def test_what_is_alike_or_unknown_is_not_said(transports: dict[str, Any], tmp_path: Path) -> None:
    assert gaps(tmp_path / "s", **transports) == []


def test_without_that_variant_the_first_is_what_others_are_held_against(tmp_path: Path) -> None:
    (row,) = gaps(tmp_path / "s", adaptive=UCX, idle=OB1)
    assert (row[2], "under adaptive" in row[5]) == ("idle", True)
