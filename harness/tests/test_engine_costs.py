# SPDX-License-Identifier: BSD-3-Clause
"""./bench engine-costs: its parts in one session, alternated by the one scheduler."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from analysis.budgets import BASE, BUDGETS, CALL_VARIANTS, PING_PONG_VARIANTS, PROFILED
from harness.base import variants
from harness.base.errors import Failure
from harness.base.mpis import MPIS
from harness.job import benchmarks
from harness.job.benchmarks import OPTIONS, Part, instructions
from harness.setup import environment
from harness.tests.sessions import bench, facts, latest

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

    monkeypatch.setattr(benchmarks, "_said", said)
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
    engine_costs = importlib.import_module("harness.commands.engine_costs")
    parts = engine_costs._parts("")
    engine_costs._can_count(parts, named=False)
    assert parts == ["core", "calls", "ping-pong"]
    assert "valgrind\nInstructions are not counted." in capsys.readouterr().err
    with pytest.raises(Failure, match="valgrind"):
        engine_costs._can_count(["core", "instructions"], named=True)


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
    monkeypatch.setattr(benchmarks, "OPTIONS", few)
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
    assert "1 launches" in again.stderr
