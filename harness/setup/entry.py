# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench does before the harness takes over. Nearly always that is nothing: then this is all that is imported."""

from __future__ import annotations

import os
import sys

from harness.base.errors import INTERRUPTED, Failure, UsageError, failed
from harness.base.paths import PYTHON, ROOT, python, require_plain, venv_is_there

COMPLETING = "_BENCH_COMPLETE"  # harness/commands/__init__.py


def _take_yes(arguments: list[str]) -> list[str]:
    """Strip --yes, which is meant for the set-up, from the harness's arguments (but not from a command behind --)."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours, rest = arguments[:end], arguments[end:]
    if "--yes" in ours:
        os.environ["OVERLAP_BENCH_YES"] = "1"
    return [argument for argument in ours if argument != "--yes"] + rest


def set_up(arguments: list[str]) -> None:
    """Prepare .venv. What a command needs beside it comes at the same time: Debian's packages, and the three MPIs
    once .venv has uv."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most calls install nothing

    from harness.base.mpis import MPIS, WHEEL_MPIS  # noqa: PLC0415
    from harness.setup import build, environment  # noqa: PLC0415

    purposes = (
        environment.PACKAGES_OF.get(arguments[0], ()) if arguments and not {"-h", "--help"} & set(arguments) else ()
    )
    wanted = environment.missing_packages(*purposes) if environment.may_install() else []
    if not wanted:
        environment.ensure()
        return
    environment.ensure_packages("environment")  # apt-get is not run twice at a time
    environment.ask_for(wanted)
    with ThreadPoolExecutor() as pool:
        installed = pool.submit(environment.fetch_packages, wanted)
        environment.ensure()
        build.ensure_mpis(*(MPIS[name] for name in WHEEL_MPIS))
        installed.result()


def main(arguments: list[str]) -> int:
    """Prepare .venv and become the harness. Returns only if that fails: the exit status."""
    arguments = _take_yes(arguments)
    if COMPLETING in os.environ and not venv_is_there():
        return 0  # a shell asks what could come next: no time to make anything
    try:
        require_plain()
        if arguments[:1] in (["demo"], ["test"]) or not venv_is_there():
            set_up(arguments)
    except (UsageError, Failure, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else failed(arguments)
    except KeyboardInterrupt:
        print("bench: interrupted while setting up; the next call goes on from here", file=sys.stderr)
        return INTERRUPTED
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return os.execv(PYTHON, python("-m", "harness", *arguments, interpreter=PYTHON))
