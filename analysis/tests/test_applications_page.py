# SPDX-License-Identifier: BSD-3-Clause
"""The page of applications has the numbers of the sessions that are kept, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from analysis.documents.applications import document
from analysis.documents.sources import source
from analysis.evidence import Evidence
from analysis.records.load import load

ROOT = Path(__file__).resolve().parents[2]
KEPT = sorted(path for path in (ROOT / "results/reference/applications").iterdir() if path.is_dir())
SYSTEM = re.compile(r", vcluster:compute(?=, ranks)|(?<=\| )(system|local:loopback) \| ")  # the page says it once


def rows(lines: Iterable[str]) -> set[str]:
    """Of tables, without their system."""
    return {SYSTEM.sub("", line) for line in lines if line.startswith("| ")}


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs/measured/applications.md").read_text()


@pytest.mark.full
def test_its_tables_are_those_of_the_kept_sessions(page: str) -> None:
    printed = rows(line for session in KEPT for line in document(Evidence(load([session]))).splitlines())
    tables = page[page.index("\n## One rank beside") : page.index("\n## Where the numbers are from")]
    assert rows(tables.splitlines()) == printed


@pytest.mark.full
def test_each_session_that_is_kept_is_named_with_its_command(page: str) -> None:
    sources = {line for line in page.splitlines() if line.startswith("- session ")}
    assert len(sources) == len(KEPT)
    for session in KEPT:
        name_and_command, _, _ = source(load([session]).sessions[0]).partition("`, ")
        assert any(line.startswith(f"{name_and_command}`, ") for line in sources), session


def test_the_table_of_classes_counts_the_kept_launches() -> None:
    def count(name: str, kernel: str, mode: str, ranks: int) -> str:
        lines = (ROOT / f"results/reference/applications/npb-{name}.jsonl").read_text().splitlines()
        ends = [launch["end"] for launch in map(json.loads, lines)
                if (launch["kernel"], launch["mode"], launch["ranks"]) == (kernel, mode, ranks)]  # fmt: skip
        return f"{ends.count('verified')} of {len(ends)}"

    columns = [("a", 1), ("a", 2), ("a", 4), ("b", 1), ("b", 2), ("b", 4), ("c", 2)]
    page = (ROOT / "docs/measured/applications-verified.md").read_text().splitlines()
    tables = [[word.strip() for word in line.strip("|").split("|")] for line in page if line.startswith("| ")]
    assert len(tables) == 1 + 9
    for kernel, mode, *counted in tables[1:]:
        assert counted == [count(name, kernel.lower(), mode, ranks) for name, ranks in columns]
