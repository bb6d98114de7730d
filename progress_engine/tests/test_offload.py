# SPDX-License-Identifier: BSD-3-Clause
"""The preset `offload` under real MPIs: many threads at once, and what ends in a sentence instead of a hang."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import ALL, MPICH_FIRST, TIME_LIMIT, WHEELS, Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi

SENTENCES = {
    "unknown-ult": "a user-level thread waits inside MPI and no adapter for its library is registered",
    "callback": "a callback .* calls MPI_Recv, which cannot be done while the callback runs",
    "finalize": "MPI_Finalize was called while 1 of this process' threads still wait in MPI calls",
}


def usable(name: str) -> Mpi:
    mpi = ALL[name]
    if not mpi.installed() or not (mpi.build_dir / "lib" / "libprogress_engine.so").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")
    return mpi


# What is the engine's alone is quickly tried on one MPI, and on all with --full.
@pytest.fixture(scope="module", params=["mpich", *(pytest.param(x, marks=pytest.mark.full) for x in WHEELS[1:])])
def misuse(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    mpi = usable(request.param)
    return Launcher(mpi, compiled(mpi, "misuse.c", tmp_path_factory.mktemp("misuse"), "-lpthread"))


@pytest.fixture(scope="module", params=WHEELS)
def storm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    mpi = usable(request.param)
    return Launcher(mpi, compiled(mpi, "storm.c", tmp_path_factory.mktemp("storm"), "-lpthread"))


def test_results_are_those_of_the_bare_program(launcher: Launcher, tmp_path: Path) -> None:
    bare = launcher.run("all")
    result = launcher.run("all", variant="offload", settings=(f"report_file={tmp_path}/report.%r",))
    assert (result.returncode, result.stderr) == (0, bare.stderr)
    assert lines(result.stdout) == lines(bare.stdout) != []
    for report in reports(tmp_path):
        assert (report["active"], report["reason"], report["pending"]) == (True, "", 0)
        assert report["thread_level"] == {"asked": "serialized", "provided": "serialized"}
        assert [thread["role"] for thread in report["threads"]] == ["communication"]
        assert report["offload"]["commands"] > 0


def test_threads_that_are_ranks_call_themselves(tmp_path: Path) -> None:
    mpi = usable("mpich")
    launcher = Launcher(mpi, compiled(mpi, "threadcomm.c", tmp_path, "-lpthread"))
    bare, found = launcher.run(), launcher.run(variant="offload")
    assert (found.returncode, found.stderr) == (0, bare.stderr)
    printed = sorted(bare.stdout.splitlines())
    assert sorted(found.stdout.splitlines()) == printed and len(printed) == 2 * 2 * 3 + 2


OWN_LIBRARY = "libprogress_engine_offload.so"


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(("variant", "loaded"), [("adaptive", False), ("offload", True)])
def test_its_library_is_loaded_only_where_it_is_asked_for(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str, loaded: bool
) -> None:
    """As the loader tells."""
    monkeypatch.setenv("LD_DEBUG", "files")
    monkeypatch.setenv("LD_DEBUG_OUTPUT", str(tmp_path / "loader"))
    assert launcher.run("all", variant=variant).returncode == 0
    told = "".join(file.read_text(errors="replace") for file in tmp_path.glob("loader.*"))
    assert "libprogress_engine.so" in told
    assert (OWN_LIBRARY in told) == loaded


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_without_its_library_the_program_runs_without_it_and_says_why(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / launcher.engine.name
    shutil.copy(launcher.engine, engine)
    monkeypatch.setenv("PROGRESS_ENGINE_LIBRARY", str(engine))
    result = launcher.run("all", variant="offload")
    assert result.returncode == 0
    assert f"safety=offload needs {OWN_LIBRARY}, which cannot be loaded" in result.stderr
    assert lines(result.stdout) == lines(launcher.run("all").stdout)


STATUS = re.compile(r"(.*): (\w+ source, \w+ tag, count -?\d+, cancelled [01], error \w+)")
LEFT_ALONE = re.compile(r"wrong source, wrong tag, .*, error kept")
EMPTY = "any source, any tag, count 0, cancelled 0, error success"


def as_good_as(bare: str) -> set[str]:
    """A call that leaves MPI_ERROR, or what says whether it was cancelled, alone may set it to what is true; one that
    leaves the whole status alone, as MPICH 4.0's MPI_Testany of an inactive request does against MPI 4.1, section
    3.7.5, may give the empty one."""
    found = STATUS.fullmatch(bare)
    assert found, bare
    empty = {f"{found[1]}: {EMPTY}"} if LEFT_ALONE.fullmatch(found[2]) else set()
    known = {bare, bare.replace("cancelled 1", "cancelled 0")}  # nothing here is cancelled
    return known | {one.replace("error kept", "error success") for one in known} | empty


def test_statuses_are_those_of_the_bare_program(mpi: Mpi, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "statuses.c", tmp_path))
    bare, handed_over = program.run(), program.run(variant="offload")
    assert (handed_over.returncode, handed_over.stderr) == (0, bare.stderr)
    assert len(bare.stdout.splitlines()) == len(handed_over.stdout.splitlines()) >= 36
    for before, after in zip(bare.stdout.splitlines(), handed_over.stdout.splitlines(), strict=True):
        assert after in as_good_as(before)


@pytest.mark.parametrize("asked", [-1, 1, 3])
def test_the_program_sees_the_thread_level_it_asked_for(misuse: Launcher, asked: int, tmp_path: Path) -> None:
    scenarios = Launcher(misuse.mpi, compiled(misuse.mpi, "scenarios.c", tmp_path, "-lpthread"))
    bare = scenarios.run("level", str(asked))
    with_engine = scenarios.run("level", str(asked), variant="offload")
    assert lines(with_engine.stdout) == lines(bare.stdout) != []


FUNNELED, MULTIPLE = 1, 3  # of mpi.h where the MPI is of MPICH's family or Open MPI


def only_one_rank(launcher: Launcher) -> tuple[str, ...]:
    """What stands before progress-run on the ranks: all but rank 1 skip it and run the program alone."""
    rank = "OMPI_COMM_WORLD_RANK" if launcher.mpi.family == "openmpi" else "PMI_RANK"
    return (
        "sh",
        "-c",
        f'[ "${rank}" = 1 ] || while [ "$1" != -- ]; do shift; done; [ "$1" != -- ] || shift; exec "$@"',
        "-",
    )


# The level that the program asks for, whether one rank alone has the engine, a setting, and how the calls are made.
BLOCKING = {
    "some": (FUNNELED, True, (), "blocking"),
    "all": (FUNNELED, False, (), "blocking"),
    "some-multiple": (MULTIPLE, True, (), "by caller"),
    "all-multiple": (MULTIPLE, False, (), "by caller"),
    "some-asked": (MULTIPLE, True, ("collectives=blocking",), "blocking"),
    "asked": (MULTIPLE, False, ("collectives=blocking",), "blocking"),
}


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("how", ["some", *(pytest.param(x, marks=pytest.mark.full) for x in BLOCKING if x != "some")])
def test_collectives_beside_ranks_without_it(mpi: Mpi, how: str, tmp_path: Path) -> None:
    """Three ranks, so that the order of a sum's terms can differ."""
    program = Launcher(mpi, compiled(mpi, "calls.c:collectives", tmp_path))
    level, some, asked, made = BLOCKING[how]
    bare = program.run(str(level), tasks=3)
    settings = (*asked, f"report_file={tmp_path}/report.%r")
    prefix = only_one_rank(program) if some else ()
    result = program.run(str(level), variant="offload", settings=settings, prefix=prefix, tasks=3)
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines(result.stdout) == lines(bare.stdout) != []
    (report,) = reports(tmp_path, 3)[1:2] if not some else [json.loads((tmp_path / "report.1").read_text())]
    assert (report["active"], report["offload"]["collectives"]) == (True, made)
    assert len(list(tmp_path.glob("report.*"))) == (1 if some else 3)


