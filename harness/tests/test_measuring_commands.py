# SPDX-License-Identifier: BSD-3-Clause
"""./bench harm: a short way to a session of the group `harm`, and what such a session says of the engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from analysis.budgets import BASE, BUDGETS, CALL_VARIANTS, PING_PONG_VARIANTS, PROFILED
from analysis.gate import slow_nodes
from analysis.tests.synthetic import Synthetic
from analysis.tests.test_limit import session_of
from harness.base import variants
from harness.base.errors import NOT_TOLD, Failure
from harness.base.mpis import MPIS
from harness.base.paths import SCHEMA
from harness.cli import main
from harness.commands import groups
from harness.commands.groups import FEWER, HARM, MOST, RANKS, SPARE, _of_nodes, _tell_nodes
from harness.commands.results import check
from harness.job import engine_benchmarks, records
from harness.job.engine_benchmarks import OPTIONS, Part, instructions
from harness.setup import environment
from harness.tests.sessions import bench, facts, latest, reasons
from harness.vcluster import cluster as virtual
from harness.vcluster.tests.vcluster_fixtures import run
from reframe_checks.catalogue import by_names
from reframe_checks.studies.scaling import part_of_grid

HERE = ("--mpi", "mpich", "--system", "local", "--scale", "test")
LATENCY = ("--only", "microbench latency")


@pytest.mark.parametrize("command", ["harm", "engine-costs"])
def test_a_session_of_something_else_has_no_table(
    capsys: pytest.CaptureFixture[str], results: Path, command: str
) -> None:
    Synthetic(launches=1, samples=3).write(results / "other")
    assert main([command, "--table", "other"]) == 2
    assert f"other: no {'workload' if command == 'harm' else 'part'} of ./bench {command} was run there" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(("loss", "status"), [(0.0, 0), (0.08, 1), (0.02, 3)], ids=["refuted", "shown", "undecided"])
def test_harm_ends_with_what_is_shown(tmp_path: Path, loss: float, status: int) -> None:
    assert HARM.told([session_of(tmp_path / "s", loss)], tmp_path / "table.md") == status


def test_the_plan_names_every_workload_with_its_point(capsys: pytest.CaptureFixture[str], results: Path) -> None:
    assert main(["harm", "--mpi", "mpich", "--variant", "adaptive", "--only", "microbench", "--list"]) == 0
    said = capsys.readouterr().out
    assert "microbench overlap: {'size_bytes': 1048576, 'work_units': 10000}" in said
    assert "harm-microbench-overlap on vcluster, mpich: 12 launches of 1 point (adaptive)" in said
    assert "npb" not in said and not results.exists()


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.usefixtures("mpich")
def test_it_leaves_a_normal_session_whose_records_verify_the_engine(results: Path) -> None:
    done = bench("harm", *HERE, *LATENCY, "--variant", "adaptive", "--launches", "1")
    assert done.returncode == 3, "one launch cannot tell"
    session = latest(results)
    assert facts(session)["state"] == "complete" and facts(session)["studies"] == ["harm-microbench-latency"]
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    presets, studies = set(), set()
    for path in (session / "records").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            validator.validate(json.loads(line))
        record = records.read(path)
        assert record.header and record.end and {line["status"] for line in record.points} == {"ok"}
        assert record.header["context"]["variant"] in path.name
        studies.add(record.header["context"]["study"])
        presets |= {(rank["engine"] or {"preset": "bare"})["preset"] for rank in record.end["ranks"]}
    assert presets == {"adaptive"} and studies == {"harm-microbench-latency"}
    assert (session / "report.html").exists() and list((session / "nodes").iterdir())
    assert "| microbench latency | mpich | latency_s |" in done.stdout
    again = bench("harm", "--table", session.name, "--out", str(session / "harm.md"))
    assert again.returncode == 3 and (session / "harm.md").read_text() in done.stdout
    next((session / "records").glob("*.adaptive.jsonl")).unlink()
    refused = bench("engine-costs", "--resume", session.name)
    assert refused.returncode == 2 and "is none of ./bench engine-costs" in refused.stderr
    resumed = bench("harm", "--resume", session.name)
    assert resumed.returncode == 3 and ": 1 launch" in resumed.stderr, resumed.stderr
    assert len(list((session / "records").glob("*.jsonl"))) == 1
    assert "armed" in records.read(next((session / "records").glob("*.adaptive.jsonl"))).points[0]["samples"]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.usefixtures("mpich")
def test_an_engine_that_stood_down_is_reported_as_failed(results: Path) -> None:
    """Its settings switch it off: the workload runs and ends well, as fast as bare."""
    done = bench("harm", *HERE, *LATENCY, "--variant", "adaptive:points=none", "--launches", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    session = latest(results)
    assert facts(session)["state"] == "incomplete"
    assert all("the engine did not run on rank" in reason for reason in reasons(session).values())
    row = next(line for line in done.stdout.splitlines() if line.startswith("| microbench latency |"))
    assert "| failed |" in row
    assert "- microbench latency on mpich, adaptive:points=none: failed: the engine did not run" in done.stdout


# ./bench nodes: a slow node and one with a slow link are named; virtual nodes are made so from outside.
SLOW = ("tbf", "rate", "100mbit", "burst", "128kb", "latency", "400ms")


@pytest.mark.parametrize(("number", "rounds"), [(2, 1), (3, 3), (4, 3), (5, 5)])
def test_every_pair_is_planned_in_enough_launches_to_name_one(number: int, rounds: int) -> None:
    request = _of_nodes("local", number, "mpich", None, 1)
    (job,) = request.jobs()
    points = job.points_of(job.launches[0])
    assert {point["round"] for point in points} == set(range(rounds)) and len(points) == 2 * rounds
    places = {place: dict.fromkeys(range(99), 1.0) for place in range(number)}
    links = dict.fromkeys(range(number * (number - 1) // 2), dict.fromkeys(range(99), 1.0))
    measured: Any = {"register": places, "memory": places, "8 bytes": links, "1 MB": links}
    assert len(job.launches) == SPARE + slow_nodes.rounds_wanted(slow_nodes.tests(measured))
    assert len(job.launches) >= 12 and {launch.variant for launch in job.launches} == {"bare"}


def test_a_table_may_go_to_a_pipe(tmp_path: Path) -> None:
    """Whose reader would take the end of a trial for the end of the table."""
    os.mkfifo(tmp_path / "pipe")
    check(tmp_path / "pipe")
    check(tmp_path / "new")
    check(None)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(("launches", "status"), [(2, NOT_TOLD), (16, 0)])
def test_too_few_launches_to_name_anybody_are_no_success(
    launches: int, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = dict.fromkeys(range(launches), 0.01)
    found = slow_nodes.Nodes(["a", "b"], {"computation": {"a": turns, "b": turns}}, [], [])
    monkeypatch.setattr(slow_nodes, "read", lambda _: found)
    text, told = _tell_nodes([Path("session")], json=False)
    assert (told, "too few launches, 2 of 11 wanted" in text) == (status, launches == 2)


def odd(folder: Path, number: int) -> tuple[int, list[dict[str, Any]]]:
    """The status of ./bench nodes, and what it names."""
    file = folder / "nodes.json"
    done = bench("nodes", "--nodes", str(number), "--json", "--out", str(file), timeout=500)
    found: dict[str, Any] = json.loads(file.read_text())
    assert not found["failed"] and len(found["nodes"]) == number, done.stderr
    return done.returncode, found["odd"]


@pytest.mark.full
@pytest.mark.alone  # what else runs slows nodes down, too
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("results", "state")
def test_a_node_with_a_slow_link_is_named(tmp_path: Path) -> None:
    """What it sends passes a tenth of the others' rate. Nodes that share a CPU may be named for that, but by less."""
    assert bench("vcluster", "up", "--nodes", "4").returncode == 0
    nodes = virtual.load()
    assert nodes
    delayed = run(nodes, "vc3", "tc", "qdisc", "replace", "dev", "eth0", "root", *SLOW)
    assert delayed.returncode == 0, delayed.stderr
    status, found = odd(tmp_path, 4)
    assert status == NOT_TOLD
    slow = [one for one in found if one["what"] == "transfer of 1048576 bytes"]
    assert max(slow, key=lambda one: float(one["ratio"]))["where"] == "vc3", found


