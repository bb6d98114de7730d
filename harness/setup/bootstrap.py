# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench does before the harness takes over."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from harness.base.errors import Failure, UsageError, failed
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.base.paths import ROOT
from harness.setup import environment, packages
from harness.setup import mpi as mpi_setup

COMPLETING = "_BENCH_COMPLETE"  # harness/commands/__init__.py


def _take_yes(arguments: list[str]) -> list[str]:
    """Strip --yes, which is meant for the set-up, from the harness's arguments (but not from a command behind --)."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours, rest = arguments[:end], arguments[end:]
    if "--yes" in ours:
        os.environ["OVERLAP_BENCH_YES"] = "1"
    return [argument for argument in ours if argument != "--yes"] + rest


def _set_up(arguments: list[str]) -> None:
    """Prepare .venv. What a command needs beside it comes at the same time: Debian's packages, and the three MPIs
    once .venv has uv."""
    purposes = packages.COMMANDS.get(arguments[0], ()) if arguments and not {"-h", "--help"} & set(arguments) else ()
    wanted = packages.missing(*purposes) if packages.may_install() else []
    if not wanted:
        environment.ensure()
        return
    packages.ensure("environment")  # apt-get is not run twice at a time
    packages.ask(wanted)
    with ThreadPoolExecutor() as pool:
        installed = pool.submit(packages.fetch, wanted)
        environment.ensure()
        mpi_setup.ensure(*(MPIS[name] for name in WHEEL_MPIS))
        installed.result()


def main(arguments: list[str]) -> int:
    """Prepare .venv and become the harness. Returns only if that fails: the exit status."""
    arguments = _take_yes(arguments)
    if COMPLETING in os.environ and not environment.is_there():
        return 0  # a shell asks what could come next: no time to make anything
    try:
        _set_up(arguments)
    except (UsageError, Failure, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else failed(arguments)
    except KeyboardInterrupt:
        print("bench: interrupted while setting up; the next call goes on from here", file=sys.stderr)
        return failed(arguments)
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return os.execv(environment.PYTHON, [str(environment.PYTHON), "-m", "harness", *arguments])
