# SPDX-License-Identifier: BSD-3-Clause
"""The page of the cross-check has the numbers of the sessions that are kept, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.documents.cross_check import ALONE, OVERLAP, Comparison, comparisons
from analysis.documents.cross_check_grid import grid, own_thread
from analysis.evidence import Evidence
from analysis.records.load import load

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/measured/cross-check.md"
UNLIMITED, SHAPED, OWN_THREAD, PING_PONG, *AS_THEIRS = KEPT = tuple(
    f"cross-check-{name}"
    for name in ("unlimited", "1gbit", "async", "ping-pong", "as-theirs", "as-theirs-others")  # on the other MPIs
)


def found(*sessions: str) -> list[Comparison]:
    return comparisons(Evidence(load([ROOT / "results/reference" / session for session in sessions])))


def tables(section: str) -> list[str]:
    text = (ROOT / PAGE).read_text()
    part = text[text.index(f"\n## {section}\n") + 1 :]
    end = part.find("\n## ")
    return [line for line in part[: None if end < 0 else end].splitlines() if line.startswith("|")]


@pytest.mark.parametrize(
    ("section", "sessions", "kinds"),
    [
        ("Between two ranks, at 1 Gb/s", [PING_PONG], ("",)),
        pytest.param("At 1 Gb/s, through a token bucket", [SHAPED], (ALONE, OVERLAP), marks=pytest.mark.full),
        pytest.param("As theirs", AS_THEIRS, (ALONE, OVERLAP), marks=pytest.mark.full),
        pytest.param("Without a limit of rate", [UNLIMITED], (ALONE, OVERLAP), marks=pytest.mark.full),
    ],
)
def test_its_tables_are_those_of_the_kept_sessions(section: str, sessions: list[str], kinds: tuple[str, ...]) -> None:
    kept = found(*sessions)
    assert tables(section) == [line for kind in kinds for line in grid(kept, kind, "bare")]


@pytest.mark.full
def test_what_a_thread_of_the_mpis_own_does_to_their_overlap() -> None:
    assert tables("With a progress thread of the MPI's own") == own_thread(found(OWN_THREAD), "1 MB")


def test_each_session_is_named() -> None:
    text = (ROOT / PAGE).read_text()
    assert all(f"`results/reference/{name}`" in text for name in KEPT)
