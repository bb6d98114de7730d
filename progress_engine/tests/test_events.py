# SPDX-License-Identifier: BSD-3-Clause
"""What announces traffic: sockets, UCX's workers or libfabric's completion queues, each alone, without a doorbell. That
messages move beside computation says little, since the timer moves them, too; who woke the engine is counted."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.mpis import MPIS, Mpi
from harness.tests.waiting import eventually

from .conftest import MPICH_FIRST, TIME_LIMIT, Launcher, compiled, reports

pytestmark = pytest.mark.mpi

UNAIDED = ("doorbell=none", "rest_us=0")
OFI = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
PATIENCE_S = "20"  # for a message to move beside the computation


@dataclass(frozen=True)
class Case:
    mpi: str
    events: str
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.mpi}-{self.events}"


def run(
    mpi: Mpi, program: Path, case: Case, *settings: str, arguments: tuple[str, ...] = (), tasks: int = 2
) -> subprocess.CompletedProcess[str]:
    sets = [word for setting in (f"events={case.events}", *settings) for word in ("--set", setting)]
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive", *sets, "--"]
    launch = ["timeout", "-k", "2", str(TIME_LIMIT), *mpi.launch_command(tasks, tasks)]
    command = [*launch, *engine, str(program), *arguments]
    environment = os.environ | mpi.environment("tcp") | dict(case.environment)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def installed(name: str) -> Mpi:
    mpi = MPIS[name]
    if not mpi.installed() or not (mpi.build_dir / "bin" / "progress-run").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")
    return mpi


@pytest.mark.parametrize(
    "case",
    [
        Case("mpich", "sockets"),
        Case("mpich", "ucx"),
        Case("mpich", "libfabric", tuple(OFI.items())),
        Case("intel-mpi", "libfabric"),  # asks dlvsym for it
        Case("mpich", "none"),
    ],
    ids=str,
)
def test_each_source_alone_wakes_the_engine(case: Case, tmp_path: Path) -> None:
    mpi = installed(case.mpi)
    settings = (*UNAIDED, f"report_file={tmp_path}/report.%r")
    result = run(mpi, compiled(mpi, "late_partner.c", tmp_path), case, *settings, arguments=(PATIENCE_S,))
    assert result.returncode == 0, result.stderr
    # Windows are another matter: on some MPIs they have queues of their own.
    for kind in ("point_to_point", "persistent", "collective"):
        assert f"rank 0: {kind} 1" in result.stdout, result.stdout
    computing = reports(tmp_path)[0]["events"]
    assert computing["sources"] == ([] if case.events == "none" else [case.events])
    assert computing["lack"] == ""
    for source, wakes in computing["wakes"].items():
        assert (wakes > 0) is (source == case.events), computing


def test_a_library_that_the_mpi_does_not_use_announces_nothing(tmp_path: Path) -> None:
    mpi = installed("mpich")
    program = compiled(mpi, "cases.c:late_finalize", tmp_path)
    case = Case("mpich", "ucx", tuple(OFI.items()))
    lack = "events=ucx: the MPI made no worker of UCX's that the engine saw"
    result = run(mpi, program, case, "report=full", tasks=1)
    assert (result.returncode, f"traffic announced by nothing: {lack}" in result.stderr) == (0, True), result.stderr
    result = run(mpi, program, case, "strict=1", tasks=1)
    assert result.returncode != 0
    assert f"progress engine: {lack}" in result.stderr


# The doorbell between ranks of one node, over shared memory.
# That a message moves beside a computation says little: the timer may move it, too. Who woke the engine is counted.
SETTINGS = ("rest_us=0",)


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(mpi, "calls.c:doorbell", tmp_path_factory.mktemp("doorbell"))


def ring(
    mpi: Mpi, program: Path, folder: Path, *settings: str, arguments: tuple[str, ...] = (), prefix: tuple[str, ...] = ()
) -> str:
    """Two ranks under adaptive, each behind `prefix`; what they printed."""
    given = (*SETTINGS, f"report_file={folder}/report.%r", *settings)
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive"]
    engine += [word for setting in given for word in ("--set", setting)]
    done = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *mpi.launch_command(2, 2), *prefix, *engine, "--", str(program),
         *arguments],
        env=os.environ | mpi.environment(), capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout
    return done.stdout


def open_on_intel(mpi: Mpi) -> None:
    if mpi.name == "intel-mpi":
        pytest.skip("not shown on Intel MPI: rings arrive and are answered, but a large message needs more of them")


def test_a_sender_wakes_the_engine_of_a_neighbour(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    open_on_intel(mpi)
    before = set(Path("/dev/shm").iterdir())

    def woken() -> bool:
        """On a busy machine an exchange may be over before neighbours are found, or before the engine has looked."""
        said = ring(mpi, program, tmp_path)
        assert "rank 0: world 1" in said and "rank 0: reversed 1" in said
        first, second = reports(tmp_path)
        assert first["doorbell"]["neighbours"] == second["doorbell"]["neighbours"] == 1
        counts = (first["doorbell"]["answers"], first["wake_sources"]["neighbours"], second["doorbell"]["rings"])
        return bool(min(counts) >= 2)

    assert eventually(woken)
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "progress" in path.name]


# The counterpart: shows that it was the doorbell.
@pytest.mark.full
def test_without_it_no_neighbour_wakes_the_engine(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    ring(mpi, program, tmp_path, "doorbell=none")
    for report in reports(tmp_path):
        assert report["wake_sources"]["neighbours"] == 0
        assert report["doorbell"] is None


# How often rank 1 rings in each of ten rounds: before it waits, and after what it sent. The first knows nothing yet.
BLOCKING = {"send": 2, "ssend": 2, "rsend": 2, "recv": 1, "sendrecv": 3, "replace": 3, "put": 3, "get": 3, "lock": 3}
TIMES = 10  # of blocking in calls.c
QUICK = ("send", "recv", "sendrecv", "put")  # the others with --full


@pytest.fixture(scope="module")
def blocking(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(mpi, "calls.c:blocking", tmp_path_factory.mktemp("blocking"))


# A second between two looks of the timer's: who finds what blocks the neighbour was rung.
@pytest.mark.elsewhere(call="send")
@pytest.mark.parametrize(
    "call",
    [x if x in ("send", "recv", "sendrecv", "put") else pytest.param(x, marks=pytest.mark.full) for x in BLOCKING],
)
def test_who_waits_for_a_neighbour_rings_it_first(call: str, mpi: Mpi, blocking: Path, tmp_path: Path) -> None:
    windows = call in ("put", "get", "lock")

    def answers() -> bool:
        """What a poll moved for others on a node is told by its duration: on a busy machine a launch may show none."""
        ring(mpi, blocking, tmp_path, "timer_us=1000000", arguments=(call,))
        computes, waits = reports(tmp_path)
        assert waits["doorbell"]["rings"] >= 8 * BLOCKING[call]
        assert computes["wake_sources"]["neighbours"] >= 5
        assert waits["window_operations"] == (TIMES if call in ("put", "get") else 0)
        assert computes["window_operations"] == 0
        assert (waits["window_wait_s"] > 0) == windows
        return bool(computes["window_answers"] > 0)

    assert eventually(answers) if windows else not answers()


# As rootless containers of one rank each have them. Between them MPICH itself must not copy by process_vm_readv(2), nor
# UCX open files of another process.
BETWEEN_CONTAINERS = ("env", "MPIR_CVAR_CH4_CMA_ENABLE=0", "UCX_POSIX_USE_PROC_LINK=n")
OF_A_CONTAINER = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child")


@pytest.mark.parametrize(("more", "reached"), [((), True), (("--ipc",), False)])
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_neighbour_in_another_container_is_rung_or_counted(
    more: tuple[str, ...], reached: bool, mpi: Mpi, blocking: Path, tmp_path: Path
) -> None:
    container = (*OF_A_CONTAINER, *more)
    if not shutil.which("unshare") or subprocess.run([*container, "true"], check=False).returncode != 0:
        pytest.skip("no namespaces can be made here")
    timer = "timer_us=1000000" if reached else "timer_us=500"
    ring(mpi, blocking, tmp_path, timer, arguments=("send",), prefix=(*BETWEEN_CONTAINERS, *container))
    computes, waits = reports(tmp_path)
    found = [(report["doorbell"]["neighbours"], report["doorbell"]["unreached"]) for report in (computes, waits)]
    assert found == [(int(reached), int(not reached))] * 2
    assert (waits["doorbell"]["rings"] >= 8 * BLOCKING["send"]) is reached
    assert (computes["wake_sources"]["neighbours"] >= 5) is reached


# Messages that move without anybody's progress: adaptive is not woken for them. Wakes are counted, not times.
PHASES = 40  # of small in cases.c
# Each start wakes the engine, and what arrives; by how many wakes depends on who has the CPU.
WOKEN = PHASES // 2
LEFT_ALONE = 4  # at the MPI's begin and end


@pytest.fixture(scope="module")
def small(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return Launcher(mpi, compiled(mpi, "cases.c:small", tmp_path_factory.mktemp("small")))


def wakes(small: Launcher, folder: Path, phases: str, *settings: str) -> list[int]:
    given = ("rest_us=0", f"report_file={folder}/report.%r", *settings)  # it never rests: what wakes it shows
    done = small.run(*phases.split(), variant="adaptive", settings=given)
    assert done.returncode == 0, done.stderr
    return [report["wakes"] for report in reports(folder)]


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("phases", ["1 1 isend", "8712 1 isend", "16384 4 isend"])
def test_small_messages_wake_nobody(small: Launcher, tmp_path: Path, phases: str) -> None:
    assert max(wakes(small, tmp_path, phases)) <= LEFT_ALONE


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(
    ("phases", "settings"),
    [
        ("16385 1 isend", ()),  # one of more than eager_bytes
        ("16384 8 isend", ()),  # a burst: more than a connection takes at once
        ("8712 1 issend", ()),  # the receiver's MPI must answer
        ("8712 1 persistent", ()),  # how long they are is not remembered
        ("8712 1 isend", ("eager_bytes=0",)),
        ("8712 1 isend", ("eager_bytes=8711",)),
    ],
)
def test_others_wake_it_in_each_phase(small: Launcher, tmp_path: Path, phases: str, settings: tuple[str, ...]) -> None:
    """One of the two ranks at least: on a busy machine the other one may find its message there each time, or both."""
    assert eventually(lambda: max(wakes(small, tmp_path, phases, *settings)) >= WOKEN)
