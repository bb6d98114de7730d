# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs SPEC MPI2007 of the user's own: `runspec.py build|run --program=RUNSPEC ... CODE... [-- SUBMIT...]`.

It writes a configuration, lets SPEC's own runspec do the rest, and prints the result file. What stands behind -- is the
command that launches a code, its last word $command: so each arm has its own. Standard library alone.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

FLAGS = "SPEC_MPI2007_FLAGS"  # names a file with what a site's compilers need, put behind what is here
COMMAND = "$command"
RESULTS = (".rsf", ".csv")

CONFIGURATION = """# Written by Overlap Bench; each run writes its own.
action = validate
ext = {label}
tune = base
mach = default
ignore_errors = yes
output_format = raw,csv
check_version = no
teeout = yes
use_submit_for_speed = yes
submit = {submit}

default=default=default=default:
CC = mpicc
CXX = mpicxx
FC = mpif90
OPTIMIZE = -O2

121.pop2=default=default=default:
CPORTABILITY = -DSPEC_MPI_CASE_FLAG

126.lammps=default=default=default:
CXXPORTABILITY = -DMPICH_IGNORE_CXX_SEEK

127.wrf2=default=default=default:
CPORTABILITY = -DSPEC_MPI_CASE_FLAG -DSPEC_MPI_LINUX
"""


def main(arguments: list[str]) -> int:
    """runspec's own status; 2 with a sentence where this cannot go."""
    mine, _, submit = _split(arguments)
    asked = _parser().parse_args(mine)
    folder = Path(asked.program).resolve().parent.parent
    if not (folder / "shrc").is_file():
        print(f"{folder} is no installation of SPEC MPI2007: it has no shrc", file=sys.stderr)
        return 2
    if asked.action == "run" and submit[-1:] != [COMMAND]:
        print(f"behind -- the command is wanted that launches a code, {COMMAND} its last word", file=sys.stderr)
        return 2
    try:
        configuration = _configure(folder, asked.label, submit)
    except OSError as error:
        print(f"SPEC's configuration cannot be written: {error}", file=sys.stderr)
        return 2
    try:
        before = set(_results(folder))
        status = _runspec(folder, asked, configuration)
        if asked.action == "run":
            _tell(asked.size, sorted(set(_results(folder)) - before))
    finally:
        configuration.unlink()
    return status


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    if "--" not in arguments:
        return arguments, "", []
    place = arguments.index("--")
    return arguments[:place], "--", arguments[place + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("build", "run"))
    for name in ("program", "label", "size", "ranks"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("codes", nargs="+")
    return parser


def _configure(folder: Path, label: str, submit: list[str]) -> Path:
    """A configuration of this process's own, whole or not there."""
    words = [*(_literal(word) for word in submit[:-1]), COMMAND]
    text = CONFIGURATION.format(label=label, submit=" ".join(words))
    if flags := os.environ.get(FLAGS):
        text += f"\n{Path(flags).read_text()}"
    place = folder / "config" / f"overlap-bench-{label}-{os.getpid()}.cfg"
    new = place.with_suffix(".new")
    new.write_text(text)
    new.rename(place)
    return place


def _literal(word: str) -> str:
    """For the shell, and so that runspec puts nothing in the place of what looks like a variable of its own."""
    return shlex.quote(word).replace("$", "\\$")


def _runspec(folder: Path, asked: argparse.Namespace, configuration: Path) -> int:
    words = [
        "runspec",
        f"--config={configuration.name}",
        f"--action={asked.action}",
        "--tune=base",
        f"--size={asked.size}",
        f"--ranks={asked.ranks}",
        "--iterations=1",
        "--noreportable",
        *asked.codes,
    ]
    script = '. ./shrc && exec "$@"'
    return subprocess.run(["bash", "-c", script, "bash", *words], cwd=folder, check=False).returncode


def _results(folder: Path) -> list[Path]:
    return [path for ending in RESULTS for path in (folder / "result").glob(f"*{ending}")]


def _tell(size: str, found: list[Path]) -> None:
    """The run's result file on stdout, raw if there is one; nothing if it left none."""
    for ending in RESULTS:
        for path in [path for path in found if path.suffix == ending][-1:]:
            print(f"\noverlap-bench: SPEC MPI2007 {size}, an estimate: {path.name}", flush=True)
            print(path.read_text(errors="replace"), flush=True)
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
