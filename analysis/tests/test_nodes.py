# SPDX-License-Identifier: BSD-3-Clause
"""The machine that counts is the one that measured: its nodes' own facts; the login node's for want of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.requirements import REQUIREMENTS, missing
from analysis.compare.judge import compare
from analysis.errors import UsageError
from analysis.figures import toolkit
from analysis.records.load import Records, load
from analysis.report import tables
from analysis.tests.synthetic import USUAL, Synthetic

NODE = {"cpu_model": "Node CPU", "sockets": 2, "cores": 64, "threads_per_core": 2, "mwait": "umwait", "kernel": "6.1"}
PLAIN = {**NODE, "threads_per_core": 1, "mwait": None}


def session(folder: Path, nodes: dict[str, dict[str, Any]] | None, **changed: Any) -> Path:
    """Ranks on vc1 and vc2; the login node has one socket, two cores, one thread a core."""
    made = {"mpis": {"mpich": {"bare": USUAL["bare"]}}, "launches": 2, "samples": 3, "comp_over_comm": (1.0,)}
    return Synthetic(**{**made, **changed}, nodes=nodes).write(folder)


def not_met(records: Records, *names: str) -> list[str]:
    return missing(names, records.sessions[0], records.launches)


def test_a_requirement_is_held_against_the_nodes_and_not_against_the_login_node(tmp_path: Path) -> None:
    records = load([session(tmp_path / "s", {"vc1": NODE, "vc2": NODE})])
    assert not_met(records, "smt", "two sockets", "four cores", "mwait") == []
    assert not records.cautions()
    assert "Node CPU" in toolkit.provenance(records)
    assert "Example CPU" not in toolkit.provenance(records)


def test_a_requirement_must_hold_on_every_node_that_ran(tmp_path: Path) -> None:
    records = load([session(tmp_path / "s", {"vc1": NODE, "vc2": PLAIN, "vc9": {"cores": 1}})])
    assert not_met(records, "smt") == ["no SMT sibling: 1 threads per core (on node vc2)"]
    assert not_met(records, "mwait") == ["the CPU shows neither UMWAIT nor MWAITX (on node vc2)"]
    assert not_met(records, "four cores") == [], "nothing ran on vc9"
    (caution,) = records.cautions()
    assert caution == ("The nodes of session s have different numbers of threads a core: 2 on node vc1; 1 on node vc2.")
    shown = dict(tables.session(records.sessions[0])["rows"])
    assert (shown["nodes vc1 threads per core"], shown["nodes vc2 threads per core"]) == ("2", "1")


def test_without_their_facts_the_login_node_stands_in_and_it_is_said(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", {"vc1": NODE, "vc2": NODE})
    shutil.rmtree(folder / "nodes")
    records = load([folder])
    assert not_met(records, "smt") == ["no SMT sibling: 1 threads per core"]
    assert "does not describe its compute nodes" in records.cautions()[0]
    one = load([session(tmp_path / "one", {"vc1": NODE})])
    assert one.cautions() == ["Session one does not describe all of its nodes: not vc2."]


def test_every_machine_requirement_reads_the_nodes(tmp_path: Path) -> None:
    """None of them may be met by a login node alone."""
    folder = session(tmp_path / "s", {"vc1": {"cpu_model": "x", "mwait": None}, "vc2": NODE})
    facts = json.loads((folder / "session.json").read_text())
    rich = {**NODE, "nics": [{"driver": "mlx5_core"}]}
    (folder / "session.json").write_text(json.dumps({**facts, "machine": rich}))
    records = load([folder])
    of_machine = [name for name in REQUIREMENTS if "processes" not in name and name != "spec licence"]
    assert [name for name in of_machine if not not_met(records, name)] == []


def test_sessions_of_other_nodes_are_not_compared_though_the_login_node_is_one(tmp_path: Path) -> None:
    base = session(tmp_path / "base", {"vc1": NODE, "vc2": NODE})
    with pytest.raises(UsageError, match="different processors: Node CPU in BASE, Other CPU in NEW"):
        compare(base, session(tmp_path / "new", {host: {**NODE, "cpu_model": "Other CPU"} for host in ("vc1", "vc2")}))
    mixed = session(tmp_path / "mixed", {"vc1": NODE, "vc2": {**NODE, "cores": 32}})
    with pytest.raises(UsageError, match=r"64 in BASE, 64 \(node vc1\) and 32 \(node vc2\) in NEW"):
        compare(base, mixed)
    told = session(tmp_path / "told", {"vc1": NODE, "vc2": {**NODE, "kernel": "6.2"}}, seed=2)
    notes = compare(base, told).notes
    assert "different kernels: 6.1 in BASE, 6.1 (node vc1) and 6.2 (node vc2) in NEW" in notes
    assert "The nodes of session told have different kernels: 6.1 on node vc1; 6.2 on node vc2." in notes


def test_a_machine_is_the_nodes_where_login_nodes_differ(tmp_path: Path) -> None:
    base = session(tmp_path / "base", {"vc1": NODE, "vc2": NODE})
    other = session(tmp_path / "new", {"vc1": NODE, "vc2": NODE}, seed=2, machine="Another login node")
    assert compare(base, other).notes == []


def test_a_file_of_a_node_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", {"vc1": NODE, "vc2": NODE})
    (folder / "nodes" / "vc2.json").write_text("{")
    (folder / "nodes" / "vc3.json").write_text("[]")
    said = [str(problem) for problem in load([folder]).problems]
    assert len(said) == 2
    assert "vc2.json: cannot be read" in said[0]
    assert "vc3.json: does not say which node it describes" in said[1]


def test_names_with_and_without_a_domain_are_one_node(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", {"vc1.site.org": NODE, "vc2.site.org": NODE})
    assert load([folder]).cautions() == []