def test_every_end_ends(launcher: Launcher) -> None:
    assert launcher.run("exit", variant="offload", tasks=1).returncode == launcher.run("exit", tasks=1).returncode
    aborted = launcher.run("abort", variant="offload")
    assert aborted.returncode not in (0, 124, 137)
    assert "Segmentation" not in aborted.stderr


def run(launcher: Launcher, *arguments: str, settings: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return launcher.run(*arguments, variant="offload", settings=settings, tasks=1)


# A generalised request that is freed before it is complete (MPI 4.1, section 13.2): its copy still names it.
FREED_FIRST = r"""
#include <mpi.h>
#include <stdio.h>
static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void* state) {
  ++*(int*)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}
int main(int argc, char** argv) {
  int released = 0, sent = 7, received = 0;
  MPI_Request request, copy, next;
  MPI_Init(&argc, &argv);
  MPI_Grequest_start(query, release, cancel, &released, &request);
  copy = request;
  MPI_Request_free(&request);
  MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &next);
  MPI_Grequest_complete(copy);
  MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&next, MPI_STATUS_IGNORE);
  printf("rank 0: released %d, received %d\n", released, received);
  return MPI_Finalize();
}
"""


def test_a_generalised_request_may_be_freed_before_it_is_complete(misuse: Launcher, tmp_path: Path) -> None:
    source = tmp_path / "freed_first.c"
    source.write_text(FREED_FIRST)
    program = Launcher(misuse.mpi, compiled(misuse.mpi, str(source), tmp_path))
    bare = program.run(tasks=1)
    if bare.returncode:
        pytest.skip(f"{misuse.mpi.title} does not run it without the engine")
    result = run(program)
    assert (result.returncode, result.stderr) == (0, bare.stderr)
    assert lines(result.stdout) == lines(bare.stdout) != []


@pytest.fixture(scope="module")
def error_handlers(misuse: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    if misuse.mpi.family == "openmpi":
        pytest.skip(f"{misuse.mpi.title} forgets such errors now and then, also without the engine")
    return Launcher(misuse.mpi, compiled(misuse.mpi, "error_handlers.c", tmp_path_factory.mktemp("error_handlers")))


@pytest.mark.parametrize("variant", ["offload", "idle"])
@pytest.mark.parametrize("handler", ["returns", "counts"])
def test_an_error_is_told_to_its_communicators_handler(error_handlers: Launcher, handler: str, variant: str) -> None:
    bare = error_handlers.run(handler)
    result = error_handlers.run(handler, variant=variant)
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []


@pytest.mark.parametrize("variant", [None, "offload"])
def test_an_error_ends_the_program_if_its_communicators_handler_does(
    error_handlers: Launcher, variant: str | None
) -> None:
    """Also where MPI_COMM_WORLD's returns."""
    result = error_handlers.run("ends", variant=variant)
    assert result.returncode not in (0, 124, 137)
    assert "MPI_ERR_TRUNCATE" in result.stderr or "truncated" in result.stderr
    assert lines(result.stdout) == []


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_persistent_operations_with_nobody_end(mpi: Mpi, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "cases.c:to_nobody", tmp_path))
    bare = program.run(tasks=1)
    result = program.run(variant="offload", tasks=1)
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_spawned_processes_have_the_programs_signal_mask(mpi: Mpi, tmp_path: Path) -> None:
    """Of a process that no launcher started: the MPI itself starts what starts the others."""
    program = compiled(mpi, "cases.c:signal_mask", tmp_path)
    environment = os.environ | mpi.shell_environment("tcp")

    def blocked(*words: str) -> list[str]:
        command = ["timeout", "-k", "2", str(TIME_LIMIT), *words, str(program)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return re.findall(r"^SigBlk:\t(\w+)$", result.stdout, re.MULTILINE)

    bare = blocked()
    if not bare:
        pytest.skip(f"{mpi.title} spawns nothing here without a launcher and without the engine")
    assert blocked(str(mpi.build_dir / "bin" / "progress-run"), "--variant", "offload", "--") == bare


def test_callbacks_of_finalize_may_wait(misuse: Launcher, tmp_path: Path) -> None:
    program = Launcher(misuse.mpi, compiled(misuse.mpi, "cases.c:self_attribute", tmp_path))
    bare = program.run()
    result = program.run(variant="offload")
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_what_a_vendors_mpi_calls_itself_is_not_handed_over(mpi: Mpi, tmp_path: Path) -> None:
    """Its name says nothing: it is the library in which MPI begins."""
    program = Launcher(mpi, compiled(mpi, "vendor.c", tmp_path))
    name = "libmessages.so.3"
    vendor = compiled(mpi, "vendor.c", tmp_path, "-DVENDOR", f"-Wl,-soname,{name}", "-ldl", library=name)
    words = ("PROGRESS_ENGINE=offload", f"PROGRESS_ENGINE_REPORT_FILE={tmp_path}/report.%r")
    result = program.run(prefix=("env", *words, f"LD_PRELOAD={program.engine}:{vendor}"))
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"rank {rank}: the barrier gave 0" for rank in (0, 1)]
    assert all(report["active"] for report in reports(tmp_path))


# A callback that waits is given ten seconds.
@pytest.mark.parametrize(
    "what", [pytest.param(x, marks=pytest.mark.full if x == "callback" else []) for x in SENTENCES]
)
def test_misuse_ends_in_a_sentence(misuse: Launcher, what: str) -> None:
    result = run(misuse, what)
    assert re.search(SENTENCES[what], result.stderr), result.stderr
    assert result.returncode not in (0, 124, 137)


def test_an_unknown_user_level_thread_may_block_if_asked_to(misuse: Launcher) -> None:
    result = run(misuse, "unknown-ult", settings=("ult=block",))
    assert (result.returncode, result.stdout.strip()) == (0, "received 42"), result.stderr


def test_a_null_status_is_none(misuse: Launcher) -> None:
    result = run(misuse, "null-status")
    assert (result.returncode, result.stdout.strip()) == (0, "went on"), result.stderr


def test_a_million_forgotten_requests_take_bounded_memory(misuse: Launcher) -> None:
    result = run(misuse, "forgotten", "1000000")
    assert result.returncode == 0, result.stderr
    megabytes = int(re.search(r"(\d+) MB", result.stdout).group(1))  # type: ignore[union-attr]
    assert megabytes < 1000


def test_more_of_them_end_in_a_sentence(misuse: Launcher) -> None:
    result = run(misuse, "forgotten", "1100000")
    assert "holds 1048576 requests that it never waited for" in result.stderr
    assert result.returncode not in (0, 124, 137)


@pytest.mark.parametrize("variant", [pytest.param("off", marks=pytest.mark.full), "offload"])
def test_requests_go_to_fortran_and_back(storm: Launcher, variant: str, tmp_path: Path) -> None:
    program = Launcher(storm.mpi, compiled(storm.mpi, "calls.c:request_handles", tmp_path, "-ldl"))
    result = program.run(variant=variant)
    assert lines(result.stdout) == [f"rank {rank}: requests are the same again" for rank in (0, 1)], result.stderr


def test_argobots_threads_give_their_core_to_others(storm: Launcher, tmp_path: Path) -> None:
    cache = (storm.mpi.build_dir / "CMakeCache.txt").read_text()
    found = dict(re.findall(r"^PE_ARGOBOTS_(\w+):\w+=(.*)$", cache, re.MULTILINE))
    if not (storm.engine.parent / "libprogress_engine_argobots.so").exists():
        pytest.skip("the engine was built without Argobots")
    library = Path(found["LIBRARY"])
    flags = (f"-I{found['INCLUDE']}", str(library), f"-Wl,-rpath,{library.parent}")
    program = Launcher(storm.mpi, compiled(storm.mpi, "argobots.c", tmp_path, *flags))
    result = program.run("100", "500", variant="offload", settings=(f"report_file={tmp_path}/report.%r",))
    assert lines(result.stdout) == [f"rank {rank}: 100 threads, 500 rounds, 0 errors" for rank in (0, 1)], result.stderr
    assert sum(map(int, re.findall(r"^moved (\d+)$", result.stderr, re.MULTILINE))) > 0
    for report in reports(tmp_path):
        assert report["offload"]["ult_adapter"] == "argobots"
        assert report["offload"]["suspensions"] > 0


def in_a_storm(launcher: Launcher, operations: int, folder: Path, limit: int, collectives: str) -> None:
    settings = (f"report_file={folder}/report.%r", f"collectives={collectives}")
    result = launcher.run("64", str(operations), variant="offload", settings=settings, limit=limit)
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines(result.stdout) == [
        f"rank {rank}: 64 threads, {operations} operations each, 0 errors" for rank in (0, 1)
    ]
    for report in reports(folder):
        level, made = COLLECTIVE_CALLS[collectives]
        assert report["thread_level"] == {"asked": "multiple", "provided": level}
        assert report["offload"]["collectives"] == made
        assert report["offload"]["commands"] > 64 * operations


# By the setting: the level that the MPI is asked for, and how the calls are made.
COLLECTIVE_CALLS = {"auto": ("multiple", "by caller"), "nonblocking": ("serialized", "nonblocking")}


@pytest.mark.parametrize("storm", [mpi for mpi in MPICH_FIRST if mpi.values[0] in WHEELS], indirect=True)
@pytest.mark.parametrize("collectives", ["auto", pytest.param("nonblocking", marks=pytest.mark.full)])
def test_sixty_four_threads_at_once(storm: Launcher, collectives: str, tmp_path: Path) -> None:
    """Also in collective calls of several communicators at once, of which none waits for another."""
    in_a_storm(storm, 10, tmp_path, TIME_LIMIT, collectives)


@pytest.mark.full
@pytest.mark.alone  # its 128 threads take the machine
@pytest.mark.timeout(1000)
def test_sixty_four_threads_and_10000_operations_each(storm: Launcher, tmp_path: Path) -> None:
    in_a_storm(storm, 10_000, tmp_path, 900, "nonblocking")


@pytest.mark.parametrize("what", ["communicators", pytest.param("windows", marks=pytest.mark.full)])
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_threads_that_wait_for_other_processes_at_once(mpi: Mpi, what: str, tmp_path: Path) -> None:
    """In opposite orders on two ranks: where one thread made all these calls, each process would wait for the other."""
    program = Launcher(mpi, compiled(mpi, "wait_for_others.c", tmp_path, "-lpthread"))
    result = program.run(what, variant="offload", limit=60)
    assert lines(result.stdout) == [f"rank {rank}: {what} done" for rank in range(2)], result.stderr


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_several_collective_operations_of_a_file_at_once(mpi: Mpi, tmp_path: Path) -> None:
    """ROMIO bears no more than one moving: even MPI_Testsome of several, bare, asserts or waits for ever."""
    program = Launcher(mpi, compiled(mpi, "cases.c:file_order", tmp_path))
    result = program.run(str(tmp_path / "file"), variant="offload", tasks=4, limit=60)
    assert lines(result.stdout) == [f"rank {rank}: 0 wrong" for rank in range(4)], result.stderr


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("intel-mpi", marks=pytest.mark.full)], indirect=True)
def test_generalised_requests_of_fortran(mpi: Mpi, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "fortran_grequest.c", tmp_path))
    result = program.run(variant="offload")
    assert lines(result.stdout) == [f"rank {rank}: 7 bytes" for rank in range(2)], result.stderr


