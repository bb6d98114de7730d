# SPDX-License-Identifier: BSD-3-Clause
"""What breaks under a run: ranks, nodes, cables, batch jobs. Each ends in time as failed points that say why.

Every fault is done to a real run from outside, nothing in the product plays a part. Afterwards nothing is left of the
nodes, and --resume completes the session. And whole runs by somebody without rights, from a checkout of their own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, MPI_DIR, ROOT, VENV
from harness.cli import main
from harness.setup import build
from harness.sites.virtual import virtual_slurm_supported, virtual_supported
from harness.tests.sessions import Running, as_user, completes, could_be_completed, facts, latest, reasons
from harness.tests.waiting import eventually
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import UNPRIVILEGED, processes, run

pytestmark = [pytest.mark.mpi, pytest.mark.vcluster, pytest.mark.slow, pytest.mark.full, pytest.mark.timeout(300)]

LIMIT_S = 40  # a launch takes two or three, beside other work five
RUN = [
    *("run", "overlap-ratio", "--mpi", "mpich", "--scale", "test", "--set", f"timeout_s={LIMIT_S}"),
    *("--set", "min_samples=6", "--set", "max_samples=6"),
]
UNDER_SLURM = ("--system", "vcluster-slurm")


def in_mid_message(nodes: Cluster) -> None:
    """Wait until the next launch moves messages: 10 MB have come to the second node."""
    counter = ("cat", "/sys/class/net/eth0/statistics/rx_bytes")
    assert eventually(lambda: processes(nodes, "vc2", "microbench") == 1)
    start = int(run(nodes, "vc2", *counter).stdout)
    assert eventually(lambda: int(run(nodes, "vc2", *counter).stdout) > start + 10_000_000)


def to_rank(nodes: Cluster, signal: str) -> None:
    in_mid_message(nodes)
    assert run(nodes, "vc2", "pkill", signal, "-x", "microbench").returncode == 0


def test_a_killed_rank_and_a_pulled_cable(results: Path, state: Path) -> None:
    running = Running(*RUN)
    running.wait_for("1/4")
    nodes = running.nodes()
    to_rank(nodes, "-KILL")
    running.wait_for("2/4")
    in_mid_message(nodes)
    nodes.link("vc2", "down")
    running.wait_for("3/4")
    nodes.link("vc2", "up")
    assert running.ended() == 1
    assert running.nothing_left(state)
    session = latest(results)
    why = reasons(session)
    assert sorted(why) in ([1, 2], [1, 2, 3]), running.said  # the next one may begin before the cable is back
    assert why[1].startswith("exit status")
    assert why[2].startswith(f"did not end within {LIMIT_S} s")
    assert facts(session)["state"] == "incomplete"
    could_be_completed(session)


def test_a_rank_that_never_ends(results: Path, state: Path) -> None:
    running = Running(*RUN)
    running.wait_for("1/4")
    to_rank(running.nodes(), "-STOP")
    assert running.ended() == 1
    assert running.nothing_left(state)
    session = latest(results)
    why = reasons(session)
    assert sorted(why) == [1], running.said
    assert why[1].startswith(f"did not end within {LIMIT_S} s")
    completes(session)


def test_a_killed_node(results: Path, state: Path) -> None:
    running = Running(*RUN)
    running.wait_for("1/4")
    nodes = running.nodes()
    in_mid_message(nodes)
    nodes.kill_node("vc2")
    assert running.ended() == 1
    assert running.nothing_left(state)
    session = latest(results)
    assert sorted(reasons(session)) == [1, 2, 3], "what no node is left for fails, too"
    completes(session)


def test_nodes_that_are_taken_away_are_made_anew_for_the_next_study(results: Path, state: Path) -> None:
    long = ["--variant=bare", *(f"--set={one}" for one in ("launches=2", "min_samples=20", "max_samples=20"))]
    running = Running("run", "overlap-ratio", "send-time", "--mpi", "mpich", "--scale", "test", *long)
    running.wait_for("1/2")
    in_mid_message(running.nodes())
    assert main(["vcluster", "down", "--force"]) == 0
    running.wait_for("the nodes of vcluster are gone: making new ones")
    assert running.ended() == 1, running.said
    assert running.nothing_left(state)
    failed = [
        record for record in (latest(results) / "records").iterdir() if '"status": "failed"' in record.read_text()
    ]
    assert len(failed) == 1, running.said
    assert failed[0].name.startswith("overlap-ratio")
    could_be_completed(latest(results))


@pytest.fixture
def _slurm() -> None:
    if reason := virtual_slurm_supported():
        pytest.skip(reason)


def second_launch_under_slurm(*more: str) -> tuple[Running, Cluster]:
    running = Running(*RUN, "--set", "timeout_s=120", *UNDER_SLURM, *more)  # none of these waits for it
    running.wait_for("1/")
    nodes = running.nodes()
    in_mid_message(nodes)
    return running, nodes


@pytest.mark.long
@pytest.mark.slurm
@pytest.mark.usefixtures("_slurm")
def test_a_cancelled_job(results: Path, state: Path) -> None:
    """Each launch but the first has a record; those that the job never came to say how it ended."""
    running, nodes = second_launch_under_slurm()
    assert run(nodes, "vc0", "sh", "-c", "scancel $(squeue --noheader --format=%A)").returncode == 0
    assert running.ended() == 1, running.said
    assert running.nothing_left(state)
    session = latest(results)
    why, launches = reasons(session), len(facts(session)["expected"])
    assert sorted(why) in ([*range(1, launches)], [*range(2, launches)]), running.said
    words = "not run: the batch job was cancelled (CANCELLED)"
    assert all(why[order] == words for order in range(2, launches)), why
    assert facts(session)["state"] == "incomplete"
    could_be_completed(session)


@pytest.mark.long
@pytest.mark.slurm
@pytest.mark.usefixtures("_slurm")
@pytest.mark.parametrize("what", ["vc1", "slurmd"])
def test_a_node_of_the_batch_job_or_its_daemon_dies(results: Path, state: Path, what: str) -> None:
    """Without slurmd the processes go on until the controller gives the node up, which ends the job as NODE_FAIL."""
    running, nodes = second_launch_under_slurm("--set", "launches=20" if what == "slurmd" else "launches=12")
    if what == "slurmd":
        assert run(nodes, "vc1", "kill", "-KILL", str(nodes.services("vc1")["slurmd"])).returncode == 0
    else:
        nodes.kill_node(what)
    assert running.ended() == 1, running.said
    why = reasons(latest(results))
    assert "not run: a node of the batch job died (NODE_FAIL)" in why.values(), why
    assert running.nothing_left(state)
    completes(latest(results))


@pytest.mark.long
@pytest.mark.slurm
@pytest.mark.usefixtures("_slurm")
def test_a_job_reaches_its_time_limit(results: Path, state: Path) -> None:
    """None of its launches ends by itself, however fast the machine. Those of --resume must all end within a minute."""
    running, nodes = second_launch_under_slurm("--set", "launches=9", "--set", "time_limit_s=60")
    hold = ["sh", "-c", "while pkill -STOP -x microbench; sleep 0.2; do :; done"]
    with subprocess.Popen(nodes.command("vc2", hold), stdin=subprocess.DEVNULL) as holding:
        assert running.ended(240) == 1, running.said
        holding.kill()
    session = latest(results)
    why = reasons(session)
    assert "not run: the batch job reached its time limit (TIMEOUT)" in why.values(), why
    assert running.nothing_left(state)
    completes(session)


OF_SESSIONS = ROOT / "results"
RUN_ON = ("mpich", "openmpi")
USER = UNPRIVILEGED if os.geteuid() == 0 else os.geteuid()
PYTHON = VENV.joinpath("bin", "python").resolve()


def what_is_made(folder: str, names: list[str]) -> list[str]:
    """What a checkout has beside its sources; as .gitignore says, but there may be no repository."""
    if Path(folder) == OF_SESSIONS:
        return [name for name in names if name not in ("papers", "reference", "schema")]
    here = (".git", ".venv", ".mpi", ".bench", "build")
    return [name for name in names if name in here or name.endswith("_cache") or name.startswith("build-linux-")]


def may_run(program: Path) -> bool:
    """Asked of a shell: setpriv itself still may what its user may not."""
    shell = ["/bin/sh", "-c", f"{program} -c ''"]
    return subprocess.run([*as_user(USER), *shell], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """This checkout's files, owned by the user, with what is set up here."""
    if reason := virtual_supported():
        pytest.skip(reason)
    look = [*as_user(USER), "/bin/sh", "-c", f"test -r {shlex.quote(str(ROOT / 'bench'))}"]
    if subprocess.run(look, check=False).returncode != 0:
        pytest.skip("somebody without rights cannot read this checkout")
    for mpi in RUN_ON:
        build.ensure(MPIS[mpi])
    with tempfile.TemporaryDirectory(prefix="obu-", dir="/tmp") as name:
        copy = Path(name) / "checkout"
        shutil.copytree(ROOT, copy, ignore=what_is_made)
        # What is large is shared, nothing in it is written; the environment only where its Python may be run.
        for folder in (MPI_DIR, BUILD_DIR, *([VENV] if may_run(PYTHON) else [])):
            (copy / folder.relative_to(ROOT)).symlink_to(folder)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "--no-dereference", f"{USER}:{USER}", name], check=True)
        yield copy


@pytest.mark.timeout(700)
@pytest.mark.long
@pytest.mark.slurm
@pytest.mark.parametrize("system", ["vcluster", "vcluster-slurm"])
def test_a_whole_run_without_rights(checkout: Path, system: str) -> None:
    if system == "vcluster-slurm" and (reason := virtual_slurm_supported()):
        pytest.skip(reason)
    command = [*as_user(USER), *([str(PYTHON)] if may_run(PYTHON) else []), str(checkout / "bench")]
    command += ["run", "overlap-ratio", "--scale", "test", "--mpi", ",".join(RUN_ON), "--system", system]
    environment = {"HOME": str(checkout.parent), "PATH": os.environ["PATH"], "OVERLAP_BENCH_STATE": f"{checkout}.s/v"}
    done = subprocess.run(
        command, env=environment, cwd=checkout, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.splitlines()[-1]).is_file()
    assert (checkout / "results" / "latest").resolve().stat().st_uid == USER
    assert list(Path(f"{checkout}.s").iterdir()) == [], "no socket, mount or file of the nodes"