@pytest.mark.full
@pytest.mark.alone  # what else runs slows nodes down, too
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("results", "state")
def test_a_node_whose_cpu_is_shared_is_named(tmp_path: Path) -> None:
    assert bench("vcluster", "up", "--nodes", "2").returncode == 0
    nodes = virtual.load()
    assert nodes
    with subprocess.Popen(nodes.command("vc2", ["sh", "-c", "while :; do :; done"])) as busy:
        try:
            status, found = odd(tmp_path, 2)
        finally:
            busy.kill()
    assert status == NOT_TOLD
    assert {one["where"] for one in found} == {"vc2"}, found
    assert all(one["what"].startswith("computation") for one in found)


# ./bench scaling: a session of predictions for each number of ranks, and a table of all of them.
def test_the_plan_doubles_the_ranks_and_leaves_out_what_takes_too_long(
    capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    assert main(["scaling", "--list"]) == 0
    parts = re.findall(r"^(\d+) ranks:\n((?:(?!\d+ ranks).*\n)+)", capsys.readouterr().out, re.MULTILINE)
    assert tuple(dict.fromkeys(int(ranks) for ranks, _ in parts)) == RANKS["scaling"]
    for name, most in FEWER.items():
        assert [int(ranks) for ranks, part in parts if name in part] == [n for n in RANKS["scaling"] if n <= most]
    assert "scaling-halo on simulated, mpich: 2 launches of 1 point (adaptive, bare)" in dict(parts[:-1])[str(MOST)]
    assert main(["scaling", "scaling-fft", "--ranks", "1024", "--list"]) == 0, "who asks for it gets it"
    assert "scaling-fft on simulated" in capsys.readouterr().out
    assert not results.exists()


def test_a_part_of_the_grid_has_its_share_of_volume_and_surface() -> None:
    assert part_of_grid(64) == {"size_bytes": f"{1 << 20}", "comp_s": "0.056"}
    assert part_of_grid(512) == {"size_bytes": f"{1 << 18}", "comp_s": "0.007"}


def test_a_setting_of_the_engine_is_changed_alone() -> None:
    (study,) = by_names(["wakes-adaptive-halo"])
    scale = study.scale("quick", {})
    launches = study.launches("x", scale, list(scale.variants), 1)
    assert [launch.engine for launch in launches if launch.variant == "bare"] == [[]]
    changed = [launch.engine for launch in launches if launch.variant == "adaptive"]
    assert sorted(map(len, changed)) == [0, *[1] * 10]
    assert {setting.partition("=")[0] for one in changed for setting in one} == {
        "min_distance_us", "start_distance_us", "max_distance_us", "timer_us", "rest_us",
    }  # fmt: skip


def test_two_settings_may_have_the_same_value() -> None:
    (study,) = by_names(["wakes-adaptive-halo"])
    scale = study.scale("quick", {})
    grids = tuple(scale.grids[0] | {name: (500,)} for name in ("timer_us", "rest_us"))
    assert study.sweep(replace(scale, grids=grids)).values == [
        ({"timer_us": 500}, ["timer_us=500"]),
        ({"rest_us": 500}, ["rest_us=500"]),
    ]


@pytest.mark.full
@pytest.mark.timeout(300)
def test_it_leaves_a_session_for_each_number_of_ranks(results: Path) -> None:
    if environment.missing_packages("simulator"):
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    done = bench("scaling", "scaling-halo", "wakes-timer-halo", "--ranks", "2,4")
    assert done.returncode == 0, done.stdout + done.stderr
    made = sorted(path for path in results.iterdir() if (path / "session.json").exists() and not path.is_symlink())
    assert [facts(session)["request"]["nodes"] for session in made] == [2, 4]
    assert all(facts(session)["state"] == "complete" and facts(session)["simulated"] for session in made)
    assert facts(made[-1])["command"][0] == "scaling"
    assert "| 4 | " in done.stdout
    assert re.search(r"\| timer, timer_us 500 \| [−\d]+ % \| [−\d]+ % \|", done.stdout), "the record tells the setting"
    again = bench("scaling", "--table", ",".join(session.name for session in made))
    assert again.stdout == done.stdout


# ./bench engine-costs: its parts in one session, alternated by the one scheduler.
SAID = json.dumps(
    {
        "benchmarks": [
            {"run_type": "iteration", "run_name": "blocking_call/1", "real_time": 7.5},
            {"run_type": "aggregate", "run_name": "blocking_call/1", "real_time": 9.0},
        ]
    }
)


def test_launches_alternate_and_what_is_kept_is_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def said(command: list[str], _environment: dict[str, str]) -> str:
        named = PROFILED if "--profile" in command else BASE
        asked.append(named if named == PROFILED else next((name for name in CALL_VARIANTS if name in command), BASE))
        assert command[-len(OPTIONS) :] == list(OPTIONS), "it is no workload, and knows no option of theirs"
        return f"a warning\n{SAID}"

    monkeypatch.setattr(engine_benchmarks, "_said", said)
    part = Part("calls", "engine_call_costs", (BASE, *CALL_VARIANTS), PROFILED)
    part.keep(MPIS["mpich"], 3, 1, tmp_path / "costs")
    each = 1 + len(CALL_VARIANTS)
    rounds = [asked[each * turn : each * turn + each] for turn in range(3)]
    assert all(sorted(turn) == sorted((BASE, *CALL_VARIANTS)) for turn in rounds)
    assert len({tuple(turn) for turn in rounds}) > 1
    kept = json.loads((tmp_path / "costs" / "calls.mpich.json").read_text())
    assert kept["samples"]["adaptive"] == {"blocking_call": [[7.5]] * 3}
    part.keep(MPIS["mpich"], 3, 1, tmp_path / "costs")
    assert len(asked) == 3 * each


PROFILE = """version: 1
part: {part}
thread: 1

desc: Timerange: Basic block 3 - 27
desc: Trigger: {trigger}

events: Ir
fn=(2) pe_count_calls
42 5000
summary: {summary}
"""


def test_instructions_are_those_of_the_counted_function_in_the_order_of_the_paths() -> None:
    profiles = [
        PROFILE.format(part=10, trigger="--dump-after=pe_count_calls", summary=93014),
        PROFILE.format(part=2, trigger="--dump-after=pe_count_calls", summary=67014),
        PROFILE.format(part=11, trigger="Program termination", summary=2377846),
        "version: 1\ncreator: callgrind-3.19.0\n",  # of the whole run: it has parts, and counts nothing itself
    ]
    assert instructions(profiles) == [67.014, 93.014]


def test_without_the_counter_the_other_parts_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cannot(*_purposes: str) -> None:
        raise Failure("This installs them: apt-get install valgrind")

    monkeypatch.setattr(environment, "ensure_packages", cannot)
    parts = groups._parts("")
    groups._can_count(parts, named=False)
    assert parts == ["core", "calls", "ping-pong"]
    assert "valgrind\nInstructions are not counted." in capsys.readouterr().err
    with pytest.raises(Failure, match="valgrind"):
        groups._can_count(["core", "instructions"], named=True)


def test_a_benchmark_that_fails_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(variants, "recipe", lambda *_: variants.Recipe())
    part = Part("core", "no-such-benchmark", ("",))
    with pytest.raises(Failure, match="no-such-benchmark"):
        part.keep(MPIS["mpich"], 1, 1, tmp_path / "costs")
    assert not list((tmp_path / "costs").iterdir())


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.usefixtures("mpich")
def test_the_parts_measure_every_row(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = ("--benchmark_format=json", "--benchmark_repetitions=2", "--benchmark_min_time=0.001")
    monkeypatch.setattr(engine_benchmarks, "OPTIONS", few)
    out = tmp_path / "costs.md"
    done = bench("engine-costs", "--mpi", "mpich", "--launches", "1", "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in out.read_text().splitlines() if re.match(r"\| (?!path)", line)]
    assert len(rows) == len(BUDGETS)
    session = latest(results)
    assert facts(session)["state"] == "complete"
    assert len(list((session / "records").glob("one-byte-ping-pong.*.jsonl"))) == 1 + len(PING_PONG_VARIANTS)
    next((session / "records").glob("*.off.jsonl")).unlink()
    again = bench("engine-costs", "--resume", session.name)
    assert again.returncode == 0, again.stderr
    assert ": 1 launch" in again.stderr
