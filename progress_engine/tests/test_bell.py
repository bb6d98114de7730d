# SPDX-License-Identifier: BSD-3-Clause
"""The bell between nodes, by datagrams. Its parts have unit tests: bell_test.cpp, bell_key_test.cpp, datagram_test.cpp.

Nodes of a virtual cluster, whose MPI goes over TCP: `events=none` has the engine take it for a fabric without sockets.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import MPIS, Mpi, Where, passed_on
from harness.base.paths import BUILD_DIR

from .conftest import compiled

pytestmark = pytest.mark.full


@pytest.mark.parametrize("case", ["Attack.AMillionDoTheSame", "Channel.LosesNobodyForEver"])
def test_a_million_hostile_datagrams_and_a_hundred_thousand_over_a_bad_network(case: str) -> None:
    tests = BUILD_DIR / "asan" / "bin" / "engine_unit_tests"
    if not tests.exists():
        pytest.skip("the unit tests are not built")
    done = subprocess.run(
        [tests, f"--gtest_filter={case}"], env=os.environ | {"BELL_FLOOD": "1"}, timeout=300,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "[  SKIPPED ]" not in done.stdout


FABRIC = ("events=none", "doorbell=udp")
# Over UCX a receive from any source of MPICH 5.0.2's never completes if its message is there already, bare or not.
OFI = (("MPIR_CVAR_CH4_NETMOD", "ofi"), ("FI_PROVIDER", "tcp"))
RANK = {"openmpi": "OMPI_COMM_WORLD_RANK"}  # what the launcher calls it; else PMI_RANK
EACH_MPI = pytest.mark.parametrize("name", ["mpich", "openmpi", "intel-mpi"])


@dataclass(frozen=True)
class Job:
    """Ranks on two nodes of a virtual cluster, management network and all. `without`: that rank has no engine.

    `beside`: a program of programs/ that runs on each node meanwhile, and ends with its standard input.
    """

    name: str = "mpich"
    settings: tuple[str, ...] = FABRIC
    per_node: int = 1
    without: int | None = None
    beside: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def mpi(self) -> Mpi:
        return MPIS[self.name]

    def prefix(self, folder: Path) -> list[str]:
        """What is before the program's name."""
        settings = (*self.settings, f"bell_key={folder}/key", f"report_file={folder}/report.%r")
        engine = [str(self.mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive"]
        engine += [word for setting in settings for word in ("--set", setting)]
        if self.without is None:
            return [*engine, "--"]
        rank = RANK.get(self.mpi.family, "PMI_RANK")
        choice = f'n=$1; shift; if [ "${rank}" = {self.without} ]; then shift $n; fi; exec "$@"'
        return ["sh", "-c", choice, "-", str(len(engine) + 1), *engine, "--"]

    def run(self, folder: Path, source: str, *arguments: str) -> list[dict[str, Any]]:
        """The reports of the ranks that have the engine. What the ranks found wrong fails."""
        from harness.vcluster import cluster as virtual  # noqa: PLC0415 - where there can be none, the others still run

        if not (self.mpi.build_dir / "lib" / "libprogress_engine.so").exists():
            pytest.skip(f"the engine is not built for {self.mpi.title}")
        if reason := virtual.supported():
            pytest.skip(reason)
        program = compiled(self.mpi, source, folder)
        beside = [str(compiled(self.mpi, self.beside[0], folder)), *self.beside[1:]] if self.beside else []
        ranks = 2 * self.per_node
        environment = os.environ | self.mpi.environment("tcp") | dict(self.environment)
        made = virtual.up(management=True)
        try:
            # Intel MPI's launcher, told what to pass on, keeps the job's name to itself.
            where = Where(tuple(made.hosts), made.remote_shell, exports=passed_on(environment))
            launch = self.mpi.launch_command(ranks, self.per_node, where)
            others = [
                subprocess.Popen(
                    made.command(host, beside), stdin=subprocess.PIPE, stdout=(folder / f"beside.{host}").open("w")
                )
                for host in (made.hosts if beside else ())
            ]
            done = subprocess.run(
                ["timeout", "-k", "2", "120",
                 *made.command(made.login, [*launch, *self.prefix(folder), str(program), *arguments])],
                env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            for other in others:
                other.communicate()
        finally:
            made.down()
        assert done.returncode == 0, done.stderr
        assert "wrong" not in done.stdout
        if source == "bell.c":
            assert done.stdout.count("done") == ranks, done.stderr
        with_engine = [rank for rank in range(ranks) if rank != self.without]
        return [json.loads((folder / f"report.{rank}").read_text()) for rank in with_engine]

    def bells(self, folder: Path, source: str, *arguments: str) -> list[dict[str, Any]]:
        """What the reports say of the bell."""
        return [report["doorbell"]["bell"] for report in self.run(folder, source, *arguments)]


@pytest.mark.mpi
@pytest.mark.alone
@pytest.mark.parametrize("hosts", ["", "vc[1-2]-mgmt"], ids=["over the fabric", "over the management network"])
@EACH_MPI
def test_a_large_message_wakes_the_engine_on_the_other_node(tmp_path: Path, name: str, hosts: str) -> None:
    for bell in Job(name, (*FABRIC, f"bell_hosts={hosts}")).bells(tmp_path, "bell.c"):
        assert bell["state"] == "rings"
        assert bell["keeps"]
        assert bell["sent"] > 0
        assert bell["taken"] > 0


# Hydra, of MPICH and Intel MPI, names no hosts to its processes: the nodes do, beside the key.
@pytest.mark.mpi
@pytest.mark.alone
@EACH_MPI
def test_it_begins_by_default_where_nothing_else_announces_traffic(tmp_path: Path, name: str) -> None:
    for bell in Job(name, ("events=none",)).bells(tmp_path, "bell.c"):
        assert bell["state"] == "rings"
        assert bell["taken"] > 0


# Who begins after all hosts were asked for him is found a second later: three seconds are enough.
@pytest.mark.mpi
@pytest.mark.alone
@EACH_MPI
def test_of_two_ranks_a_node_one_keeps_the_port_for_both(tmp_path: Path, name: str) -> None:
    reports = Job(name, per_node=2).run(tmp_path, "bell.c", "150")
    bells = [report["doorbell"]["bell"] for report in reports]
    for node in (bells[:2], bells[2:]):
        assert [bell["state"] for bell in node] == ["rings", "rings"]
        assert [bell["sent"] > 0 for bell in node] == [True, True]
        assert sum(bell["keeps"] for bell in node) >= 1
        assert sum(bell["taken"] for bell in node) > 0
    for report in reports:
        assert report["doorbell"]["answers"] > 0, "a ring may find it awake"


# It is asked for on each host, and answers nowhere. Who has the engine goes by the timer.
@pytest.mark.mpi
@pytest.mark.alone
@EACH_MPI
def test_a_rank_without_the_engine_hears_nothing(tmp_path: Path, name: str) -> None:
    (report,) = Job(name, without=1).run(tmp_path, "bell.c")
    bell = report["doorbell"]["bell"]
    assert bell["state"] == "rings" if name == "openmpi" else bell["state"].startswith("no other node has put its name")
    assert bell["sent"] > 0
    assert bell["taken"] == 0
    assert report["active"]
    assert report["wake_sources"]["timer"] > 0


# Connections are found some time after they were made, and a small message in a large buffer shows little traffic.
@pytest.mark.mpi
@pytest.mark.alone
@pytest.mark.parametrize("pattern", ["late", "little"])
@EACH_MPI
def test_it_never_begins_where_sockets_carry_the_messages(tmp_path: Path, name: str, pattern: str) -> None:
    for bell in Job(name, ("rest_us=0", "doorbell=auto")).bells(tmp_path, "bell_partners.c", pattern):
        assert bell["state"] == "not needed"
    assert not (tmp_path / "key").exists()


# On each node somebody aims at every port that is open there, those from which the ranks ring among them.
@pytest.mark.mpi
@pytest.mark.alone
@EACH_MPI
def test_results_are_right_under_a_flood(tmp_path: Path, name: str) -> None:
    begin = time.monotonic()
    least = 10_000
    reports = Job(name, beside=("flood.c", str(least))).run(tmp_path, "bell.c")
    milliseconds = 1000 * (time.monotonic() - begin)
    sent = [int(path.read_text()) for path in tmp_path.glob("beside.*")]
    assert len(sent) == 2
    assert min(sent) > least
    for report in reports:
        bell = report["doorbell"]["bell"]
        assert bell["state"] == "rings"
        assert bell["refused"] > 1000, "it was aimed at"
        assert bell["refused"] + bell["taken"] <= 64 * (64 + milliseconds), "wakes are bounded"
        assert report["wake_sources"]["neighbours"] <= bell["taken"], "only rings wake the engine"


# Of late is a second; the requests are started again later than that.
@pytest.mark.mpi
@pytest.mark.alone
def test_each_start_of_a_persistent_request_rings(tmp_path: Path) -> None:
    rounds = 20
    for bell in Job().bells(tmp_path, "bell_partners.c", "persistent"):
        assert bell["state"] == "rings"
        assert bell["sent"] >= rounds


# Without it nobody keeps the port there, and who sends rings in vain.
@pytest.mark.mpi
@pytest.mark.alone
def test_who_receives_from_any_source_is_rung(tmp_path: Path) -> None:
    receiver, sender = Job(environment=OFI).bells(tmp_path, "bell_partners.c", "anyone")
    assert receiver["state"] == sender["state"] == "rings"
    assert receiver["keeps"]
    assert receiver["taken"] > 0


@pytest.mark.mpi
@pytest.mark.alone
def test_a_receive_of_more_than_two_gibibytes_is_a_large_one(tmp_path: Path) -> None:
    receiver, sender = Job().bells(tmp_path, "bell_partners.c", "vast")
    assert receiver["state"] != "not needed"  # on one node it finds nobody, and says so
    assert sender["state"] == "not needed", "it sends eight bytes"
