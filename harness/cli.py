# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one Typer application, and what every command's end has in common.

A command is made when it is called or asked for help. `./bench --help` reads its sentence off its file instead, since
to import all of them takes many times as long.

Exit status: 0 done, 1 something failed (of ./bench gate 3), 2 the call was wrong, 130 it was stopped. A traceback is a
defect.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from analysis import errors as of_analysis
from harness import __version__
from harness.base.errors import FAILED, INTERRUPTED, Failure, UsageError, defect, failed
from harness.base.paths import require_plain
from harness.commands import COMMANDS, HEADINGS, NAME, VARIABLE, Command, Group

NUMBERS = {
    r"Input should be a valid integer.*": "a whole number is wanted",
    r"Input should be a valid number.*": "a number is wanted",
    r"Input should be greater than or equal to (.*)": r"at least \1 is wanted",
    r"Input should be less than or equal to (.*)": r"at most \1 is wanted",
}
LONGEST_HELP = 200  # characters: a command's first sentence whole, in as many lines as it takes


class Lazily(Mapping[str, TyperCommand | TyperGroup]):
    """Commands by name, each made when it is asked for."""

    def __getitem__(self, name: str) -> TyperCommand | TyperGroup:
        if name not in COMMANDS:
            raise KeyError(name)
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Grouped(TyperGroup):
    """Lists its commands under headings, in plain text: Typer has headings only in boxes that Rich draws."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Lazily()  # type: ignore[assignment] # nothing is added to it

    def format_commands(self, _ctx: Any, formatter: Any) -> None:  # of the Click that Typer has inside
        longest = max(map(len, COMMANDS))
        for heading in HEADINGS:
            rows = [
                (name.ljust(longest), sentence(name))
                for name, command in COMMANDS.items()
                if command.heading == heading
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


class Worded(TyperCommand):
    """A number that cannot be is told in our words: Typer has those of a library of data models."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return list(super().parse_args(ctx, args))
        except typer.BadParameter as error:
            for theirs, ours in NUMBERS.items():
                error.message = re.sub(theirs, ours, error.message)
            raise


class HandingOn(Worded):
    """Its rest is of another command's call: a `--` in it, behind which a program begins, is handed on."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        place = args.index("--") if "--" in args else len(args)
        left = super().parse_args(ctx, args[:place])
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
        except (KeyboardInterrupt, typer.Abort) as stop:  # which it is at a question
            status = _complain(": ".join(["interrupted", *map(str, stop.args)]), INTERRUPTED)
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


def _location(name: str, command: Command) -> tuple[str, str]:
    """The name of its file, and of its function there."""
    file, _, function = (command.function or name.replace("-", "_")).partition(".")
    return file, function or file


def sentence(name: str) -> str:
    """What the command does, in one sentence: the first one of its function's docstring, read without an import."""
    command = COMMANDS[name]
    if isinstance(command, Group):
        return command.help
    file, function = _location(name, command)
    text = (Path(__file__).parent / "commands" / f"{file}.py").read_text()
    found = re.search(rf'^def {function}\(.*?^    (""".*?""")', text, re.MULTILINE | re.DOTALL)
    words = inspect.cleandoc(ast.literal_eval(found[1])) if found else ""
    return TyperCommand(name, help=words).get_short_help_str(LONGEST_HELP)


def _register(application: typer.Typer, name: str, command: Command) -> None:
    file, function = _location(name, command)
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False} if command.passes_rest else {}
    kind = HandingOn if command.hands_on else Worded
    register = application.command(name, cls=kind, context_settings=settings, rich_help_panel=command.heading)
    register(_with_status(name, getattr(importlib.import_module(f"harness.commands.{file}"), function)))


@functools.cache
def _made(name: str) -> TyperCommand | TyperGroup:
    """A command, or a group of them: this imports its file."""
    command = COMMANDS[name]
    application = typer.Typer(
        help=getattr(command, "help", None), no_args_is_help=True, rich_markup_mode=None, add_completion=False
    )
    for below, one in (command.commands if isinstance(command, Group) else {name: command}).items():
        _register(application, below, one)
    made: Any = typer.main.get_command(application)
    made.name = name
    return made  # type: ignore[no-any-return]


@functools.cache
def _command() -> Callable[..., Any]:
    """Of the application; made once, since that reads every command's signature."""
    return typer.main.get_command(app)


def main(arguments: list[str]) -> int:
    """Run the command; return its exit status."""
    signal.signal(signal.SIGTERM, _terminated)
    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init  # noqa: PLC0415 - no other call needs it

        completion_init()
    try:
        require_plain()
        _refuse_empty_words(arguments)
        _command()(arguments, prog_name=NAME)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except (UsageError, of_analysis.UsageError) as error:
        return _complain(error, 2)
    except (Failure, of_analysis.Failure, OSError) as error:
        return _complain(error, failed(arguments))
    except KeyboardInterrupt:  # while the commands are read; Typer has an answer of its own once one runs
        return _complain("interrupted", INTERRUPTED)
    except Exception:
        return defect(arguments)
    return 0


def _refuse_empty_words(arguments: list[str]) -> None:
    """Where a shell's variable has no value: most options would be taken as not given, and everything be meant."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    found = COMMANDS.get(own[0]) if own else None
    command = found.commands.get(own[1]) if isinstance(found, Group) and len(own) > 1 else found
    if own == arguments and isinstance(command, Command) and command.passes_rest:
        return  # the words of a program may be among them
    for before, word in zip(["bench", *own], own, strict=False):
        if not word or re.fullmatch("--[a-z-]+=", word):
            raise UsageError(f"Nothing stands behind {word or before}: has a variable of the shell no value?")


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
