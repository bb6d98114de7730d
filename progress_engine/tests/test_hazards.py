# SPDX-License-Identifier: BSD-3-Clause
"""The hazards of a second thread in MPI: each has a test, and each test fails when the hazard's handling is left out.

By default on MPICH, with --full on every MPI and under AddressSanitizer. The build for that, for MPICH, can leave out
one handling: the one that PROGRESS_ENGINE_BREAK names (see platform/breakable.hpp). So these tests show that they can
fail. The library for the sanitizer takes longer to build than the tests take.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.base.mpis import MPIS, Mpi
from harness.base.paths import BUILD_DIR

from .conftest import MPICH_FIRST, PROGRAMS, TIME_LIMIT, compiled, lines, reports

pytestmark = pytest.mark.mpi
on_mpich_first = pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)

ASAN = BUILD_DIR / "asan"
# MPICH 5.0 reads 4096 bytes from where its network address of 110 begins when it starts, without the engine as well. In
# the sanitizer's heap what follows may not be mapped, which depends on the path of the library: then another distance
# between blocks puts the address elsewhere. No frame but the MPI's may stand between the crash and MPI_Init.
OWN_CRASH = re.compile(
    r"SEGV on unknown address.*\n(?:(?! +#0 ).*\n)* +#0 0x\w+ +\(.*/libmpi\.so.*\n"
    r"(?: +#\d+ 0x\w+ +\(.*/libmpi\.so.*\n)* +#\d+ 0x\w+ in PMPI_Init"
)
REDZONES = (16, 128, 512)
LIMIT = TIME_LIMIT
PARTS = 3  # of hazards.c


@dataclass(frozen=True)
class Hazard:
    """What runs, and what must come of it; `breaks` names the handling in the engine's sources."""

    breaks: str
    scenario: str
    result: Callable[[int], int]  # of a rank
    tracked: int | None = None  # operations a rank
    preset: str = "adaptive"
    tool: str = ""  # there is one "below" or "above" the engine
    host: bool = False  # the MPI comes with a plug-in, out of the global scope
    one_rank: bool = False  # the engine is on rank 1 only
    description: str = ""  # what the MPI calls itself: the handling is that of another one's quirk
    limit: int = LIMIT
    tasks: int = 2
    program: str = "hazards"


def last(rank: int) -> int:
    """The last element of what the other rank sends: see `out` in hazards.c."""
    return 999 + 1 - rank


MESSAGES = Hazard("level-as-asked", "messages", lambda rank: 10 * last(rank), tracked=20)
HAZARDS = (
    MESSAGES,
    replace(MESSAGES, breaks="depth", tool="below"),
    replace(MESSAGES, breaks="local-scope", host=True),
    replace(MESSAGES, breaks="self-only", one_rank=True, limit=60),
    Hazard("fork", "forked", lambda _: 0, tracked=2, preset="thread"),
    Hazard("persistent-starts", "persistent", last, tracked=20),
    Hazard("freeing", "freed", lambda rank: 1 - rank, tracked=10),
    Hazard("windows", "window", lambda _: 1, tracked=0),
    replace(MESSAGES, breaks="longjmp", scenario="jumped", preset="explicit"),
    Hazard("file-freed", "file-freed", lambda _: 1, tracked=1, description="Open MPI v5.0.11"),
)
# Without a switch that fails for certain: races, and what only another MPI gets wrong. Of the tool above: it fails with
# CALLERS of "" alone in src/generator/generate.py. Of `partitioned`: Open MPI hangs in it without the
# ExclusiveSection in MPI_Start.
PARTITIONED = Hazard("", "partitioned", lambda rank: 40 * (4 * PARTS - 1 + 1 - rank), preset="thread")
UNSTARTED = Hazard("", "unstarted", lambda rank: (4 * PARTS - 1 + 1) * (1 - rank), preset="thread")
FILES = Hazard("", "files", lambda rank: sum(range(150)) + 150 * rank, preset="thread")
LASTING = Hazard("", "lasting", last, preset="thread")
MORE = (
    FILES,
    Hazard("", "executed", lambda _: 5, preset="thread"),
    Hazard("", "quiet", last, preset="idle"),
    PARTITIONED,
    replace(PARTITIONED, preset="offload"),
    UNSTARTED,
    replace(UNSTARTED, preset="offload"),
    replace(UNSTARTED, scenario="unstarted-alone", preset="offload"),
    Hazard("", "left", lambda rank: 1 - rank, preset="offload"),
    replace(MESSAGES, breaks="", tool="above"),
)
# Of the unit tests: the handling that is left out, and the test that must then fail.
UNIT_TESTS = {
    "suspending": "Engine.AdaptiveSuspendsPollingWhileAThreadIsInside",
    "file-calls-alone": "Engine.NobodyPollsWhileACallHoldsIt",
    "signals": "Engine.ThreadsBlockSignalsAndInheritTheFloatingPointMode",
    "crash-signals": "Engine.ThreadsBlockSignalsAndInheritTheFloatingPointMode",
    "burst-end": "Burst.DoesNotPollAtAllWhenItMayNot",
    "lifting": "Engine.AnIdleThreadThatLosesItsCoreInAPollIsLifted",
}


