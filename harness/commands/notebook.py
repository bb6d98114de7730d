# SPDX-License-Identifier: BSD-3-Clause
"""./bench notebook: JupyterLab on one's own copy of a notebook, with the kernel that has what it needs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError, there_are
from harness.base.paths import ROOT, STATE_DIR, VENV, require_clone
from harness.base.steps import run_step, say
from harness.job import session as sessions
from harness.setup import environment

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
