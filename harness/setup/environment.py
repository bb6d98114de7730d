# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench does before the harness takes over: .venv from uv.lock, made anew when the lock or the Python changes.

What a command needs besides, a group of pyproject.toml, is added when it is first asked for; each MPI's PyPI wheel goes
into a folder of its own below .mpi, so that no two ever see each other. uv installs, since it is many times faster than
pip; pip is what there is without it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure, UsageError, failed
from harness.base.mpis import MPIS, WHEEL_MPIS, Mpi
from harness.base.paths import LOCK_FILE, ROOT, VENV
from harness.base.steps import has_stamp, run_step, say, setup_lock, write_stamp
from harness.setup import packages

STAMP = VENV / "overlap-bench.stamp"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
LOCK_READER = Path(__file__).with_name("lock_file.py")
ANSWER_LIMIT_S = 60.0


def _wanted() -> str:
    return f"{platform.python_version()} {hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()}"


def is_there() -> bool:
    """Whether .venv is what uv.lock says."""
    return has_stamp(STAMP, _wanted())


def ensure() -> None:
    """Make .venv what uv.lock says. Interrupted half-way it is made anew at the next start."""
    if is_there():
        return
    packages.ensure("environment")
    with setup_lock():
        if is_there():
            return
        shutil.rmtree(VENV, ignore_errors=True)
        run_step("making .venv", [sys.executable, "-m", "venv", str(VENV)])
        _install_uv()
        install_locked("installing the Python packages", about_s=10)
        write_stamp(STAMP, _wanted())


def ensure_group(name: str) -> None:
    """Have in .venv what a group of pyproject.toml names, too. Only from within it: ensure() has made it."""
    stamp = VENV / f"overlap-bench-{name}.stamp"
    if has_stamp(stamp, _wanted()):
        return
    with setup_lock():
        if has_stamp(stamp, _wanted()):
            return
        install_locked(f"installing the Python packages for {name}", name, about_s=10)
        write_stamp(stamp, _wanted())


def _install_uv() -> None:
    # uv does not read pip's configuration: where that names an index, it may be the only one that is reached from here
    configured = process.answer([*PIP, "config", "list"], ANSWER_LIMIT_S).out
    if "index" in configured:
        say("pip is configured with an index of its own here: pip installs the Python packages")
        return
    try:
        install_locked("installing uv", "installer")
    except Failure as failure:
        say(f"{failure}\nGoing on with pip alone.")


def install_locked(title: str, group: str = "", about_s: int = 0) -> None:
    """What uv.lock names for a group, or for the harness itself, and nothing else: it is complete, and lacks what
    pyproject.toml's overrides leave out."""
    read = process.answer([str(PYTHON), str(LOCK_READER), str(LOCK_FILE), *([group] if group else [])], ANSWER_LIMIT_S)
    if read.status != 0:
        raise Failure(f"{LOCK_FILE.name} cannot be read: {read.last_line}")
    with tempfile.NamedTemporaryFile("w", prefix="overlap-bench-", suffix=".txt") as wanted:
        wanted.write(read.out)
        wanted.flush()
        install(title, VENV, ["--no-deps", "--require-hashes", "-r", wanted.name], about_s)


def install(title: str, prefix: Path, wanted: Sequence[str], about_s: int = 0) -> None:
    """Install packages from PyPI into the virtual environment `prefix`; Failure if neither uv nor pip can.

    `wanted`: as on the command line of both.
    """
    target = str(prefix / "bin" / "python")
    if UV.exists():
        # the machine's own certificates, as pip is told by its distribution; and compiled once, as pip does: where the
        # environment forbids Python to keep what it compiles, each start would compile a thousand modules
        options = ["--system-certs", "--compile-bytecode", "--python", target]
        command = [str(UV), "pip", "install", "-q", *options, *wanted]
        try:
            run_step(title, command, about_s=about_s)
        except Failure as failure:
            say(f"{failure}\nTrying pip instead.")
        else:
            return
    elsewhere = [] if prefix == VENV else ["--python", target]
    run_step(title, [*PIP, *elsewhere, "install", "-q", *wanted], about_s=4 * about_s)


TOOLS = ("mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort", "mpiexec", "mpirun")


def ensure_mpis(*mpis: Mpi) -> None:
    """Have `mpis` here, with their tools under plain names: wheels are installed side by side; UsageError if one is a
    Debian package that is not here."""
    for mpi in mpis:
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    if any(map(_lacks, mpis)):
        with setup_lock(), ThreadPoolExecutor() as pool:
            list(pool.map(_install, filter(_lacks, mpis)))
    for mpi in mpis:
        _give_plain_names(mpi)


def _lacks(mpi: Mpi) -> bool:
    return bool(mpi.wheels) and not (mpi.installed() and has_stamp(_stamp(mpi), " ".join(mpi.wheels)))


def _stamp(mpi: Mpi) -> Path:
    return mpi.prefix / "overlap-bench.stamp"


def _install(mpi: Mpi) -> None:
    wanted = " ".join(mpi.wheels)
    shutil.rmtree(mpi.prefix, ignore_errors=True)
    run_step(f"{mpi.title}: folder", [sys.executable, "-m", "venv", "--without-pip", str(mpi.prefix)])
    install(f"{mpi.title}: {wanted}", mpi.prefix, mpi.wheels, about_s=5)
    write_stamp(_stamp(mpi), wanted)


def _give_plain_names(mpi: Mpi) -> None:
    """mpicc for mpicc.mpich, and so on; what an MPI lacks is refused, or another's on PATH would be taken for it.

    Scripts, because these programs look at the name by which they are called.
    """
    for folder in ("bin", "lib"):
        (mpi.plain / folder).mkdir(parents=True, exist_ok=True)
    for name in TOOLS:
        tool = mpi.bin / f"{name}{mpi.suffix}"
        if not tool.exists():
            _replace(mpi.plain / "bin" / name, f"#!/bin/sh\necho '{mpi.title} has no {name}.' >&2\nexit 2\n")
        elif mpi.suffix:
            _replace(mpi.plain / "bin" / name, f'#!/bin/sh\nexec {tool} "$@"\n')
    for name, pattern in mpi.loaded_as.items():
        for library in mpi.prefix.glob(pattern):
            link = mpi.plain / "lib" / name
            if not link.exists():
                link.unlink(missing_ok=True)
                link.symlink_to(library)


def _replace(script: Path, text: str) -> None:
    if not has_stamp(script, text):
        write_stamp(script, text)
        script.chmod(0o755)


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
        ensure()
        return
    packages.ensure("environment")  # apt-get is not run twice at a time
    packages.ask(wanted)
    with ThreadPoolExecutor() as pool:
        installed = pool.submit(packages.fetch, wanted)
        ensure()
        ensure_mpis(*(MPIS[name] for name in WHEEL_MPIS))
        installed.result()


def main(arguments: list[str]) -> int:
    """Prepare .venv and become the harness. Returns only if that fails: the exit status."""
    arguments = _take_yes(arguments)
    if COMPLETING in os.environ and not is_there():
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
    return os.execv(PYTHON, [str(PYTHON), "-m", "harness", *arguments])
