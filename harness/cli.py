# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one Typer application, a file a command, and what every command's end has in common.

Exit status: 0 done, 1 something failed (of ./bench gate 3), 2 the call was wrong. A traceback is a defect.
"""

from __future__ import annotations

import functools
import math
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import typer
from typer._completion_classes import completion_init
from typer.core import TyperCommand, TyperGroup

from analysis import errors as of_analysis
from harness import __version__
from harness.base.errors import FAILED, Failure, UsageError, defect, failed
from harness.commands import (
    COMMANDS,
    HEADINGS,
    RDMA_LAB_COMMANDS,
    SITE_COMMANDS,
    SPACK_COMMANDS,
    SYSTEM,
    VCLUSTER_COMMANDS,
    Command,
)
from harness.commands.completion import NAME, VARIABLE

LONGEST_HELP = 200  # characters: a command's first sentence whole, in as many lines as it takes


class Grouped(TyperGroup):
    """Lists its commands under headings, in plain text: Typer has headings only in boxes that Rich draws."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # of the Click that Typer has inside
        commands = {name: self.commands[name] for name in self.list_commands(ctx)}
        longest = max(map(len, commands))
        for heading in HEADINGS:
            rows = [
                (name.ljust(longest), command.get_short_help_str(LONGEST_HELP))
                for name, command in commands.items()
                if getattr(command, "rich_help_panel", "") == heading
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


class HandingOn(TyperCommand):
    """Its rest is of another command's call: a `--` in it, behind which a program begins, is handed on."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        place = args.index("--") if "--" in args else len(args)
        left: list[str] = super().parse_args(ctx, args[:place])
        if place < len(args):
            ctx.params["options"] = [*(ctx.params.get("options") or []), *args[place:]]
        return left


app = typer.Typer(
    name=NAME,
    cls=Grouped,
    help="Does MPI communication progress while the program computes, what does it cost, and what makes it better?",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"overlap-bench {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """--yes, before or after a command, lets the set-up install Debian packages without asking."""


def _with_status(name: str, function: Callable[..., int]) -> Callable[..., None]:
    """Typer drops what a command returns; here it is the exit status. What Typer would end with a status of its own is
    `main`'s to say."""

    @functools.wraps(function)
    def command(*arguments: Any, **options: Any) -> None:
        _finite(options)
        try:
            status = function(*arguments, **options)
        except KeyboardInterrupt as stop:
            raise Failure("interrupted") from stop
        except BrokenPipeError:  # whoever read the output is gone
            status = failed([name])
            if status == FAILED:
                raise
        raise typer.Exit(status)

    return command


def _finite(options: dict[str, Any]) -> None:
    """UsageError for infinity, which an option without an upper bound takes, and for what is no number."""
    for name, value in options.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"--{name.replace('_', '-')} {value}: a number is wanted that is finite.")


def _register(application: typer.Typer, commands: dict[str, Command]) -> None:
    for name, command in commands.items():
        settings = {"ignore_unknown_options": True, "allow_interspersed_args": False} if command.passes_rest else {}
        kind = HandingOn if command.hands_on else TyperCommand
        register = application.command(name, cls=kind, context_settings=settings, rich_help_panel=command.heading)
        register(_with_status(name, command.function))


_register(app, COMMANDS)
for _name, _help, _commands in (
    ("vcluster", "The virtual cluster by hand.", VCLUSTER_COMMANDS),
    ("rdma-lab", "Two emulated machines with RDMA, by hand.", RDMA_LAB_COMMANDS),
    ("site", "The file by which a cluster is known here.", SITE_COMMANDS),
    ("spack", "The engine and the workloads through Spack.", SPACK_COMMANDS),
):
    _group = typer.Typer(help=_help, no_args_is_help=True, rich_markup_mode=None)
    _register(_group, _commands)
    app.add_typer(_group, name=_name, rich_help_panel=SYSTEM)


@functools.cache
def _command() -> Callable[..., Any]:
    """Of the application; made once, since that reads every command's signature."""
    return typer.main.get_command(app)


def main(arguments: list[str]) -> int:
    """Run the command; return its exit status."""
    signal.signal(signal.SIGTERM, _terminated)
    if VARIABLE in os.environ:  # a shell asks what could come next
        completion_init()
    try:
        _command()(arguments, prog_name=NAME)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except (UsageError, of_analysis.UsageError) as error:
        return _complain(error, 2)
    except (Failure, of_analysis.Failure, OSError) as error:
        return _complain(error, failed(arguments))
    except KeyboardInterrupt:  # while the commands are read; Typer has an answer of its own once one runs
        return _complain("interrupted", failed(arguments))
    except Exception:
        return defect(arguments)
    return 0


def script() -> int:
    """`bench` of an installed package."""
    return main(sys.argv[1:])


def _complain(error: object, status: int) -> int:
    text = str(error)
    if status == 2:  # one sentence, whatever the user's words in it hold
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    print(f"bench: {text}", file=sys.stderr)
    return status


def _terminated(_number: int, _frame: FrameType | None) -> None:
    """SIGTERM is a Ctrl-C from somebody else: the same clean end."""
    raise KeyboardInterrupt
