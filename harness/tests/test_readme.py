# SPDX-License-Identifier: BSD-3-Clause
"""What the README says of studies and of its figure is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

from analysis.catalogue import CHAPTERS
from reframe_checks.catalogue import studies

ROOT = Path(__file__).resolve().parents[2]
README = " ".join((ROOT / "README.md").read_text().split())
NUMBERS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


def test_it_names_the_studies_that_have_no_check() -> None:
    papers = [chapter for chapter in CHAPTERS if chapter.paper]
    without = [chapter.id for chapter in papers if not any(map(chapter.covers, studies()))]
    if not without:
        assert f"It repeats all {len(papers)} studies of" in README
        return
    found = re.search(r"It repeats (\d+) of the (\d+) studies.*?For (\w+) there is no check yet.*?: (.*?)\. ", README)
    assert found, "how many studies are repeated, and which are not"
    assert (int(found[1]), int(found[2])) == (len(papers) - len(without), len(papers))
    assert NUMBERS[found[3]] == len(without)
    assert sorted(re.findall(r"\b([A-Z]\d+) \(", found[4])) == sorted(without)


def test_its_figure_is_of_the_commit_that_it_names() -> None:
    session = json.loads((ROOT / "results/reference/demo/session.json").read_text())
    assert "results/reference/demo/figures/" in README
    named = re.search(r"Made by `\./bench demo` at commit ([0-9a-f]{7,}) on (\S+), with the engine as it was", README)
    assert named, "the figure's commit and day"
    assert session["git"]["commit"].startswith(named[1])
    assert not session["git"]["dirty"]
    assert session["created"].startswith(named[2])
