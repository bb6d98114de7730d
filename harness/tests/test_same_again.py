# SPDX-License-Identifier: BSD-3-Clause
"""Series of short sessions: which belong to one, that a call goes on behind them, and when it gives up."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.sessions import same_again
from harness.sessions import session as sessions
from harness.sessions.facts import State
from harness.sessions.request import Request
from harness.sessions.session import Session
from harness.sites import systems
from harness.sites.systems import Opened
from reframe_checks.catalogue import by_names

REQUEST = Request(
    by_names([same_again.STUDY]), systems.by_name("local"), ["mpich"], ["bare"], settings=same_again.SETTINGS
)


def made(state: State, work_of: str | None = None, hint: str = same_again.HINT, engine: str = "one") -> Session:
    facts = {"command": [], **REQUEST.facts(), "identity": {"engine": engine}, "work_of": work_of}
    session = sessions.create(hint, facts)
    session.finish(state)
    return session


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    return made("complete")


def test_a_series_is_what_is_complete_and_of_the_same_work_and_program(first: Session) -> None:
    another = made("complete", first.name)
    made("incomplete", first.name)
    made("interrupted", first.name)
    made("complete", "another-first")
    made("complete", first.name, engine="another")
    made("complete", first.name, hint="overlap-ratio")
    assert [one.name for one in same_again.series(first)] == [first.name, another.name]


def test_a_call_takes_what_is_missing_and_gives_up_on_what_always_fails(
    first: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[State] = []

    def take(state: State) -> None:
        def one(_request: Request, model: Session, _opened: Opened) -> Session:
            taken.append(state)
            return made(state, model.name)

        monkeypatch.setattr(same_again, "take", one)

    take("complete")
    same_again.go_on(REQUEST, first, 4)
    assert taken == ["complete"] * 3
    same_again.go_on(REQUEST, first, 4)
    assert len(taken) == 3, "there are four already"
    take("incomplete")
    with pytest.raises(Failure, match="3 sessions in a row lack points"):
        same_again.go_on(REQUEST, first, 5)


def test_without_the_plans_of_the_first_session_it_says_so(first: Session) -> None:
    with pytest.raises(Failure, match="no plan of its job on mpich"):
        same_again.plans_of(first)


def test_a_wrong_number_of_pairs_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert same_again.main(["--pairs", "0"]) == 2
    assert "--pairs 0" in capsys.readouterr().err
