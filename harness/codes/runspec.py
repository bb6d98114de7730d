# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs SPEC MPI2007 of the user's own: `runspec.py build|run --program=RUNSPEC ... CODE... [-- SUBMIT...]`.

It writes a configuration, lets SPEC's own runspec do the rest, and prints the result file. What stands behind -- is the
command that launches a code, its last word $command: so each side has its own. Standard library alone.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

FLAGS = "SPEC_MPI2007_FLAGS"  # names a file with what a site's compilers need, put behind what is here
COMMAND = "$command"
RESULTS = (".rsf", ".csv")
LABEL = re.compile(r"^spec\.mpi2007\.ext:[ \t]*(\S+)", re.MULTILINE)
NO_PLACE = "#\n"  # a comment begins there, or the value ends
EVERY = "default=default=default=default:"

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
    if wrong := next((word for word in submit if set(word) & set(NO_PLACE)), ""):
        print(f"SPEC's configuration cannot hold a # or the end of a line: {wrong!r}", file=sys.stderr)
        return 2
    own = f"overlap-bench-{asked.label}-{socket.gethostname()}-{os.getpid()}.cfg"  # of this process alone
    configuration = folder / "config" / own
    try:
        _configure(configuration, asked.label, submit)
        before = set(_results(folder))
        status = _runspec(folder, asked, configuration)
        if asked.action == "run":
            _tell(asked.size, asked.label, set(_results(folder)) - before)
    except (OSError, UnicodeError) as error:
        print(f"SPEC's configuration cannot be written, or its results cannot be read: {error}", file=sys.stderr)
        return 2
    finally:
        configuration.unlink(missing_ok=True)
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


def _configure(place: Path, label: str, submit: list[str]) -> None:
    """What a site gives counts for every code until it names a section of its own, and comes last, so that it wins."""
    words = [*(_literal(word) for word in submit[:-1]), COMMAND]
    text = CONFIGURATION.format(label=label, submit=" ".join(words))
    if flags := os.environ.get(FLAGS):
        text += f"\n{EVERY}\n{Path(flags).read_text()}"
    place.write_text(text)


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


def _tell(size: str, label: str, found: set[Path]) -> None:
    """The run's result files on stdout, raw if there are such; nothing if it left none. Runs on another MPI may leave
    theirs in the same folder at the same time. One on the same MPI cannot be told from this one: then each code is
    there twice, which has no time."""
    for ending in RESULTS:
        texts = {path: path.read_text(errors="replace") for path in sorted(found) if path.suffix == ending}
        labels = {path: LABEL.search(text) for path, text in texts.items()}
        mine = [path for path, of in labels.items() if of is None or of[1] == label]
        for path in mine:
            print(f"\noverlap-bench: SPEC MPI2007 {size}, an estimate: {path.name}", flush=True)
            print(texts[path], flush=True)
        if mine:
            return


def _stop(*_: object) -> None:
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)  # what is given up takes its configuration away, too
    sys.exit(main(sys.argv[1:]))
