# SPDX-License-Identifier: BSD-3-Clause
"""./bench bisect: which commit made it slower? git bisect, with the verdict of ./bench gate for each commit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base import machine, process
from harness.base.errors import NOT_TOLD, UsageError
from harness.base.paths import ROOT, python, require_clone
from harness.base.process import say
from harness.sessions import bisection

OURS = ("--base", "--new", "--resume", "--out")


def bisect(
    good: Annotated[
        str, typer.Option("--good", metavar="COMMIT", help="The last commit known to be fast enough.")
    ] = "",
    bad: Annotated[str, typer.Option("--bad", metavar="COMMIT", help="A commit known to be slower.")] = "",
    variant: Annotated[
        str, typer.Option("--variant", metavar="V", help="The variant under which the engine of each commit runs.")
    ] = "adaptive",
    options: Annotated[
        list[str], typer.Argument(metavar="[OPTIONS OF ./bench gate]", help="--study, --system, --mpi, --minutes, ...")
    ] = [],  # noqa: B006 - Typer copies it
) -> int:
    """Find the commit since which the engine is slower than at --good: a gate for each commit that git bisect proposes.

    A commit is skipped if it does not build, or if its gate cannot tell. ./bench gate --help says which options a gate
    has, and how long it takes at most.

    Exit status 0: the commit is named. 1: something failed, such as a gate that was killed or a gate of status 1 whose
    gate.json does not say "commit". 3: the gate of --bad failed, or does not show that --bad is slower, or skipped
    commits leave several. 2: a wrong call.

    Example: ./bench bisect --good v1.0 --bad main --variant adaptive --study overlap-ratio --minutes 3
    """
    require_clone("./bench bisect")
    if not (good and bad):
        raise UsageError("A bisection has two ends: give --good and --bad.")
    of_gate = options[: options.index("--")] if "--" in options else options
    if own := [word for word in of_gate if word.partition("=")[0] in OURS]:
        raise UsageError(f"./bench bisect chooses the gates' sides, and where their files go: leave {own[0]} out.")
    ends = [machine.commit_of(ROOT, revision) for revision in (good, bad)]

    def gate(base: str, new: str, files: Path) -> int:
        say(f"bisect: {machine.commit_line(ROOT, new)}")
        ours = ["--base", f"commit:{base},{variant}", "--new", f"commit:{new},{variant}", f"--out={files}"]
        return process.attended(python("-m", "harness", "gate", *ours, *options), cwd=ROOT)

    found = bisection.run(ROOT, ends[0], ends[1], gate)
    for step in found.steps:
        print(f"{step.mark:5} (status {step.status})  {machine.commit_line(ROOT, step.commit)}")
    if found.first:
        print(f"The first slower commit: {machine.commit_line(ROOT, found.first)}")
        return 0
    if found.candidates:
        print("Skipped commits leave several of which one is the first slower one:")
        print("\n".join(f"  {machine.commit_line(ROOT, commit)}" for commit in found.candidates))
    else:
        print(_no_search(found.steps[0], good, bad))
    return NOT_TOLD


def _no_search(step: bisection.Step, good: str, bad: str) -> str:
    """Why nothing was looked for: `step` is the gate of --bad, which does not say that it is slower."""
    if step.status == 0:
        return f"{bad} is not slower than {good}: there is nothing to look for."
    if step.verdict:
        return f"Whether {bad} is slower than {good} is not known: the verdict of its gate is '{step.verdict}'."
    return f"Whether {bad} is slower than {good} is not known: its gate failed, and what it said stands above."
