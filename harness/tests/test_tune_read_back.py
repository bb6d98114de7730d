# SPDX-License-Identifier: BSD-3-Clause
"""./bench tune: each line of the tables of MPI variables has a source and a way to read it back; what an MPI prints
shows whether it took one, and what is not taken is not confirmed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import process
from harness.base.errors import Failure
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.cli import main
from harness.job import read_back
from harness.job.plan import Launch, Plan, Side
from harness.job.read_back import Probe
from harness.job.runner import Runner
from harness.job.search import Parameter
from harness.job.session import Facts, Session
from harness.sessions import space, tuning
from harness.sessions.space import Table, Variable
from harness.tests.test_tune_search import SEARCH, SPACE, ran_to_the_end, searching
from spack_env.mpi_environments import ENVIRONMENTS

UNDOCUMENTED = "not documented"
NUMBER = re.compile(r"-?\d+")
TABLES = space.tables()
LINES = {one.name: (table, one) for table in TABLES for one in table.variables}


def inside(value: str, variable: Variable, table: Table) -> bool:
    """Whether it may have this value, whatever the other variables of its table are given in a search."""
    alternatives = variable.range.partition(" (")[0].split(", ")
    return any(one in (value, UNDOCUMENTED) or between(value, one, table) for one in alternatives)


def between(value: str, alternative: str, table: Table) -> bool:
    found = re.fullmatch(r"(\S+) to (\S+)", alternative) or re.fullmatch(r"from (\S+)()", alternative)
    if not found or not NUMBER.fullmatch(value):
        return False
    low, high = end(found[1], table, max, -math.inf), end(found[2], table, min, math.inf)
    return low <= int(value) <= high


def end(word: str, table: Table, of_all: Callable[[Iterable[float]], float], unknown: float) -> float:
    """A number, or what a variable of the table may be at worst; no end and the MPI's own constants are not known."""
    if NUMBER.fullmatch(word):
        return int(word)
    others = [one for one in table.variables if word and word in (one.name, one.key)]
    return of_all([float(number) for one in others for number in (one.default, *one.values)]) if others else unknown


@pytest.mark.parametrize("name", LINES)
def test_what_is_tried_lies_inside_the_documented_range(name: str) -> None:
    table, line = LINES[name]
    outside = [value for value in line.values if not inside(value, line, table)]
    assert not outside, f"{name}: {outside} are not of '{line.range}'"
    if NUMBER.fullmatch(line.default):
        assert inside(line.default, line, table), f"{name}: its default {line.default} is not of '{line.range}'"


def test_tables_have_sources_defaults_values_and_a_way_to_read_each_back() -> None:
    assert {"MPICH", "UCX", "Open MPI", "Intel MPI", "HPE Cray MPICH", "MVAPICH2"} <= {one.table for one in TABLES}
    assert len(LINES) == sum(len(table.variables) for table in TABLES), "each variable stands in one table"
    for table in TABLES:
        assert "https://" in table.source, "a reader can open it"
        for one in table.variables:
            assert one.default and one.values and one.meaning and one.range and one.default not in one.values
    assert any(one.name == "OMPI_MCA_btl_tcp_links" for one in space.variables_of("openmpi"))
    assert not any(one.name.startswith("OMPI") for one in space.variables_of("debian-mpich"))
    assert LINES["MPIR_CVAR_CH4_OFI_RNDV_PROTOCOL"][1].values == ["pipeline", "read", "write", "direct"]
    assert {f"I_MPI_ASYNC_PROGRESS{end}" for end in ("", "_THREADS", "_PIN")} <= set(LINES)


OWN = {"mpich": "MPIR_", "openmpi": "OMPI_", "intel": "I_MPI_", "cray": "MPICH_", "mvapich": "MVP_", "mvapich2": "MV2_"}


@pytest.mark.parametrize("name", sorted({*ENVIRONMENTS, "mvapich-4.1", "mvapich2-2.3.7"} - {"nmad", "third-party"}))
def test_every_mpi_that_spack_builds_has_a_table_of_its_own(name: str) -> None:
    first = name.partition("-")[0]
    found = [one.name for one in space.variables_of(name)]
    assert any(one.startswith(OWN[first]) for one in found)
    assert not any(one.startswith(OWN["mvapich2" if first == "mvapich" else "mvapich"]) for one in found)


