# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/measured/third-party.md say what the data says."""

from __future__ import annotations

from progress_engine.tests.third_party.runs import DOCUMENT, Run, between, load, tables


def test_the_document_is_of_the_data() -> None:
    assert between(DOCUMENT) == tables(load())


def test_what_was_not_run_and_what_differed_is_said() -> None:
    same = Run("2026-01-01", "abc", "suite", "mpich", 2, "idle", "same", flaky=1)
    other = Run("2026-01-01", "abc", "suite", "mpich", 2, "thread", "1 test, the first: rank 0: t: passed -> failed")
    text = tables([same, other])
    assert "| same, 1 flaky |" in text
    assert "**different**" in text
    assert "not run" in text
    assert "thread: 1 test, the first: rank 0: t: passed -> failed" in text
