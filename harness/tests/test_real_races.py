# SPDX-License-Identifier: BSD-3-Clause
"""The table of real races: which there are, what copies of the default are, and that a second call goes on."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.base import engine_settings, variants
from harness.base.errors import UsageError
from harness.job import verify
from harness.sessions import real, real_races, space
from harness.sessions.real_races import Kind

KIND = Kind("overlap, a test", 2, "mpich", ("--space=engine",), minutes=7)
COPIES = Kind("copies of the default (A/A)", 1, "mpich", real_races.COPIES, copies=True)
COMMIT, NETWORK = "12ab" * 10, "two nodes, 1 Gbit/s"


def told(confirmed: bool = False, out: str = "") -> dict[str, Any]:
    """A race's tuning.json."""
    verdict = {"confirmed": confirmed, "sentence": "So.", "winner": "s001", "values": {}, "gain": None, "rounds": 12}
    return {"verdict": {**verdict, "cells": []}, "settings": {"s001": {"out": out}, "s002": {"out": "worse than s001"}}}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """./bench tune as it is called; what it leaves is a session with a verdict, of the second call none."""
    asked: list[list[str]] = []

    def tune(words: Sequence[str], folder: Path, minutes: float) -> int:
        asked.append(list(words))
        session = folder / "20260101-000000-tune"
        (session / "tuning").mkdir(parents=True, exist_ok=True)
        facts = {"git": {"commit": COMMIT}, "request": {"race": {"minutes": minutes}}, "network": NETWORK}
        (session / "session.json").write_text(json.dumps(facts))
        with contextlib.suppress(FileExistsError):
            (folder / "latest").symlink_to(session.name)
        if len(asked) == 2:
            return 1
        (session / "tuning" / "tuning.json").write_text(json.dumps(told()))
        return 0

    @contextlib.contextmanager
    def nodes(_: Kind) -> Iterator[str]:
        yield NETWORK

    monkeypatch.setattr(real_races, "_tune", tune)
    monkeypatch.setattr(real_races, "_nodes", nodes)
    monkeypatch.setattr(real_races, "KINDS", (KIND,))
    monkeypatch.setattr("harness.vcluster.cluster.load", lambda: None)
    monkeypatch.setattr("harness.base.machine.facts", lambda: {"cpu_model": "x", "cpus": 2, "kernel": "6"})
    monkeypatch.setattr("harness.base.git.commit_of", lambda *_: COMMIT)
    monkeypatch.setattr("harness.base.git.dirty", lambda _: False)
    return asked


def test_there_is_a_race_for_each_mpi_two_networks_a_program_and_ten_of_copies() -> None:
    kinds = real_races.KINDS
    assert [kind.mpi for kind in kinds if kind.options == real_races.OVERLAP][:3] == ["mpich", "openmpi", "intel-mpi"]
    assert {"1gbit, MTU 1500", "10gbit, MTU 65000"} <= {kind.network for kind in kinds}
    assert all(kind.minutes == 20 and kind.count == 1 for kind in kinds if kind.options == real_races.OVERLAP)
    (aa,) = [kind for kind in kinds if kind.copies]
    assert aa.count == 10 and sum(kind.minutes * kind.count for kind in kinds) == 140
    (own,) = [kind for kind in kinds if kind.own]
    words = real_races.command(own, 3)
    program = words.index("--")
    assert words[program + 1].endswith("/bin/minife") and "--seed=3" in words[:program]
    assert "--objective=time" in words[:program] and any(word.startswith("--check=") for word in words[:program])
    ranks = words[words.index("-n") + 1]
    assert ranks == "2", "a sum over more has an order, and with it the residual that --check finds"


def test_the_result_of_minife_is_read_in_its_record_and_no_time() -> None:
    record = (
        '{"quantities":{"iterations":{"unit":"iterations"}},"samples":{"iterations":[71.0,71.0],"elapsed_s":[0.3,0.4]}}'
    )
    assert re.findall(real_races.RESULT, record) == ['"iterations":[71.0,71.0]']
    assert re.findall(real_races.RESULT, '{"true_residual": [1e-11]}') == ['"true_residual": [1e-11]']


def test_copies_of_the_default_are_other_words_for_its_own_numbers(tmp_path: Path) -> None:
    """Every value is in the space of a race, differs from the default in its words, and is what the engine reports."""
    of_preset = json.loads(variants.PRESETS_FILE.read_text())["adaptive"]["settings"]
    ranges = engine_settings.numeric()
    known = [
        {"key": one.key, "default": one.initial, **({"range": ranges[one.key]} if one.key in ranges else {})}
        for one in engine_settings.settings()
    ]
    tool, file = tmp_path / "progress-info", tmp_path / real_races.SPACE
    info = json.dumps({"settings": known, "presets": {"adaptive": {"settings": of_preset}}})
    tool.write_text(f"#!{sys.executable}\nprint({info!r})\n")
    tool.chmod(0o755)
    file.write_text(json.dumps(real_races.copies()))
    found = space.of(str(file), "mpich", tmp_path, "adaptive").parameters
    assert [axis.name for axis in found] == list(space.ENGINE)
    initial = {one.key: one.initial for one in engine_settings.settings()}
    for axis in found:
        assert len(axis.values) == 1 + len(real_races.ZEROS)
        here = int(of_preset.get(axis.name, initial[axis.name]))
        report = {"preset": "adaptive", "active": True, "settings": {axis.name: here}}
        for value in axis.values[1:]:
            assert verify.engine_of(0, f"adaptive:{axis.name}={value}", report) is None