def test_each_is_read_back_as_its_table_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Which MPI has PSM2 below it its name need not say."""
    asked = ("MVP_ASYNC_PROGRESS", "MV2_ASYNC_PROGRESS", "MV2_IBA_EAGER_THRESHOLD", "PSM2_RCVTHREAD")
    assert {probe.name: (probe.how, probe.key) for probe in space.probes_of(dict.fromkeys(asked, "1"))} == {
        "MVP_ASYNC_PROGRESS": ("mpi_t", "MPIR_CVAR_ASYNC_PROGRESS"),
        "MV2_ASYNC_PROGRESS": ("mpi_t", "MPIR_CVAR_ASYNC_PROGRESS"),
        "MV2_IBA_EAGER_THRESHOLD": ("mvapich2", "MV2_IBA_EAGER_THRESHOLD"),
        "PSM2_RCVTHREAD": ("psm2", "PSM2_RCVTHREAD"),
    }
    assert main(["tune", "--list"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in ("UCX_RNDV_THRESH", "as documented, not run here", "range: 0, 1; tried: 1; read back by cray"):
        assert words in said


OUTPUTS = {
    ("mpi_t", "btl_tcp_links = 4"): (True, "is 4 with it and 1 without"),
    ("mpi_t", "btl_tcp_links = 1"): (False, "is 1 with it and without"),
    ("mpi_t", "btl_tcp_links = 2"): (False, "is 2, and 4 was asked for"),
    ("mpi_t", "btl_tcp_links = four"): (True, "is four with it and 1 without"),
    ("mpi_t", "btl_tcp_links = 10.0.0.1"): (True, "is 10.0.0.1 with it and 1 without"),  # points, and no number
    ("mpi_t", "btl_tcp_links: unknown"): (False, "has no control variable"),
    ("ucx", "UCX  INFO  UCX_* env variables: UCX_TLS=tcp X=4"): (True, "among what it uses"),
    ("ucx", "UCX  WARN  unused environment variable: X (maybe: Y?)"): (False, "unused"),
    ("ucx", "nothing"): (False, "does not name it"),
    ("ofi", "X = 4"): (True, "libfabric: X=4"),
    ("ofi", "X: not set"): (False, "no provider"),
    ("ofi", "X: no libfabric\nlibfabric:1::tcp:core:fi_param_get_():1<info> read int var btl_tcp_links=4"): (True, "="),
    ("ofi", "libfabric:1::tcp:core:fi_param_get_():1<info> variable btl_tcp_links=<not set>"): (False, "no provider"),
    ("ofi", "read nothing"): (False, "no provider"),
    ("intel", "[0] MPI startup(): X=4"): (True, "X=4"),
    ("cray", "PE 0:   X                = 4"): (True, "X=4"),
    ("mvapich2", "    X              : 4"): (True, "X=4"),
    ("psm2", "X   a meaning => 4 (default was 2)"): (True, "X=4"),
    ("psm2", "X  Recv thread flags (0 disables thread)   => 0x4 (default was 0x1)"): (True, "X=0x4"),
    ("psm2", "X  Recv thread flags (0 disables thread)   => 0x1"): (False, "X=0x1"),
    ("psm2", ""): (False, "does not print it"),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_what_an_mpi_prints_shows_whether_it_took_a_variable(case: tuple[str, str], tmp_path: Path) -> None:
    how, output = case
    probe = Probe("X", "4", how, "btl_tcp_links")
    read_back.log_of(tmp_path, "m", None).write_text("btl_tcp_links = 1\nread-back: ended with status 0\n")
    read_back.log_of(tmp_path, "m", probe).write_text(f"{output}\nread-back: ended with status 0\n")
    taken, why = read_back.told(probe, tmp_path, "m")
    assert taken is OUTPUTS[case][0] and OUTPUTS[case][1] in why


GOOD_END = "read-back: ended with status 0\n"


def asked(logs: Path, **answers: str) -> Path:
    """Logs in which MPI_T says of a variable x what it is: as it is 1, and with X=value as `answers` have it."""
    logs.mkdir(parents=True, exist_ok=True)
    read_back.log_of(logs, "mpich", None).write_text(f"x = {answers.pop('alone', '1')}\n{GOOD_END}")
    for value, said in answers.items():
        probe = Probe("X", value.strip("_"), "mpi_t", "x")
        read_back.log_of(logs, "mpich", probe).write_text(f"x = {said}\n{GOOD_END}")
    return logs


def test_what_the_mpi_has_anyway_shows_nothing_and_the_next_value_is_asked(tmp_path: Path) -> None:
    one = Probe("X", "1", "mpi_t", "x", ["4"])
    logs = asked(tmp_path / "logs", _1="1", _4="4")
    assert read_back.told(one, logs, "mpich") == (True, "MPI_T: x is 4 with it and 1 without")
    alone = replace(one, others=[])
    assert read_back.told(alone, logs, "mpich") == (False, "MPI_T: x is 1 with it and without")
    assert read_back.doubts([alone], logs, "mpich") == [], "it runs with the value that somebody chose"
    hangs = read_back.log_of(logs, "mpich", alone)
    hangs.write_text("x = 1\nread-back: did not end within 5 s\n")
    assert "does not run with X=1: it did not end" in read_back.doubts([alone], logs, "mpich")[0]


def test_a_value_that_had_a_short_trial_is_still_asked_when_it_wins(tmp_path: Path) -> None:
    """A trial shows that the MPI runs with it, and not that it was taken."""

    def launch(program: Sequence[str], log: Path, _limit_s: float) -> process.Exit:
        given = dict(word.split("=", 1) for word in program if "=" in word)
        log.write_text(f"x = {given.get('X', '1')}\n" if "x" in program else "none: unknown\n")
        return process.Exit(0, 0.1, "")

    first, winner = Probe("X", "2", "mpi_t", "x"), Probe("X", "4", "mpi_t", "x")
    read_back.run([first], launch, tmp_path, tmp_path, "m")
    assert read_back.against({"X": "4"}, launch, tmp_path, tmp_path, "m") == ""
    read_back.run([first, winner], launch, tmp_path, tmp_path, "m")
    assert read_back.told(winner, tmp_path, "m") == (True, "MPI_T: x is 4 with it and 1 without")


def test_each_value_has_a_log_of_its_own(tmp_path: Path) -> None:
    """Else one would be said to be taken by the answer of another."""
    values = ("^tcp", "_tcp", "a.b", "a:b", "a_b", "x" * 200, "x" * 201)
    logs = {read_back.log_of(tmp_path, "m", Probe("X", value, "ucx", "X")) for value in values}
    assert len(logs) == len(values) and all(len(log.name) < 140 for log in logs)


def test_a_winner_may_have_a_value_that_the_mpi_has_anyway(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs with it; what won is perhaps another value of the same setting."""
    asked(tmp_path / "logs", _1="1")
    launch = Launch("s.0", "bare", 0, 0, side=Side("confirm.tuned", "bare", environment={"X": "1"}))
    probes = [Probe("X", "1", "mpi_t", "x")]
    runner = Runner(replace(plan, points=[{"work_units": 5}], launches=[launch], probes=probes), tmp_path)
    assert ran_to_the_end(runner, monkeypatch) == {("confirm.tuned", "ok"): 1}


