# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes and links are named: those that are slower than the others, and nobody else; and the machine that counts
is the one that measured: its nodes' own facts, the login node's for want of them."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.claims.decision import REQUIREMENTS, missing
from analysis.compare.point_tests import compare
from analysis.errors import UsageError
from analysis.figures import toolkit
from analysis.gate import slow_nodes
from analysis.records.load import Records, load
from analysis.report import page_tables
from analysis.tests.synthetic import USUAL, Synthetic

NODES = ("a", "b", "c", "d", "e")
ROUNDS = 20
Measured = dict[str, dict[int, float]]


def links(slow: Mapping[str, float], nodes: tuple[str, ...] = NODES, noise: float = 0.02, seed: int = 1) -> Measured:
    """`slow`: a node, all of whose links are slower, or a pair."""
    rng = np.random.default_rng(seed)
    found = {}
    for pair in itertools.combinations(nodes, 2):
        factor = max(slow.get(name, 1.0) for name in (*pair, " and ".join(pair)))
        found[" and ".join(pair)] = {n: factor * math.exp(rng.normal(0, noise)) for n in range(ROUNDS)}
    return found


def named(slow: Mapping[str, float], nodes: tuple[str, ...] = NODES) -> list[str]:
    return [one.where for one in slow_nodes.slow_parts({"transfer": links(slow, nodes)})]


def test_nothing_is_odd_where_all_are_alike() -> None:
    for seed in range(20):
        assert not slow_nodes.slow_parts({"transfer": links({}, noise=0.1, seed=seed)})


@pytest.mark.parametrize("count", [3, 4, 5])
def test_a_node_whose_links_are_all_slow_is_named_in_their_place(count: int) -> None:
    assert named({"b": 1.5}, NODES[:count]) == ["b"]


def test_one_slow_link_is_named_by_its_two_ends() -> None:
    assert named({"b and d": 1.5}) == ["b and d"]
    assert named({"b and d": 1.5, "e": 1.4}) == ["e", "b and d"]


def test_all_that_is_measured_shares_one_error() -> None:
    """Four measures are four times as many tests as one of them."""
    alone = {"a": dict.fromkeys(range(ROUNDS), 1.0), "b": dict.fromkeys(range(ROUNDS), 1.3)}
    fewest = slow_nodes.rounds_wanted(2)
    assert (
        2 * slow_nodes._level(2) == 8 * slow_nodes._level(8) == slow_nodes.NODE_ERROR
        and slow_nodes.rounds_wanted(8) == fewest + 2
    )
    short = {where: {round_: rounds[round_] for round_ in range(fewest)} for where, rounds in alone.items()}
    both = {"computation": short, "transfer": {"a and b": short["a"]}}
    assert [one.where for one in slow_nodes.slow_parts(both)] == ["b"]
    assert not slow_nodes.slow_parts({f"computation bound by {number}": short for number in range(4)})
    assert len(slow_nodes.slow_parts({f"computation bound by {number}": alone for number in range(4)})) == 4


def test_one_long_launch_names_nobody() -> None:
    measured = links({})
    measured["a and b"][3] *= 10
    assert not slow_nodes.slow_parts({"transfer": measured})


def test_too_few_rounds_name_nobody() -> None:
    few = {where: {n: rounds[n] for n in range(8)} for where, rounds in links({"b": 3.0}).items()}
    assert not slow_nodes.slow_parts({"transfer": few}) and slow_nodes.rounds_wanted(len(few)) > 8


def test_other_nodes_in_the_middle_hide_no_slow_one() -> None:
    """A job that was preempted may be given others: no round has all of them."""
    later = {where: {ROUNDS + n: rounds[n] for n in range(6)} for where, rounds in links({}, ("x", "y", "z")).items()}
    slow = {"a": dict.fromkeys(range(ROUNDS), 1.0), "b": dict.fromkeys(range(ROUNDS), 1.3)}
    slow["c"] = {**slow["a"], **dict.fromkeys(range(ROUNDS, ROUNDS + 6), 1.0)}
    found = slow_nodes.slow_parts({"transfer": {**links({"b": 1.5}, ("a", "b", "c")), **later}, "computation": slow})
    assert [(one.what, one.where) for one in found] == [("transfer", "b"), ("computation", "b")]