def test_a_second_call_goes_on_behind_the_last_race_and_with_one_that_was_stopped(
    calls: list[list[str]], tmp_path: Path
) -> None:
    file = tmp_path / "races.md"
    assert real_races.main([str(file)]) == 1
    assert [words[0] for words in calls] == ["tune", "tune"] and "--minutes=7" in calls[0]
    assert real_races.main([str(file)]) == 0
    assert calls[2] == ["tune", "--resume", "latest"]
    kept = [json.loads(line) for line in (tmp_path / "races.md.jsonl").read_text().splitlines()]
    assert [one["session"] for one in kept] == [f"overlap-a-test-{n}/20260101-000000-tune" for n in (1, 2)]
    assert all((tmp_path / "races.md.races" / one["session"] / "session.json").is_file() for one in kept)
    assert all("--space=engine" in one["command"] for one in kept), "a race is named by what it was asked for"
    assert real_races.main([str(file)]) == 0 and len(calls) == 3, "nothing is left"


def test_a_race_of_another_commit_or_of_other_minutes_is_begun_anew(calls: list[list[str]], tmp_path: Path) -> None:
    folder = tmp_path / "here"
    assert not real_races.unfinished(folder, 7)
    assert real_races.run(KIND, folder, 1)
    assert real_races.unfinished(folder, 7) and not real_races.unfinished(folder, 8)
    facts = folder / "latest" / "session.json"
    facts.write_text(facts.read_text().replace(COMMIT, "34cd" * 10))
    assert not real_races.unfinished(folder, 7)
    facts.write_text("{")
    assert not real_races.unfinished(folder, 7)
    assert len(calls) == 1


def test_a_race_whose_nodes_came_anew_with_another_network_is_no_row_and_is_begun_anew(
    calls: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def nodes(_: Kind) -> Iterator[str]:
        yield "two nodes, 10 Gbit/s"

    monkeypatch.setattr(real_races, "_nodes", nodes)
    folder = tmp_path / "here"
    assert real_races.run(KIND, folder, 1) is None and not real_races.unfinished(folder, 7)
    assert len(calls) == 1


def test_a_session_that_cannot_be_gone_on_with_is_left_and_another_begun(
    calls: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    assert real_races.run(KIND, folder, 1) and real_races.unfinished(folder, 7)
    monkeypatch.setattr(real_races, "_tune", lambda *_: 2)  # as where the MPI is of another release by now
    assert real_races.run(KIND, folder, 1) is None and not real_races.unfinished(folder, 7)
    assert len(calls) == 1


def test_nodes_that_somebody_brought_up_between_two_races_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.sites.systems.virtual_supported", lambda: None)
    monkeypatch.setattr("harness.base.turns.alone", lambda _: contextlib.nullcontext())
    monkeypatch.setattr("harness.vcluster.cluster.load", object)
    taken: list[object] = []
    monkeypatch.setattr("harness.vcluster.cluster.up", lambda **how: taken.append(how))
    with pytest.raises(UsageError, match=r"\./bench vcluster down"), real_races._nodes(KIND):
        pass
    assert not taken


def test_copies_have_their_space_beside_their_session(calls: list[list[str]], tmp_path: Path) -> None:
    assert real_races.run(COPIES, tmp_path / "here", 4)
    assert json.loads((tmp_path / "here" / "space.yaml").read_text()) == real_races.copies()
    assert "--space=space.yaml" in calls[0] and "--seed=4" in calls[0]


def test_the_table_counts_winners_and_names_what_failed() -> None:
    where = {"machine": "a machine", "commit": "12ab", "command": "./bench tune --check='a|b'", "minutes": 7.0}
    one = {"kind": KIND.name, "session": "a-1/s", **where, **real_races.found(told())}
    two = {"kind": KIND.name, "session": "a-2/s", **where, **real_races.found(told(True, "failed: wrong data"))}
    text = real_races.table([one, two], (KIND, COPIES))
    assert "| overlap, a test | 1gbit, MTU 65000 | 7 | 2 | 1 | 2 | 1 | `./bench tune --check='a\\|b'` |" in text
    assert "- 2 on a machine, commit 12ab." in text and COPIES.name not in text
    assert "2. overlap, a test: So. (a-2/s, 12ab)\n    - s001 failed: wrong data\n" in text


def test_nodes_that_are_up_are_not_measured_on(
    calls: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may have another network than the one that the table names."""
    monkeypatch.setattr("harness.vcluster.cluster.load", object)
    assert real.status(lambda: real_races.main([str(tmp_path / "races.md")])) == 2
    assert "./bench vcluster down" in capsys.readouterr().err and not calls