def test_the_winners_own_values_are_asked_and_one_that_is_not_taken_is_not_confirmed(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axis = Parameter("UCX_TLS", ["default", "tcp", "self"], True)
    search = replace(SEARCH, space=[axis], points=[], untuned=[], probes=[Probe("UCX_TLS", "tcp", "ucx", "UCX_TLS")])
    search = tuning.with_confirmation(tuning.with_probes(
        tuning.with_block(search, [], [{"UCX_TLS": "self"}]), "s001"), "s001")  # fmt: skip
    logs = tmp_path / "logs"
    logs.mkdir()
    said = {None: "", "tcp": "UCX_* env variables: UCX_TLS=tcp\n", "self": "unused environment variable: UCX_TLS\n"}
    for value, text in said.items():
        probe = Probe("UCX_TLS", value, "ucx", "UCX_TLS") if value else None
        read_back.log_of(logs, "mpich", probe).write_text(text + GOOD_END)
    taken = tuning.taken(search, Session(tmp_path, Facts("s", "now", "running")), "mpich")
    assert taken == {"UCX_TLS": (False, "UCX calls it unused")}, "what is written is of the value that is written"

    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(searching(plan, search, points=points, probes=search.probes), tmp_path)
    found = ran_to_the_end(runner, monkeypatch)
    assert found["confirm.tuned", "failed"] == 1 and not found["confirm.tuned", "ok"]
    (why,) = {one.reason for one in runner.outcomes if one.status == "failed"}
    assert why == "the MPI is not shown to take UCX_TLS=self: UCX calls it unused"


def test_a_probe_runs_with_its_variable_and_one_that_breaks_the_mpi_is_named(plan: Plan, tmp_path: Path) -> None:
    tool = tmp_path / "bin" / read_back.PROGRAM
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\n[ "$BAD" = 1 ] && exit 3\nfor name; do echo "$name = ${X:-1}"; done\n')
    tool.chmod(0o755)
    probes = [Probe("X", "4", "mpi_t", "x_of_mpi"), Probe("BAD", "1", "mpi_t", "bad"), Probe("Y", "1", "", "Y")]
    here = replace(plan.platform, launch_command=[], progress_run=str(tool.parent / "progress-run"), reap=["true"])
    runner = Runner(replace(plan, platform=here, probes=probes, launches=[]), tmp_path / "session")
    assert runner.run() == 0
    logs = tmp_path / "session" / "logs"
    assert read_back.told(probes[0], logs, "mpich") == (True, "MPI_T: x_of_mpi is 4 with it and 1 without")
    assert read_back.told(probes[1], logs, "mpich") == (
        False, "the MPI does not run with BAD=1: it ended with status 3"
    )  # fmt: skip
    assert not read_back.told(probes[2], logs, "mpich")[0]
    session = Session(tmp_path / "session", Facts("s", "now", "running"))
    axes = [*SPACE, Parameter("X", ["default", "4"], True)]
    search = replace(SEARCH, space=axes, probes=[*probes, Probe("UCX_TLS", "tcp", "", "UCX_TLS")])
    left = tuning.without_untaken(search, tuning.taken(search, session, "mpich"))
    assert [axis.name for axis in left.space] == ["burst", "X"]
    with pytest.raises(Failure, match="No variable is shown to have taken effect"):
        only = replace(search, space=[SPACE[1]])
        tuning.without_untaken(only, tuning.taken(only, session, "mpich"))


# Each MPI is really asked: what it takes is shown by its own words, and what it does not have is said not to be
# taken.
Ask = Callable[[Mapping[str, str]], Mapping[str, tuple[bool, str]]]
ABSENT = {"mpich": "MPIR_CVAR_NO_SUCH", "openmpi": "OMPI_MCA_btl_tcp_no_such", "intel-mpi": "I_MPI_NO_SUCH"}
# Of each MPI, and of what is below it, one that no other setting hides.
TAKEN = {
    "mpich": {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "ring", "UCX_RNDV_THRESH": "65536"},
    "openmpi": {"OMPI_MCA_btl_tcp_links": "4", "OMPI_MCA_mpi_yield_when_idle": "1"},
    "intel-mpi": {"I_MPI_THREAD_YIELD": "2", "FI_TCP_TX_SIZE": "1024"},
}
SHOWN_BY = {"mpi_t": "MPI_T: ", "ucx": "UCX prints it", "ofi": "libfabric: ", "intel": "the library prints"}
# What an MPI of the tables does not run with: MPICH's wheel hangs with a second virtual interface over UCX and TCP.
NOT_HERE = {"MPIR_CVAR_CH4_NUM_VCIS"}


@pytest.fixture(params=WHEEL_MPIS)
def name(request: pytest.FixtureRequest) -> str:
    """An MPI that is installed, with the program that asks it."""
    chosen: str = request.param
    mpi = MPIS[chosen]
    if not (mpi.installed() and (mpi.build_dir / "bin" / read_back.PROGRAM).exists()):
        pytest.skip(f"{mpi.title} is not installed, or {read_back.PROGRAM} is not built for it")
    return chosen


@pytest.fixture
def ask(name: str, tmp_path: Path) -> Ask:
    """Two ranks on this machine that talk over TCP are asked of each variable; what each answer shows."""
    mpi = MPIS[name]

    def launch(program: Sequence[str], log: Path, limit_s: float) -> process.Exit:
        return process.run([*mpi.launch_command(2, 2), *program], mpi.environment("tcp"), log, limit_s)

    def asked(values: Mapping[str, str]) -> Mapping[str, tuple[bool, str]]:
        probes = space.probes_of(values)
        read_back.run(probes, launch, mpi.build_dir / "bin", tmp_path, name)
        return {probe.name: read_back.told(probe, tmp_path, name) for probe in probes}

    return asked


@pytest.mark.mpi
def test_what_an_mpi_takes_is_shown_and_what_it_does_not_have_is_not(name: str, ask: Ask) -> None:
    found = ask(TAKEN[name] | {ABSENT[name]: "1"})
    how = {probe.name: probe.how for probe in space.probes_of(TAKEN[name])}
    for variable in TAKEN[name]:
        taken, why = found[variable]
        assert taken and why.startswith(SHOWN_BY[how[variable]]), found
    assert not found[ABSENT[name]][0], found


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.timeout(300)
def test_every_variable_of_the_tables_that_were_tried_here_is_taken(name: str, ask: Ask) -> None:
    lines = [one for table in space.tables() if table.of(name) and table.tried for one in table.variables]
    found = ask({one.name: one.values[0] for one in lines if one.name not in NOT_HERE})
    assert {variable: why for variable, (taken, why) in found.items() if not taken} == {}
