# SPDX-License-Identifier: BSD-3-Clause
"""What the tests read out of README.md and docs/: code blocks, links, headings, and ./bench commands."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from harness.base.paths import ROOT
from harness.cli import app

DOCS = ROOT / "docs"
README = ROOT / "README.md"
BENCH = "./bench "
FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMPUTED = re.compile(r"\$\([^)]*\)")  # what a shell puts there: two names, where a page has it
NO_PROSE = re.compile(r"^( {4}|#|<!--).*", re.MULTILINE)  # indented code, headings, comments
BLOCK = re.compile(r"\n\s*(?:[-*]|\d+\.) |\n\s*\n|\|")  # items of a list, paragraphs, cells of a table
SENTENCE = re.compile(r"(?<=[.!?:;])[*\")]*\s+(?=[A-Z0-9`*\[(])")
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.MULTILINE)


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def blocks(path: Path) -> list[str]:
    """The lines of a document's code blocks, indented or fenced; a line that goes on in the next one is one line."""
    fenced = [line for _, _, body in FENCED.findall(path.read_text()) for line in body.splitlines()]
    return [*_joined(fenced), *indented(path)]


def indented(path: Path) -> list[str]:
    """The same of the indented blocks alone: on the pages that tests follow, what can be done anywhere."""
    lines = FENCED.sub("", path.read_text()).splitlines()
    return _joined(line[4:] for line in lines if line.startswith("    "))


def _joined(lines: Iterable[str]) -> list[str]:
    joined: list[str] = []
    for line in lines:
        if joined and (joined[-1].endswith("\\") or re.match(r" +--\w", line)):
            joined[-1] = f"{joined[-1].removesuffix(chr(92)).rstrip()} {line.strip()}"
        elif line.strip():
            joined.append(line.strip())
    return joined


def links(path: Path) -> list[str]:
    """Where a page's links and pictures lead, as written."""
    return LINK.findall(FENCED.sub("", path.read_text()))


def sentences(text: str) -> list[str]:
    """A page's sentences, without where its links lead."""
    prose = NO_PROSE.sub("", LINK.sub("]", FENCED.sub("", text)))
    found = [sentence for block in BLOCK.split(prose) for sentence in SENTENCE.split(block)]
    return [" ".join(sentence.split()) for sentence in found if sentence.strip(" -:\n")]


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCED.sub("", path.read_text())):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        repeated = [anchor, *(f"{anchor}-{number}" for number in range(1, 100))]
        found.add(next(name for name in repeated if name not in found))
    return found


def spoken_of(path: Path) -> list[str]:
    """The ./bench commands between backticks."""
    return re.findall(rf"`({re.escape(BENCH)}[^`]+)`", FENCED.sub("", path.read_text()))


def commands(lines: Iterable[str]) -> list[list[str]]:
    """The arguments of every ./bench among these lines, brackets of what may be left out taken away."""
    return [
        [word.strip("[]").removesuffix("...") for word in shlex.split(COMPUTED.sub("ONE TWO", line), comments=True)[1:]]
        for line in lines
        if line.startswith(BENCH)
    ]


@functools.cache
def bench() -> TyperGroup:
    """The whole command line."""
    return typer.main.get_group(app)


def take(arguments: list[str]) -> None:
    """Read a command line as the program would, down to the last option, and run nothing. Raises what it would say."""
    context = bench().make_context("bench", arguments)
    while hasattr(context.command, "resolve_command"):
        rest = [*getattr(context, "_protected_args", []), *context.args]
        name, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
