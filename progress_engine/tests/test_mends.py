# SPDX-License-Identifier: BSD-3-Clause
"""The table of mends fits the sources: each edit finds what it takes out (mends.py, run by hand, builds and tests)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.base.mpis import MPIS

from .mend import Mend
from .mends import SOME_RAN
from .mends_results import CHANGED, failing, note
from .mends_table import MENDS

ENGINE = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("mend", MENDS, ids=lambda mend: mend.name)
def test_what_a_mend_consists_of_is_there(mend: Mend) -> None:
    for edit in mend.edits:
        assert (ENGINE / edit.file).read_text().count(edit.old) == 1, edit
    file = shlex.split(mend.test)[0]
    assert ":" in file or (ENGINE / "tests" / file).exists()
    assert mend.mpi in MPIS


def test_what_is_noted_is_not_run_again(tmp_path: Path) -> None:
    file = tmp_path / "results"
    first, second = MENDS[:2]
    assert failing(file, "abc") == set()
    note(file, "abc", first, "")
    note(file, "abc", second, "its test passes without it")
    assert failing(file, "abc") == {first.name}
    assert failing(file, "def") == set(), "another commit"


def test_of_changed_files_nothing_is_known(tmp_path: Path) -> None:
    file = tmp_path / "results"
    note(file, "abc" + CHANGED, MENDS[0], "")
    assert failing(file, "abc" + CHANGED) == set()


def test_rows_are_told_apart_by_their_names() -> None:
    assert len({mend.name for mend in MENDS}) == len(MENDS)


@pytest.mark.parametrize(
    ("said", "ran"),
    [
        ("3 failed, 2 passed in 1.0s", True),
        ("2 skipped, 10 deselected in 0.1s", False),
        ("[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 0 tests.", True),
        ("[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.", False),
    ],
)
def test_a_test_ran_if_one_of_its_cases_did(said: str, ran: bool) -> None:
    assert bool(SOME_RAN.search(said)) is ran