def record(
    folder: Path,
    round_: int,
    slow: str,
    hosts: tuple[str, ...] = ("n1", "n2", "n3"),
    rounds: tuple[int, ...] = (0, 1, 2),
    attempt: str = "",
) -> None:
    """A launch on three nodes, of which one rests in each round of the tournament."""
    context = {
        "launch": f"s.{round_}", "study": "node-pairs", "system": "local", "mpi": "mpich", "variant": "bare",
        "repetition": round_, "order": round_,
    }  # fmt: skip
    ranks = [{"rank": n, "host": host, "cpus_allowed": [n], "clock_resolution_s": 1e-9} for n, host in enumerate(hosts)]
    unit = {"unit": "s", "better": "lower", "leading": False}
    quantities = {"comp_s": unit, "transfer_s": {**unit, "leading": True}, "partner": {**unit, "better": "neither"}}
    header = {
        "schema": 3, "context": context, "workload": {"name": "node-pairs", "version": "1"}, "arguments": [],
        "mpi_library": "MPICH", "thread_level": None, "world_size": 3, "ranks": ranks, "start_time": "2026",
        "quantities": quantities,
    }  # fmt: skip
    lines: list[dict[str, Any]] = [{"header": header}]
    for number in rounds:
        for rank, host in enumerate(hosts):
            samples = {"comp_s": [0.01 * (1.5 if host == slow else 1.0)] * 3}
            partner = (number - rank) % 3
            if partner != rank:
                samples |= {"transfer_s": [1e-4] * 3, "partner": [float(partner)] * 3}
            point = {"round": number, "size_bytes": 8, "work": "register", "work_units": 100, "round_trips": 5}
            lines.append({"point": point, "rank": rank, "status": "ok", "samples": samples})
    lines.append({"end": {"status": "ok", "elapsed_s": 1.0, "ranks": []}})
    (folder / f"s.{round_}{attempt}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    facts = {
        "session": "n", "created": "2026", "system": "local", "mpi_names": ["mpich"], "studies": ["node-pairs"],
        "state": "complete",
    }  # fmt: skip
    (tmp_path / "session.json").write_text(json.dumps(facts))
    (tmp_path / "records").mkdir()
    for round_ in range(16):
        record(tmp_path / "records", round_, slow="n2")
    return tmp_path


def test_nodes_and_pairs_of_a_session(session: Path) -> None:
    found = slow_nodes.read(session)
    assert set(found.measured["transfer of 8 bytes"]) == {"n1 and n2", "n1 and n3", "n2 and n3"}
    assert found.nodes == ["n1", "n2", "n3"] and found.rounds == 16
    assert [(one.where, one.what) for one in found.slow] == [("n2", "computation bound by register")]
    assert "node n2 computes 50 % slower than the others (bound by register" in found.sentence()
    assert "| n2 | 15000.0 us (1.50) | 100.0 us (1.00) |" in slow_nodes.as_markdown(found)
    assert json.loads(slow_nodes.as_json(found))["odd"][0]["where"] == "n2"


def test_what_was_measured_before_a_launch_was_resumed_is_of_the_nodes_it_had_then(session: Path) -> None:
    """A job that is given anew has others, and only the points that it lacked run there."""
    folder = session / "records"
    for path in folder.iterdir():
        path.unlink()
    record(folder, 0, "n2", rounds=(0, 1))
    record(folder, 0, "", ("n4", "n5", "n6"), rounds=(2,), attempt=".r1")
    found = slow_nodes.read(session)
    assert found.nodes == ["n1", "n2", "n3", "n4", "n5", "n6"]
    assert set(found.measured["transfer of 8 bytes"]) == {"n2 and n3", "n1 and n2", "n4 and n6"}
    computed = found.measured["computation bound by register"]
    assert {host: seconds[0] for host, seconds in computed.items()} == {
        "n1": 0.01, "n2": 0.015, "n3": 0.01, "n4": 0.01, "n5": 0.01, "n6": 0.01,
    }  # fmt: skip


