# SPDX-License-Identifier: BSD-3-Clause
"""What CI services read of a comparison: JUnit's XML, a test case a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Case(NamedTuple):
    """`outcome`: the tag of what is no success, with its `message`; empty: passed, perhaps with something `said`."""

    classname: str
    name: str
    outcome: str = ""
    message: str = ""
    said: str = ""


def junit(name: str, cases: Sequence[Case]) -> str:
    """The file. Times are not a test's own here: 0, as services want a number."""
    counts = {count: str(sum(case.outcome == tag for case in cases)) for count, tag in COUNTS.items()}
    suite = ElementTree.Element("testsuite", {"name": writable(name), "tests": str(len(cases)), **counts})
    for case in cases:
        one = ElementTree.SubElement(suite, "testcase", classname=case.classname, name=writable(case.name), time="0")
        if case.outcome:
            ElementTree.SubElement(one, case.outcome, message=writable(case.message))
        elif case.said:
            ElementTree.SubElement(one, "system-out").text = writable(case.said)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def writable(text: str) -> str:
    """Without what XML, an SVG's too, has no way to write."""
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
