# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share: one wording, one meaning; and which of them may stand beside another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from harness.base import process, variants
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS

# What a shell may complete; each imports what it needs alone.


def complete_mpis(incomplete: str) -> list[str]:
    return _last_of_list(incomplete, MPIS)


def complete_variants(incomplete: str) -> list[str]:
    return _last_of_list(incomplete, variants.known())


def complete_systems(incomplete: str) -> list[str]:
    from harness.sites.systems import BUILTIN  # noqa: PLC0415 - the others do not need it

    return _beginning(incomplete, BUILTIN)


def complete_studies(incomplete: str) -> list[str]:
    from reframe_checks import catalogue  # noqa: PLC0415 - the others do not need it

    return _beginning(incomplete, [*catalogue.studies(), *catalogue.groups()])


def complete_sessions(incomplete: str) -> list[str]:
    from harness.job import session  # noqa: PLC0415 - the others do not need it

    return _beginning(incomplete, session.names())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _last_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    """Of a list with commas the last word is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(last, names)]


System = Annotated[
    str,
    typer.Option(
        "--system", metavar="NAME", help="vcluster, local or a ReFrame file of a site.", autocompletion=complete_systems
    ),
]
Mpis = Annotated[
    str,
    typer.Option(
        "--mpi",
        metavar="M,...",
        help="MPIs, see ./bench list; default: the three of PyPI.",
        autocompletion=complete_mpis,
    ),
]
RunMpis = Annotated[
    str,
    typer.Option(
        "--mpi",
        metavar="M,...",
        help="MPIs for every study; default: each study's own, by its scale.",
        autocompletion=complete_mpis,
    ),
]
OneMpi = Annotated[
    str, typer.Option("--mpi", metavar="M", help="Which MPI, see ./bench list.", autocompletion=complete_mpis)
]
Variants = Annotated[
    str,
    typer.Option(
        "--variant",
        metavar="V,...",
        help="Variants, see ./bench list; default: the study's own. With settings: V:key=value:key=value or V:@FILE.",
        autocompletion=complete_variants,
    ),
]
OneVariant = Annotated[
    str,
    typer.Option(
        "--variant",
        metavar="V[:KEY=VALUE...]",
        help="See ./bench list; several settings with ':' between.",
        autocompletion=complete_variants,
    ),
]
MpiEnv = Annotated[
    Path | None,
    typer.Option("--mpi-env", metavar="FILE", help="NAME = VALUE lines: MPI variables of every launch, bare included."),
]
Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="quick|paper|test",
        help="How much: seconds, the paper's own, or so little that it only shows that it runs.",
        autocompletion=lambda: ["quick", "paper", "test"],
    ),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="p=v", help="A parameter's values or a limit, as in size_bytes=1024,65536."),
]
Launches = Annotated[int | None, typer.Option("--launches", min=1, help="A variant; default: by scale.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the interleaved schedule.")]
Nodes = Annotated[int, typer.Option("--nodes", min=1, max=4096, help="How many nodes.")]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]
GIVEN = ("COMMANDLINE", "ENVIRONMENT")  # where an option may come from, if it is not its default


def given(context: typer.Context) -> Iterator[tuple[str, str]]:
    """The parameters that stand in the call: name, and the word that the user writes."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name in GIVEN:
            named = "the program" if parameter.name == "command" else f"the {parameter.name}"
            yield parameter.name or "", parameter.opts[0] if parameter.param_type_name == "option" else named


def allow_only(
    context: typer.Context, name: str, *allowed: str, why: str = "goes on with what its session was asked for"
) -> None:
    """UsageError where others than the `allowed` ones are given beside --`name`, with `why`: what that one does."""
    for parameter, word in given(context):
        if parameter not in (name, *allowed):
            raise UsageError(f"--{name} {why}: leave {word} out.")


# Of nodes that are made and ended by hand: the virtual cluster's, the RDMA laboratory's.
Force = Annotated[bool, typer.Option("--force", help="Also from under a ./bench that uses them.")]
Rest = Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What to run there.")]


def end_nodes(nodes: str, ended: Callable[[], bool], force: bool) -> int:
    """End these nodes, unless another ./bench may be using them."""
    if not force and (holder := process.machine_holder()):
        raise Failure(
            f"Another ./bench may be using the {nodes} ({holder}): wait for it or end it, or take them from under it "
            f"with --force."
        )
    print("down" if ended() else "there was none")
    return 0


def command_of(rest: list[str]) -> list[str]:
    """What is run, without the two dashes before it."""
    return rest[1:] if rest[0] == "--" else rest