def test_too_few_launches_say_nothing_of_anybody(session: Path) -> None:
    wanted = slow_nodes.rounds_wanted(6)  # three nodes and three links
    for round_ in range(wanted - 1, 16):
        (session / "records" / f"s.{round_}.jsonl").unlink()
    found = slow_nodes.read(session)
    assert not found.slow and found.too_few
    assert f"too few launches, {wanted - 1} of {wanted} wanted" in found.sentence()
    for round_ in range(16):
        record(session / "records", round_, slow="")
    found = slow_nodes.read(session)
    assert not found.too_few and "No node and no link is slower" in found.sentence()


@pytest.mark.parametrize("lacking", [0, 1])
def test_after_resume_on_other_nodes_the_launches_count_that_ran_on_the_same_ones(session: Path, lacking: int) -> None:
    """No place is in all of them."""
    for path in (session / "records").iterdir():
        path.unlink()
    wanted = slow_nodes.rounds_wanted(6)
    for round_ in range(3 + wanted - lacking):
        record(session / "records", round_, "", ("n1", "n2", "n3") if round_ < 3 else ("n4", "n5", "n6"))
    found = slow_nodes.read(session)
    assert (found.rounds, found.wanted, found.too_few) == (wanted - lacking, wanted, bool(lacking))
    said = f"{wanted - 1} of {wanted} wanted" if lacking else f"over {wanted} launches on 3 nodes"
    assert said in found.sentence() and "Nothing is said of n1, n2, n3: " in found.sentence()
    assert json.loads(slow_nodes.as_json(found))["not_compared"] == ["n1", "n2", "n3"]


def test_a_session_without_records_says_so_and_another_one_is_refused(session: Path) -> None:
    for path in (session / "records").iterdir():
        path.unlink()
    assert "Nothing was measured" in slow_nodes.read(session).sentence()
    facts = json.loads((session / "session.json").read_text())
    (session / "session.json").write_text(json.dumps({**facts, "studies": ["overlap-ratio"]}))
    with pytest.raises(UsageError, match=r"no session of \./bench nodes"):
        slow_nodes.read(session)


NODE = {"cpu_model": "Node CPU", "sockets": 2, "cores": 64, "threads_per_core": 2, "mwait": "umwait", "kernel": "6.1"}
PLAIN = {**NODE, "threads_per_core": 1, "mwait": None}


def measured_on(folder: Path, nodes: dict[str, dict[str, Any]] | None, **changed: Any) -> Path:
    """Ranks on vc1 and vc2; the login node has one socket, two cores, one thread a core."""
    made = {"mpis": {"mpich": {"bare": USUAL["bare"]}}, "launches": 2, "samples": 3, "comp_over_comm": (1.0,)}
    return Synthetic(**{**made, **changed}, nodes=nodes).write(folder)


def not_met(records: Records, *names: str) -> list[str]:
    return missing(names, records.sessions[0], records.launches)


def test_a_requirement_is_held_against_the_nodes_and_not_against_the_login_node(tmp_path: Path) -> None:
    records = load([measured_on(tmp_path / "s", {"vc1": NODE, "vc2": NODE})])
    assert not_met(records, "smt", "two sockets", "four cores", "mwait") == []
    assert not records.cautions()
    assert "Node CPU" in toolkit.provenance(records)
    assert "Example CPU" not in toolkit.provenance(records)