# Of these MPII_Grequest_set_lang_f77 takes a request, which under offload is ours: mpi/fortran.cpp. Other handles are
# the MPI's own.
ASKED_BY_FORTRAN = {
    *(
        "MPII_Comm_get_attr",
        "MPII_Comm_get_attr_fort",
        "MPII_Comm_set_attr",
        "MPII_Keyval_set_proxy",
        "MPII_Op_set_f08",
    ),
    *("MPII_Type_get_attr", "MPII_Type_set_attr", "MPII_Win_get_attr", "MPII_Win_set_attr"),
    *("MPIR_Err_create_code", "MPIR_Err_return_comm", "MPII_Grequest_set_lang_f77"),
}


def symbols(library: Path, *options: str) -> set[str]:
    said = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in said.splitlines()}


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("intel-mpi", marks=pytest.mark.full)], indirect=True)
def test_what_the_library_of_fortran_asks_of_the_library_of_c(mpi: Mpi) -> None:
    """Functions of no header, which the interposer is not generated for: none beyond those that were looked at."""
    folder = mpi.prefix / "lib"
    if not (folder / "libmpifort.so.12").exists():
        pytest.skip(f"{mpi.title} comes without Fortran")
    functions = symbols(folder / "libmpi.so.12", "--defined-only")
    asked = symbols(folder / "libmpifort.so.12", "--undefined-only") & functions
    internal = {name for name in asked if re.match("MPI[IRD]", name) and not name.startswith(("MPIR_F_", "MPII_F_"))}
    assert internal <= ASKED_BY_FORTRAN


@pytest.mark.parametrize("variant", ["offload", "adaptive"])
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_extensions_of_the_mpis_are_known(mpi: Mpi, variant: str, tmp_path: Path) -> None:
    """Of the header that Open MPI has beside mpi.h: under offload they ran beside the communication thread, and their
    requests were taken for the engine's."""
    program = Launcher(mpi, compiled(mpi, "agree.c", tmp_path))
    bare = program.run()
    if bare.returncode:
        pytest.skip(f"{mpi.title} does not run it without the engine")
    result = program.run(variant=variant, settings=(f"report_file={tmp_path}/report.%r",))
    assert (result.returncode, lines(result.stdout)) == (0, lines(bare.stdout)), result.stderr
    assert lines(bare.stdout)
    assert all(report["pending"] == 0 for report in reports(tmp_path))
