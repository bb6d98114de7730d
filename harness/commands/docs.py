# SPDX-License-Identifier: BSD-3-Clause
"""./bench docs: the pages as a site that needs no network."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.base.paths import BUILD_DIR, ROOT, VENV, require_clone
from harness.base.steps import run_step
from harness.setup import environment

SOURCE = ROOT / "docs"
FIRST = "index.html"
OLDEST = (3, 11)  # of MyST


def docs(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where to; default: build/docs. An older site there is replaced."),
    ] = None,
) -> int:
    """Make a site of the pages in docs/: it is read offline, by opening the file that is printed.

    It has pages of all commands, too. Sphinx and MyST are installed into .venv the first time.

    Example: ./bench docs --out /tmp/site
    """
    require_clone("./bench docs")
    if sys.version_info < OLDEST:
        raise UsageError(f"./bench docs needs Python 3.11 or newer, and this is {platform.python_version()}.")
    out = out or BUILD_DIR / "docs"
    if out.exists() and not (out / FIRST).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"--out {out}: it exists and is no site of pages; name another folder.")
    environment.ensure_group("docs")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".docs-") as folder:
        made, known, pages = (Path(folder) / name for name in ("site", "doctrees", "pages"))
        shutil.copytree(SOURCE, pages, ignore=shutil.ignore_patterns("generate", "__pycache__"))
        python = str(VENV / "bin" / "python")
        generate = [python, "-m", "docs.generate", "--commands", str(pages / "reference")]
        run_step("writing the pages of the commands", generate)
        sphinx = [python, "-m", "sphinx", "-q", "-b", "html", "--fail-on-warning", "--keep-going"]
        run_step("making a site of the pages", [*sphinx, "-d", str(known), str(pages), str(made)])
        shutil.rmtree(out, ignore_errors=True)
        made.rename(out)
    print(out / FIRST)
    return 0
