# SPDX-License-Identifier: BSD-3-Clause
"""What reads and compares what was measured: ./bench report, claims, compare, keep and notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.gate import files
from harness.base.errors import UsageError
from harness.base.paths import SUFFIX
from harness.base.process import say
from harness.base.validate import parse_list
from harness.commands import options
from harness.job import session as sessions
from harness.sessions import keep as kept

if TYPE_CHECKING:
    from analysis.evidence import Choice
import contextlib
import errno
import os
from enum import Enum

from harness.base.errors import there_are
from harness.base.paths import ROOT, STATE_DIR, VENV, require_clone
from harness.base.process import run_step
from harness.setup import environment


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
    from analysis.report.paper import write_paper  # noqa: PLC0415
    from analysis.subject import of_paper  # noqa: PLC0415 - a second of imports

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


class Format(str, Enum):
    """How the comparison is written."""

    MARKDOWN = "markdown"
    JSON = "json"
    JUNIT = "junit"


def compare(
    base: Annotated[str, typer.Argument(metavar="BASE", help="The session to compare with, or latest.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The session to judge, or latest.")],
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.MARKDOWN,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to; default: stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Compare though machine or network differ.")] = False,
) -> int:
    """Compare two sessions point by point: faster, slower, same or cannot tell.

    Exit status 0: all that BASE measured was compared, and nothing is shown to be slower. 1: NEW is slower, or
    something no longer works; or that cannot be told, because NEW lacks something of BASE, nothing could be compared,
    or a point looks slower but was disturbed. 2: the call was wrong, a session is empty, or machine or network differ.
    Example: ./bench compare 20261121-090000-demo latest --format junit --out compare.xml
    """
    from analysis.compare.point_tests import compare as compare_sessions  # noqa: PLC0415 - a second of imports

    comparison = compare_sessions(sessions.load(base).path, sessions.load(new).path, force=force)
    text = {Format.MARKDOWN: comparison.markdown, Format.JSON: comparison.json, Format.JUNIT: comparison.junit}[form]()
    if out is None:
        print(text)
    else:
        write_whole(text + "\n", out, "--out")
    return comparison.status


SOURCES = ROOT / "notebooks"
COPIES = STATE_DIR / "notebooks"
PAPERS = "papers"  # the notebook of all of them, a part each; once there was one for each of these
OF_PAPERS = ("pioman", "miwa", "ruhela", "fukuoka", "gemini")


def notebook(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Which; without a name they are listed.")] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="S", help="Names or folders, with blanks between; default: its own.")
    ] = "",
    anew: Annotated[bool, typer.Option("--anew", help="Replace one's own copy by the notebook as it came.")] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> int:
    """Open a notebook in JupyterLab: papers, does-mpi-progress, regression-to-cause or tuning.

    JupyterLab is installed when it is first asked for. What is opened is a copy below .bench/notebooks, which is yours.
    Example: ./bench notebook papers --session latest
    """
    require_clone("./bench notebook")
    known = {path.stem.replace("_", "-"): path for path in sorted(SOURCES.glob("*.py"))}
    if not name:
        print("\n".join(f"{known_name:<22}{title(path)}" for known_name, path in known.items()))
        return 0
    if name in OF_PAPERS:
        raise UsageError(f"The notebook '{name}' is a part of '{PAPERS}': ./bench notebook {PAPERS}")
    source = known.get(name.replace("_", "-"))
    if source is None:
        raise UsageError(f"There is no notebook '{name}'. {there_are(name, known)}")
    chosen = " ".join(f"'{one.path}'" for one in sessions.load_all(session.split()))
    environment.ensure_group("notebooks")
    copy = own_copy(source, anew)
    lab = VENV / "bin" / "jupyter-lab"
    options = [f"--ServerApp.root_dir={COPIES}", *([] if browser else ["--no-browser"])]
    if os.geteuid() == 0:
        options.append("--allow-root")
    variables = {"OVERLAP_BENCH_SESSION": chosen} if chosen else {}
    return os.execve(lab, [str(lab), *options, str(copy)], dict(os.environ) | variables)


def own_copy(source: Path, anew: bool) -> Path:
    """The user's copy as an .ipynb, made if there is none; one that is there is kept, as it is edited."""
    copy = COPIES / f"{source.stem}.ipynb"
    if copy.exists() and not anew:
        say(f"{copy} is there already and is opened as it is; --anew replaces it")
        return copy
    COPIES.mkdir(parents=True, exist_ok=True)
    fresh = copy.with_suffix(".new.ipynb")
    convert = [
        str(VENV / "bin" / "jupytext"),
        "--quiet",
        "--from",
        "py:percent",
        "--to",
        "ipynb",
        "--set-kernel",
        "python3",
    ]
    run_step(f"making {copy.name}", [*convert, "--output", str(fresh), str(source)])
    fresh.replace(copy)
    return copy


def title(path: Path) -> str:
    """The first heading of a notebook."""
    return next(line[4:].strip() for line in path.read_text().splitlines() if line.startswith("# # "))


def check(out: Path | None, option: str = "--out") -> None:
    """UsageError if no table can be written there: which is better known before it is measured than after."""
    if out is None:
        return
    with _sentence(out, option):
        if out.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not _special(out):
            with files.partial_file(out.absolute().parent, b""):
                pass


def write_table(text: str, out: Path | None) -> None:
    """The table into a file, or to stdout."""
    if out is None:
        print(text)
    else:
        write_whole(text, out, "--out")


def write_whole(text: str, path: Path, option: str) -> None:
    """Into a file, whole or not at all; UsageError, with the option that named it, where it cannot be written."""
    with _sentence(path, option):
        special = _special(path)
        partial = path if special else path.with_name(f".{path.name}.part")
        partial.write_text(text)
        if not special:
            partial.replace(path)


def _special(path: Path) -> bool:
    """Whether it is one like /dev/stdout, which no rename may replace."""
    return path.exists() and not path.is_file()


@contextlib.contextmanager
def _sentence(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"{option} {path} cannot be written ({error.strerror}); give a file in a folder that exists."
        raise UsageError(said) from error
