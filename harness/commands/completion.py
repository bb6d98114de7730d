# SPDX-License-Identifier: BSD-3-Clause
"""./bench completion: the script by which a shell completes commands, options and their values."""

from __future__ import annotations

import re
from typing import Annotated

import typer
from typer._completion_shared import get_completion_script

from harness.base.errors import UsageError, there_are
from harness.commands import NAME, VARIABLE

# The word by which the command was called: where Typer's scripts call `bench`, which a clone has on no PATH.
CALLED = {"bash": "$1", "zsh": "${words[1]}", "fish": "(commandline -cpo)[1]"}


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="bash|zsh|fish", help="The shell that shall complete.", autocompletion=lambda: [*CALLED]
        ),
    ],
) -> int:
    """Print the script by which a shell completes ./bench: commands, options, studies, MPIs, variants, sessions.

    It completes `./bench` in every clone, and `bench` of an installed package.
    Example: eval "$(./bench completion bash)"
    """
    if shell not in CALLED:
        raise UsageError(f"There is no completion for '{shell}'. {there_are(shell, CALLED)}")
    print(script(shell))
    return 0


def script(shell: str) -> str:
    """Typer's script for this shell, but that it calls what was typed."""
    text = get_completion_script(prog_name=NAME, complete_var=VARIABLE, shell=shell)
    return re.sub(rf' {NAME}(?=[)"])', lambda _: f" {CALLED[shell]}", text)
