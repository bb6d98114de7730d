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
    """A command: how it is called, what it does, its arguments and options, as --help words them."""
    context = command.context_class(command, info_name=name, resilient_parsing=True)
    records: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
    for parameter in command.params:
        if record := parameter.get_help_record(context):
            records[parameter.param_type_name].append((spelled(record[0]), plain(record[1])))
    wanted = [words if "required" in meaning else f"[{words.strip('[]')}]" for words, meaning in records["argument"]]
    parts = [
        f"## {name}",
        code(" ".join([name.removeprefix("./"), *(["[OPTIONS]"] if records["option"] else []), *wanted])),
        *help_of(command),
        *(
            table((kind, "meaning"), ([code(words), meaning] for words, meaning in rows))
            for kind, rows in records.items()
        ),
    ]
    return "\n\n".join(filter(None, parts))


def spelled(names: str) -> str:
    """How an option or argument is written; of what kind a value is its name says, unless it is a number."""
    return re.sub(r" <[^>]*>$", "", re.sub(r" <(?:int|float)[^>]*>$", " N", names))


def help_of(command: Command) -> Iterator[str]:
    """The paragraphs of the help, an example as code."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        words, _, example = " ".join(paragraph.split()).partition("Example: ")
        if words:
            yield plain(words).strip()
        if example:
            yield f"    {example}"
