# SPDX-License-Identifier: BSD-3-Clause
"""The page on what went wrong quotes what the programs say."""

from __future__ import annotations

import re

from harness.base.paths import ROOT
from harness.tests.pages import DOCS


def test_every_sentence_of_the_troubleshooting_is_one_of_the_program() -> None:
    """A sentence is quoted between ** and `; … stands for what the program puts there."""
    quoted = re.findall(r"\*\*`([^`]+)`\*\*", (DOCS / "how-to" / "troubleshooting.md").read_text())
    assert len(quoted) > 20
    said = sentences()
    for sentence in quoted:
        assert sentence.strip("… ") in said, f"no program says: {sentence}"


def sentences() -> str:
    """The sources with their strings joined over lines, what is put into them as …"""
    files = [path for path in (ROOT / "harness").rglob("*.py") if "tests" not in path.relative_to(ROOT).parts]
    files += [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "progress_engine").rglob("*.cpp")]
    text = "\n".join(path.read_text() for path in files)
    joined = re.sub(r'"\s*(?:\+\s*)?\n?\s*f?"', "", text)
    put = re.sub(r'\{[^{}"\n]*\{[^{}"\n]*\}[^{}"\n]*\}|\{[^{}"\n]*\}', "…", joined)
    return re.sub(r'" \+ \w+ \+ "', "…", put)
