# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the command line: what --help prints, a page a heading of `./bench --help` and one a group of commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import typer.main

from docs.generate.page import code, page, plain, table
from harness.cli import app
from harness.commands import BEGIN, CHANGE, MEASURE, PROGRAM, PROJECT, READ

NAMES = {
    BEGIN: "cli-begin",
    MEASURE: "cli-measure",
    READ: "cli-read",
    CHANGE: "cli-change",
    PROGRAM: "cli-programs",
    PROJECT: "cli-project",
}
SOURCE = "the command's function in harness/commands"
Command = Any  # of the Click that Typer has inside


def pages() -> dict[str, str]:
    """A heading's commands are one page, a command that has commands below it another one."""
    commands: Mapping[str, Command] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    found = {}
    for heading, name in NAMES.items():
        mine = [
            described(f"./bench {command}", what)
            for command, what in commands.items()
            if what.rich_help_panel == heading
        ]
        found[f"{name}.md"] = page(f"Commands: {heading[:1].lower()}{heading[1:]}", SOURCE, *mine)
    for name, group in commands.items():
        if hasattr(group, "commands"):
            mine = [described(f"./bench {name} {command}", what) for command, what in group.commands.items()]
            found[f"cli-{name}.md"] = page(f"Commands: ./bench {name}", SOURCE, plain(group.help), *mine)
    return found


def described(name: str, command: Command) -> str:
    """A command: how it is called, what it does, its arguments and options."""
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    usage = " ".join([name, *(["[OPTIONS]"] if options else []), *(metavar(argument) for argument in arguments)])
    parts = [
        f"## {name}",
        f"    {usage}",
        *help_of(command),
        table(("argument", "meaning"), ([code(metavar(one)), plain(one.help or "")] for one in arguments)),
        table(("option", "meaning"), ([spelled(one), meaning(one)] for one in options)),
    ]
    return "\n\n".join(filter(None, parts))


def help_of(command: Command) -> Iterator[str]:
    """The paragraphs of the help, an example as code."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        words, _, example = " ".join(paragraph.split()).partition("Example: ")
        if words:
            yield re.sub(r"(?<!\w)(\./bench(?: [a-z][\w-]*)?(?: --[\w-]+)?)", r"`\1`", plain(words).strip())
        if example:
            yield f"    {example}"


def metavar(parameter: Command) -> str:
    text = parameter.metavar or parameter.name.upper()
    return text if parameter.required or text.startswith("[") else f"[{text}]"


def spelled(option: Command) -> str:
    """Its names, and what it takes."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    takes = "" if option.is_flag else option.metavar or option.type.name.upper()
    return code(f"{names} {takes}".strip())


def meaning(option: Command) -> str:
    """Its help, its bounds, and what it is without being given."""
    low, high = getattr(option.type, "min", None), getattr(option.type, "max", None)
    bounds = {
        (True, True): f"{low:g} to {high:g}" if low is not None and high is not None else "",
        (True, False): f"at least {low}",
        (False, True): f"at most {high}",
    }.get((low is not None, high is not None), "")
    default = option.default
    known = default not in (None, "", (), []) and not isinstance(default, bool) and not callable(default)
    more = "; ".join(filter(None, [bounds, f"{default} if not given" if known else ""]))
    return plain(option.help or "") + (f" ({more})" if more else "")
