# SPDX-License-Identifier: BSD-3-Clause
"""What the commands share that make and end nodes by hand: of the virtual cluster, of the RDMA laboratory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from harness.base import steps
from harness.base.errors import Failure

Force = Annotated[bool, typer.Option("--force", help="Also from under a ./bench that uses them.")]
Rest = Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What to run there.")]


def end(nodes: str, ended: Callable[[], bool], force: bool) -> int:
    """End these nodes, unless another ./bench may be using them."""
    if not force and (holder := steps.machine_holder()):
        raise Failure(
            f"Another ./bench may be using the {nodes} ({holder}): wait for it or end it, or take them from under it "
            f"with --force."
        )
    print("down" if ended() else "there was none")
    return 0


def command_of(rest: list[str]) -> list[str]:
    """What is run, without the two dashes before it."""
    return rest[1:] if rest[0] == "--" else rest