def test_a_requirement_must_hold_on_every_node_that_ran(tmp_path: Path) -> None:
    records = load([measured_on(tmp_path / "s", {"vc1": NODE, "vc2": PLAIN, "vc9": {"cores": 1}})])
    assert not_met(records, "smt") == ["no SMT sibling: 1 threads per core (on node vc2)"]
    assert not_met(records, "mwait") == ["the CPU shows neither UMWAIT nor MWAITX (on node vc2)"]
    assert not_met(records, "four cores") == [], "nothing ran on vc9"
    (caution,) = records.cautions()
    assert caution == ("The nodes of session s have different numbers of threads a core: 2 on node vc1; 1 on node vc2.")
    shown = dict(page_tables.session(records.sessions[0])["rows"])
    assert (shown["nodes vc1 threads per core"], shown["nodes vc2 threads per core"]) == ("2", "1")


def test_without_their_facts_the_login_node_stands_in_and_it_is_said(tmp_path: Path) -> None:
    folder = measured_on(tmp_path / "s", {"vc1": NODE, "vc2": NODE})
    shutil.rmtree(folder / "nodes")
    records = load([folder])
    assert not_met(records, "smt") == ["no SMT sibling: 1 threads per core"]
    assert "does not describe its compute nodes" in records.cautions()[0]
    one = load([measured_on(tmp_path / "one", {"vc1": NODE})])
    assert one.cautions() == ["Session one does not describe all of its nodes: not vc2."]


def test_every_machine_requirement_reads_the_nodes(tmp_path: Path) -> None:
    """None of them may be met by a login node alone."""
    folder = measured_on(tmp_path / "s", {"vc1": {"cpu_model": "x", "mwait": None}, "vc2": NODE})
    facts = json.loads((folder / "session.json").read_text())
    rich = {**NODE, "nics": [{"driver": "mlx5_core"}]}
    (folder / "session.json").write_text(json.dumps({**facts, "machine": rich}))
    records = load([folder])
    of_machine = [name for name in REQUIREMENTS if "processes" not in name and name != "spec licence"]
    assert [name for name in of_machine if not not_met(records, name)] == []


def test_sessions_of_other_nodes_are_not_compared_though_the_login_node_is_one(tmp_path: Path) -> None:
    base = measured_on(tmp_path / "base", {"vc1": NODE, "vc2": NODE})
    with pytest.raises(UsageError, match="different processors: Node CPU in BASE, Other CPU in NEW"):
        compare(
            base, measured_on(tmp_path / "new", {host: {**NODE, "cpu_model": "Other CPU"} for host in ("vc1", "vc2")})
        )
    mixed = measured_on(tmp_path / "mixed", {"vc1": NODE, "vc2": {**NODE, "cores": 32}})
    with pytest.raises(UsageError, match=r"64 in BASE, 64 \(node vc1\) and 32 \(node vc2\) in NEW"):
        compare(base, mixed)
    told = measured_on(tmp_path / "told", {"vc1": NODE, "vc2": {**NODE, "kernel": "6.2"}}, seed=2)
    notes = compare(base, told).notes
    assert "different kernels: 6.1 in BASE, 6.1 (node vc1) and 6.2 (node vc2) in NEW" in notes
    assert "The nodes of session told have different kernels: 6.1 on node vc1; 6.2 on node vc2." in notes


def test_a_machine_is_the_nodes_where_login_nodes_differ(tmp_path: Path) -> None:
    base = measured_on(tmp_path / "base", {"vc1": NODE, "vc2": NODE})
    other = measured_on(tmp_path / "new", {"vc1": NODE, "vc2": NODE}, seed=2, machine="Another login node")
    assert compare(base, other).notes == []


def test_a_file_of_a_node_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    folder = measured_on(tmp_path / "s", {"vc1": NODE, "vc2": NODE})
    (folder / "nodes" / "vc2.json").write_text("{")
    (folder / "nodes" / "vc3.json").write_text("[]")
    said = [str(problem) for problem in load([folder]).problems]
    assert len(said) == 2
    assert "vc2.json: cannot be read" in said[0]
    assert "vc3.json: does not say which node it describes" in said[1]


def test_names_with_and_without_a_domain_are_one_node(tmp_path: Path) -> None:
    folder = measured_on(tmp_path / "s", {"vc1.site.org": NODE, "vc2.site.org": NODE})
    assert load([folder]).cautions() == []