@dataclass(frozen=True)
class Bench:
    """The programs of an MPI, and how the engine gets into them."""

    mpi: Mpi
    folder: Path
    library: Path
    sanitizer: str = ""

    def build(self) -> Bench:
        compiled(self.mpi, "hazards.c", self.folder, "-ldl")
        for name in ("tool", "description"):
            compiled(self.mpi, f"{name}.c", self.folder, library=f"{name}.so")
        subprocess.run(["gcc", "-o", self.folder / "host", PROGRAMS / "host.c", "-ldl"], check=True)
        compiled(self.mpi, "hazards.c", self.folder, "-DPLUGIN", "-ldl", library="plugin.so")
        return self

    def run(
        self, hazard: Hazard, engine: bool = True, broken: str = "", leaks: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Two ranks; with `broken` its handling is left out. Their reports go to the folder."""
        for redzone in REDZONES:
            ended = self._run(hazard, engine, broken, f"detect_leaks={int(leaks)}:exitcode=66:redzone={redzone}")
            if not OWN_CRASH.search(ended.stderr):
                return ended
        pytest.skip(f"{self.mpi.title} itself reads memory here that is not mapped, in MPI_Init")

    def _run(self, hazard: Hazard, engine: bool, broken: str, sanitizer: str) -> subprocess.CompletedProcess[str]:
        for old in self.folder.glob("report.*"):
            old.unlink()
        tool = str(self.folder / "tool.so")
        described = str(self.folder / "description.so") if hazard.description else ""
        layers = [tool if hazard.tool == "above" else "", str(self.library) if engine else ""]
        preload = ":".join(filter(None, [self.sanitizer, *layers, tool if hazard.tool == "below" else "", described]))
        settings = {
            "PROGRESS_ENGINE": hazard.preset,
            "PROGRESS_ENGINE_REPORT_FILE": f"{self.folder}/report.%r",
            "HAZARD_FOLDER": str(self.folder),
            "DESCRIPTION": hazard.description,
            "ASAN_OPTIONS": sanitizer,
            **({"PROGRESS_ENGINE_BREAK": broken} if broken else {}),
        }
        program = [str(self.folder / f"{hazard.program}-{self.mpi.name}")]
        if hazard.host:
            program = [str(self.folder / "host"), str(self.folder / "plugin.so")]
        launch = self.mpi.launch_command(hazard.tasks, hazard.tasks)
        shell = ["sh", "-c", f'{self.only_rank_1(hazard)} export LD_PRELOAD="{preload}"; exec "$@"', "-"]
        environment = os.environ | self.mpi.environment("tcp") | settings
        command = ["timeout", "-k", "2", str(hazard.limit), *launch, *(shell if preload else []), *program]
        return subprocess.run(
            [*command, hazard.scenario], env=environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def only_rank_1(self, hazard: Hazard) -> str:
        rank = "OMPI_COMM_WORLD_RANK" if self.mpi.family == "openmpi" else "PMI_RANK"
        return f'[ "${rank}" = 1 ] &&' if hazard.one_rank else ""

    def level(self) -> str:
        """What the MPI provides when the program asks for MPI_THREAD_FUNNELED."""
        return lines(self.run(MESSAGES, engine=False).stdout)[0].split(":")[1]

    def problem(self, hazard: Hazard, level: str, broken: str = "") -> str:
        """What went wrong; "" if nothing did."""
        ended = self.run(hazard, broken=broken)
        if ended.returncode != 0:
            return f"exit status {ended.returncode}: {ended.stderr[-1500:]}"
        expected = [f"rank {rank}:{level}: {hazard.result(rank)}" for rank in (0, 1)]
        found = [line for line in lines(ended.stdout) if "tool" not in line]
        if found != expected:
            return f"{found} instead of {expected}"
        if hazard.tool and sum(line.endswith("tool: 10 sends") for line in lines(ended.stdout)) != 2:
            return f"the tool counted otherwise: {ended.stdout}"
        return self.miscounted(hazard)

    def miscounted(self, hazard: Hazard) -> str:
        for report in reports(self.folder) if not hazard.one_rank else []:
            if not report["active"]:
                return f"inactive: {report['reason']}"
            if report["pending"] != 0 or hazard.tracked not in (None, report["tracked"]):
                return f"tracked {report['tracked']}, pending {report['pending']}"
        return ""


@pytest.fixture(scope="module")
def bench(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(mpi, tmp_path_factory.mktemp("hazards"), mpi.build_dir / "lib" / "libprogress_engine.so").build()


@pytest.fixture(scope="module")
def level(bench: Bench) -> str:
    return bench.level()


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    library = ASAN / "lib" / "libprogress_engine.so"
    if not library.exists():
        pytest.skip("build/asan has no library (./bench test --full builds it)")
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return Bench(MPIS["mpich"], tmp_path_factory.mktemp("sanitized"), library, runtime.stdout.strip()).build()


@pytest.fixture(scope="module")
def sanitized_level(sanitized: Bench) -> str:
    return sanitized.level()


def name(hazard: Hazard) -> str:
    if hazard.preset == "offload":
        return f"{hazard.scenario}-offload"
    return hazard.breaks or (f"tool-{hazard.tool}" if hazard.tool else hazard.scenario)


# `partitioned` takes as long as a quarter of all others.
@on_mpich_first
@pytest.mark.parametrize(
    "hazard", [pytest.param(x, marks=pytest.mark.full) if x == PARTITIONED else x for x in (*HAZARDS, *MORE)], ids=name
)
def test_a_hazard_is_handled(bench: Bench, level: str, hazard: Hazard) -> None:
    assert bench.problem(hazard, level) == ""


@pytest.mark.full
@pytest.mark.parametrize("hazard", [*HAZARDS, *MORE], ids=name)
def test_a_hazard_is_handled_under_the_sanitizer(sanitized: Bench, sanitized_level: str, hazard: Hazard) -> None:
    assert sanitized.problem(hazard, sanitized_level) == ""


@pytest.mark.full
@pytest.mark.parametrize("hazard", HAZARDS, ids=name)
def test_it_shows_when_the_handling_is_left_out(sanitized: Bench, sanitized_level: str, hazard: Hazard) -> None:
    assert sanitized.problem(hazard, sanitized_level, broken=hazard.breaks) != ""


# The ends of a process that are not MPI_Finalize. One rank: some launchers end the others when the first is gone.
ENDS = {
    "exit": Hazard("exit", "leave", last, preset="thread", tasks=1),
    "abort": Hazard("abort", "give-up", last, preset="thread", tool="below", tasks=1),
}


def threads_left(bench: Bench, hazard: Hazard, engine: bool = True, broken: str = "") -> int:
    """The threads that are there when the program, or the MPI, tears itself down."""
    ended = bench.run(hazard, engine=engine, broken=broken)
    assert ended.returncode not in (124, 137), "it did not end"
    assert ("rank 0: engine threads" in ended.stdout) is engine, ended.stdout + ended.stderr
    found = re.search(r"rank 0: (?:tool: )?(\d+) (?:engine threads left|other threads)", ended.stdout)
    assert found, ended.stdout + ended.stderr
    return int(found[1])


@on_mpich_first
@pytest.mark.parametrize("end", ENDS)
def test_no_engine_thread_is_left_at_the_end(bench: Bench, end: str) -> None:
    assert threads_left(bench, ENDS[end]) == threads_left(bench, ENDS[end], engine=False)


# The communication thread is still there: MPI_Finalize may be called behind exit.
@pytest.mark.full
@on_mpich_first
def test_nothing_is_tested_beside_an_abort(bench: Bench) -> None:
    ended = bench.run(replace(ENDS["abort"], preset="offload"))
    assert re.search(r"rank 0: tool: \d+ other threads at the abort, 0 tests beside it", ended.stdout), ended.stdout


@pytest.mark.full
@pytest.mark.parametrize("end", ENDS)
def test_at_the_end_it_shows_when_the_handling_is_left_out(sanitized: Bench, end: str) -> None:
    bare = threads_left(sanitized, ENDS[end], engine=False)
    assert threads_left(sanitized, ENDS[end]) == bare
    assert threads_left(sanitized, ENDS[end], broken=end) > bare


# Without a world there is no MPI_COMM_SELF to duplicate.
@pytest.mark.full
def test_a_session_alone_shows_when_its_handling_is_left_out(sanitized: Bench) -> None:
    compiled(sanitized.mpi, "sessions.c", sanitized.folder)
    alone = Hazard("sessions", "alone", last, program="sessions")
    assert sanitized.run(alone).returncode == 0
    assert sanitized.run(alone, broken="sessions").returncode != 0


# The MPI leaks as it likes, and the sanitizer's exit status says so: what counts is who asked for the memory.
@pytest.mark.full
def test_the_engine_leaks_nothing(sanitized: Bench) -> None:
    said = sanitized.run(replace(MESSAGES, preset="idle"), leaks=True).stderr
    assert "progress engine" not in said
    leaks = said.split("leak of ")[1:]
    assert [leak for leak in leaks if "libprogress_engine" in "".join(leak.splitlines()[2:3])] == []


def test_only_a_crash_of_the_mpi_alone_is_run_again() -> None:
    head = "==9==ERROR: AddressSanitizer: SEGV on unknown address 0x60b000020000 (pc 0x1 T0)\n==9==A READ access.\n"
    mpi = "    #0 0x1  (/clone/.mpi/mpich/lib/libmpi.so.12+0x46a33c)\n    #1 0x2  (/clone/lib/libmpi.so.12+0x38473e)\n"
    init = "    #{} 0x3 in PMPI_Init_thread (/clone/.mpi/mpich/lib/libmpi.so.12+0x1068cf)\n"
    assert OWN_CRASH.search(head + mpi + init.format(2))
    assert not OWN_CRASH.search(head + "    #0 0x1 in poll /clone/engine.cpp:3\n" + mpi + init.format(3))
    assert not OWN_CRASH.search(head + mpi + "    #2 0x4 in poll /clone/engine.cpp:3\n" + init.format(3))
    assert not OWN_CRASH.search(head + mpi + "    #2 0x4 in PMPI_Finalize (/clone/lib/libmpi.so.12+0x1)\n")


# Not which: that would be a claim about this machine.
@on_mpich_first
def test_a_verdict_is_measured(bench: Bench, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROGRESS_ENGINE_TRIAL_MS", "2")
    assert bench.problem(LASTING, level) == ""
    for report in reports(bench.folder):
        verdict = report["verdict"]
        assert verdict["word"] in ("helped", "neutral", "hurt", "unclear")
        assert min(verdict["armed_phases"], verdict["disarmed_phases"]) >= 5
        assert min(verdict["armed_s"], verdict["disarmed_s"]) > 0


@pytest.mark.parametrize(
    "breaks",  # that of `lifting` fails after half a minute
    [pytest.param(name, marks=pytest.mark.full if name == "lifting" else []) for name in UNIT_TESTS],
)
def test_a_unit_test_fails_when_the_handling_is_left_out(breaks: str) -> None:
    if not (ASAN / "bin" / "engine_unit_tests").exists():
        pytest.skip("build/asan is not built (./bench test --sanitizers builds it)")
    command = [str(ASAN / "bin" / "engine_unit_tests"), f"--gtest_filter={UNIT_TESTS[breaks]}"]
    for _ in range(5):  # what the scheduler does with a thread that is left alone differs beside other work
        ended = subprocess.run(
            command, env=os.environ | {"PROGRESS_ENGINE_BREAK": breaks}, capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
        if "SKIPPED" in ended.stdout:
            pytest.skip("needs CAP_SYS_NICE")
        if "FAILED" in ended.stdout:
            return
    pytest.fail(ended.stdout + ended.stderr)
