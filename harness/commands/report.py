# SPDX-License-Identifier: BSD-3-Clause
"""What is read of sessions: ./bench report (figures, CSV and report.html, a paper's appendix), ./bench claims; and
./bench keep, which puts them into one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.archive import SUFFIX
from harness.base.errors import UsageError
from harness.base.steps import say
from harness.commands import options
from harness.job import session as sessions
from harness.sessions import keep as kept
from harness.sessions.request import parse_list

if TYPE_CHECKING:
    from analysis.evidence import Choice


def _option(name: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(f"--{name}", metavar="NAME,...", help=f"Draw only these {what}.")
    return option


def report(
    names: Annotated[list[str], typer.Argument(metavar="[SESSION...]", help="Names or folders; default: latest.")] = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to; default: the session.")] = None,
    study: Annotated[str, _option("study", "studies")] = "",
    system: Annotated[str, _option("system", "systems, as the records call them")] = "",
    mpi: Annotated[str, _option("mpi", "MPIs")] = "",
    variant: Annotated[str, _option("variant", "variants")] = "",
    size: Annotated[str, _option("size", "message sizes, as in 65536,4MB")] = "",
    paper: Annotated[
        str, typer.Option("--paper", metavar="P", help="A paper's appendix instead: its numbers beside ours.")
    ] = "",
) -> int:
    """Draw the figures and write the report of one or several sessions.

    What is chosen is drawn; its values, the verdict and the claims are of everything that was recorded.
    With --paper (pioman, miwa, ruhela, fukuoka, gemini) the page is an appendix for the evaluation of an artifact.

    Example: ./bench report latest --mpi mpich --variant bare,adaptive --out /tmp/report
    """
    from analysis.evidence import Choice  # noqa: PLC0415 - a second of imports

    choice = Choice.of_words(study, system, mpi, variant, size)
    found = sessions.load_all(names or ["latest"])
    for session in found:
        session.tidy()
    paths = [session.path for session in found]
    if paper and choice.named():
        raise UsageError(
            "--paper is about all that was measured: leave --study, --system, --mpi, --variant, --size out."
        )
    print(_write_paper(paper, paths, out) if paper else write(paths, out, choice))
    return 0


def write(paths: list[Path], out: Path | None, choice: Choice | None = None, tell: Callable[[str], None] = say) -> Path:
    """Write the report of these session folders and return its path; its answer is told before it is drawn."""
    from analysis.report.report import build_report  # noqa: PLC0415 - a second of imports

    return build_report(paths, out, choice, tell).path


def _write_paper(paper: str, paths: list[Path], out: Path | None) -> Path:
    from analysis.catalogue import of_paper  # noqa: PLC0415 - a second of imports
    from analysis.report.paper import write_paper  # noqa: PLC0415

    of_paper(paper)  # or UsageError
    say(f"drawing what was reproduced of {paper} ...")
    return write_paper(paper, paths, out)


def claims(
    names: Annotated[list[str], typer.Argument(metavar="[SESSION...]", help="Names or folders; default: latest.")] = [],  # noqa: B006 - Typer copies it
    as_json: options.Json = False,
    every: Annotated[bool, typer.Option("--all", help="Also those whose study was not run.")] = False,
) -> int:
    """Print the claims of the papers: reproduced, not reproduced, inconclusive or not testable here.

    Without a session nothing has been measured, and every claim stands there with the day it was written or changed.
    Example: ./bench claims latest --json
    """
    from analysis.claims.table import table  # noqa: PLC0415 - a second of imports

    chosen = names or (["latest"] if sessions.any_yet() else [])
    found = table([session.path for session in sessions.load_all(chosen)])
    print(found.json() if as_json else found.text(every or not chosen))
    if not chosen:
        say("no session yet, so nothing is measured: ./bench demo makes one")
    return 0


def keep(
    names: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Names or folders, or latest.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="NAME.tar.xz; default: beside the session, by its name."),
    ] = None,
    study: Annotated[str, typer.Option("--study", metavar="NAME,...", help="Only these studies.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Though some of its points failed.")] = False,
) -> int:
    """Put one session or several into one compressed file, with every sample; commands read it as they read a folder.

    Figures and the report are left out: they are drawn again.
    Example: ./bench keep latest --out results/reference/fft.tar.xz
    """
    paths = [session.path for session in sessions.load_all(names)]
    file = out or paths[0].with_name(paths[0].name + SUFFIX)
    kept.keep(paths, file, parse_list(study), failed)
    print(file)
    return 0
