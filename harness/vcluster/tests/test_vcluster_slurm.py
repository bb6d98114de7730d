# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm on the virtual cluster: jobs over each MPI, cancelled jobs, dead ranks, daemons and nodes, no root."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base import mpis
from harness.base.errors import Failure
from harness.base.mpis import Environment, Mpi, Where
from harness.tests.waiting import PATIENCE_S, eventually
from harness.vcluster import cluster, cluster_folder, sacct, slurm
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import brought_up, build_exchange, processes, run

HERE = Path(__file__).resolve().parent

pytestmark = [pytest.mark.vcluster, pytest.mark.slurm]

OF_ONE_FAMILY = {"intel-mpi": [pytest.mark.full]}  # it speaks with Slurm as MPICH does
WHEELS = [
    pytest.param(mpi, id=name, marks=OF_ONE_FAMILY.get(name, [])) for name, mpi in mpis.MPIS.items() if mpi.wheels
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    """For tests that leave it as it was."""
    with brought_up(nodes=2, slurm=True) as nodes:
        yield nodes


@pytest.fixture
def virtual() -> Iterator[Cluster]:
    """For a test that damages it."""
    with brought_up(nodes=2, slurm=True) as nodes:
        yield nodes


def submit(virtual: Cluster, folder: Path, script: str, *options: str) -> str:
    """The number of a new job on two nodes, whose output goes to job.out in the folder."""
    path = folder / "job.sh"
    path.write_text(f"#!/bin/bash\n{script}\n")
    words = ["sbatch", "--parsable", "-N2", "--ntasks-per-node=1", "-o", f"{folder}/job.out", *options, str(path)]
    done = run(virtual, "vc0", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def job_state(virtual: Cluster, job: str) -> str:
    """As the stand-in for sacct says."""
    return run(virtual, "vc0", "sacct", "-n", "-P", "-j", job, "-o", "state").stdout.strip()


def ends_as(virtual: Cluster, job: str, expected: str) -> bool:
    """Does the job end so?"""
    return eventually(lambda: job_state(virtual, job) not in (*sacct.UNFINISHED, "")) and (
        job_state(virtual, job) == expected
    )


def environment_lines(environment: Environment) -> str:
    return "\n".join(f"export {name}='{value}'" for name, value in environment.items())


def output_of(
    virtual: Cluster, folder: Path, mpi: Mpi, launch: str, nodes: int = 2, more: Environment | None = None
) -> list[str]:
    """The sorted lines of exchange.c as a job, launched by the words of `launch`, with `more` in its environment."""
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    program = build_exchange(mpi, folder)
    lines = environment_lines(mpi.environment("tcp") | (more or {}))
    job = submit(virtual, folder, f"{lines}\ntimeout -k 2 {PATIENCE_S:g} {launch} {program}", f"-N{nodes}")
    ended = ends_as(virtual, job, "COMPLETED")
    output = (folder / "job.out").read_text()
    assert ended, output
    return sorted(output.splitlines())


ACROSS = ["rank 0 of 2 on vc1 received 2", "rank 1 of 2 on vc2 received 1"]


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", WHEELS)
def test_mpiexec_in_a_job_needs_no_settings(shared: Cluster, tmp_path: Path, mpi: Mpi) -> None:
    assert output_of(shared, tmp_path, mpi, " ".join(mpi.launch_command(2, 1, Where()))) == ACROSS


def pmi_of(virtual: Cluster, mpi: Mpi) -> str:
    """What srun must be told to speak with this MPI; skips where Slurm cannot."""
    kind = "pmix" if mpi.family == "openmpi" else "pmi2"
    probe = run(virtual, "vc0", "srun", f"--mpi={kind}", "-N1", "-n1", "true")
    if "can not load PMIx library" in probe.stderr:
        pytest.skip("srun --mpi=pmix needs the Debian package libpmix-dev")
    assert probe.returncode == 0, probe.stderr
    return kind


# MPICH 5.0 over UCX sends 4096 bytes through the PMI from where the 110 of its address begin, and Slurm's PMI-1 cuts a
# line after 1024: whether it starts depends on what lies behind them in memory, and so on the path of the library. Over
# libfabric it sends the address alone; the PMI, which is what this is about, is the same. See docs/how-to/cluster.md.
LIBFABRIC = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}


# Intel MPI speaks with srun as MPICH does.
@pytest.mark.mpi
@pytest.mark.parametrize(
    "mpi",
    [
        pytest.param(mpi, id=name, marks=pytest.mark.full if name == "intel-mpi" else [])
        for name, mpi in mpis.MPIS.items()
        if mpi.wheels
    ],
)
def test_srun_launches_with_the_right_pmi(shared: Cluster, tmp_path: Path, mpi: Mpi) -> None:
    more = LIBFABRIC if mpi.name == "mpich" else {}
    assert output_of(shared, tmp_path, mpi, f"srun --mpi={pmi_of(shared, mpi)}", more=more) == ACROSS


def test_sacct_stand_in_answers_as_reframe_asks(shared: Cluster, tmp_path: Path) -> None:
    begin = int(time.time())
    job = submit(shared, tmp_path, "exit 3")
    assert ends_as(shared, job, "FAILED")
    environment = {**os.environ, "SLURM_TIME_FORMAT": "%s"}
    words = ["sacct", "-S", "2026-01-01", "-P", "-j", job, "-o", "jobid,state,exitcode,end,nodelist"]
    head, line = run(shared, "vc0", *words, env=environment).stdout.splitlines()
    assert head == "JobID|State|ExitCode|End|NodeList"
    match = re.fullmatch(rf"{job}\|FAILED\|3:0\|(\d+)\|vc\[1-2\]", line)
    assert match
    assert begin <= int(match[1]) <= time.time()
    unknown = run(shared, "vc0", "sacct", "-o", "moon")
    assert (unknown.returncode, "moon" in unknown.stderr) == (1, True)
    # and once the controller has forgotten it
    on_disk = sacct.on_disk((shared.directory / "slurm" / "slurm.conf").read_text())
    found = {entry["JobId"]: sacct.fields(entry) for entry in sacct.parse_jobs(on_disk)}
    assert (found[job]["state"], found[job]["exitcode"], found[job]["nodelist"]) == ("FAILED", "3:0", "vc[1-2]")


def test_a_cancelled_job_leaves_no_process(shared: Cluster, tmp_path: Path) -> None:
    job = submit(shared, tmp_path, "trap '' TERM; srun sleep 1000")
    assert eventually(lambda: processes(shared, "vc1", "sleep") == processes(shared, "vc2", "sleep") == 1)
    assert run(shared, "vc0", "scancel", job).returncode == 0
    assert ends_as(shared, job, "CANCELLED")
    assert eventually(lambda: processes(shared, "vc1", "sleep") + processes(shared, "vc2", "sleep") == 0)


def test_a_killed_rank_ends_its_step(shared: Cluster, tmp_path: Path) -> None:
    job = submit(shared, tmp_path, "srun sleep 1000")
    assert eventually(lambda: processes(shared, "vc2", "sleep") == 1)
    run(shared, "vc2", "pkill", "-KILL", "-x", "sleep")
    assert ends_as(shared, job, "FAILED")


def test_reaping_from_a_job_spares_the_job(virtual: Cluster, tmp_path: Path) -> None:
    """What the schedule of launches does between them: both nodes reaped, job and daemons alive."""
    script = f"""(setsid sleep 1000 &)
cd {HERE.parents[2]}
python3 -c 'from harness.vcluster import cluster
here = cluster.load()
for host in here.hosts: print(host, here.reap(host))'
srun hostname | sort
echo end"""
    job = submit(virtual, tmp_path, script)
    assert ends_as(virtual, job, "COMPLETED")
    assert (tmp_path / "job.out").read_text().splitlines() == ["vc1 1", "vc2 0", "vc1", "vc2", "end"]
    assert virtual.healthy()


def test_a_dead_daemon_is_seen_and_repaired(virtual: Cluster) -> None:
    run(virtual, "vc2", "pkill", "-KILL", "-x", "slurmd")
    assert eventually(lambda: not virtual.healthy())
    assert cluster.up(nodes=2, slurm=True, tied=True).healthy()


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cluster_folder.VARIABLE, f"/tmp/obt-{os.getpid()}/none")
    monkeypatch.setattr(slurm, "_path_of", lambda program: None if program == "munged" else f"/bin/{program}")
    with pytest.raises(Failure, match="apt-get install munge"):
        cluster.up(slurm=True)
