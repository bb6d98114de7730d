# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench does before the harness takes over: .venv from uv.lock, made anew when the lock or the Python changes;
and the Debian packages that a purpose needs, installed where we may, named where we may not.

What a command needs besides, a group of pyproject.toml, is added when it is first asked for. uv installs, since it is
many times faster than pip; pip is what there is without it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import LOCK_FILE, PYTHON, VENV, VENV_STAMP, venv_is_there, venv_wanted
from harness.base.process import has_stamp, run_step, say, setup_lock, write_stamp

INCLUDE_DIRS = (Path("/usr/include"), Path("/usr/local/include"))

# purpose -> package -> what proves that it is there: a command, or a header below an include folder
PACKAGES: dict[str, dict[str, str]] = {
    "environment": {"python3-venv": "module:ensurepip"},
    "build": {
        "g++": "g++",
        "ccache": "ccache",
        "libhwloc-dev": "header:hwloc.h",
        "libcli11-dev": "header:CLI/CLI.hpp",
        "nlohmann-json3-dev": "header:nlohmann/json.hpp",
        "libfmt-dev": "header:fmt/core.h",
        "libfftw3-dev": "header:fftw3.h",
    },
    # what CMake goes on without, leaving out targets: a third of the time that installing all of these takes
    "all targets": {
        "libgtest-dev": "header:gtest/gtest.h",
        "libgmock-dev": "header:gmock/gmock.h",
        "libboost-fiber-dev": "header:boost/fiber/fiber.hpp",
        "libbenchmark-dev": "header:benchmark/benchmark.h",
    },
    "instruction counts": {"valgrind": "valgrind"},
    "simulator": {"libsimgrid-dev": "header:simgrid/s4u.hpp", "libssl-dev": "header:openssl/evp.h"},
    "vcluster": {"iproute2": "ip", "util-linux": "unshare", "procps": "ps"},
    # Slurm's PMIx plugin, which srun needs for Open MPI, loads the library by the name that only -dev has.
    "slurm": {"slurm-wlm": "sbatch", "munge": "munged", "libpmix-dev": "file:usr/lib/*/libpmix.so"},
    "slurm accounting": {
        "slurmdbd": "slurmdbd",
        "mariadb-server-core": "mariadbd",
        "mariadb-client-core": "my_print_defaults",  # for mariadb-install-db
    },
    # a cluster's login node has it; here a test of the guide plays one
    "modules": {"lmod": "file:usr/share/lmod/lmod/libexec/lmod"},
    "test": {"shellcheck": "shellcheck", "git": "git", "bubblewrap": "bwrap"},
    "Debian's MPIs": {
        "mpich": "mpiexec.mpich",
        "libmpich-dev": "mpicc.mpich",
        "openmpi-bin": "mpirun.openmpi",
        "libopenmpi-dev": "mpicc.openmpi",
    },
    "full tests": {"gfortran": "gfortran", "chromium": "chromium", "chromium-driver": "chromedriver"},
}

# What these commands need in any case: installed while the Python packages are.
PACKAGES_OF = {"demo": ("build", "vcluster"), "test": ("build", "all targets", "vcluster", "slurm", "test")}
QUIET = {"DEBIAN_FRONTEND": "noninteractive"}


def present(probe: str) -> bool:
    """Whether what `probe` names ("command", "header:path", "file:pattern" or "module:name") is on this machine."""
    kind, _, name = probe.rpartition(":")
    if kind == "header":
        return any((folder / name).exists() for folder in INCLUDE_DIRS)
    if kind == "file":
        return any(Path("/").glob(name))
    if kind == "module":
        return importlib.util.find_spec(name) is not None
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    return shutil.which(name, path=path) is not None


def missing_packages(*purposes: str) -> list[str]:
    """The packages of these purposes that are not here."""
    return [package for purpose in purposes for package, probe in PACKAGES[purpose].items() if not present(probe)]


def may_install() -> bool:
    """Whether packages can be installed from here at all."""
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def _agreed(packages: list[str]) -> bool:
    if os.environ.get("OVERLAP_BENCH_YES") or not sys.stdin.isatty():
        return True
    return input(f"Install the Debian packages {' '.join(packages)}? [Y/n] ").strip().lower() in ("", "y", "yes")


def ensure_packages(*purposes: str) -> None:
    """Have the packages of these purposes here, or raise Failure with the line that would install them."""
    install_packages(missing_packages(*purposes))


def install_packages(packages: list[str]) -> None:
    """Install Debian packages where we may; otherwise raise Failure with the line that would."""
    if packages:
        ask_for(packages)
        fetch_packages(packages)


def ask_for(packages: list[str]) -> None:
    """Raise Failure with the line that would install these packages, unless we may."""
    line = f"sudo apt-get install --no-install-recommends {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        raise Failure(
            f"These are missing here, by their Debian names: {' '.join(packages)}. Install them and try again."
        )
    if not may_install() or not _agreed(packages):
        raise Failure(f"Some system packages are missing. This installs them: {line}")


def fetch_packages(packages: list[str]) -> None:
    """Install packages that ask_for() has let pass."""
    say(f"installing Debian packages: {' '.join(packages)}")
    install_them = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages]
    with _network(f"Debian packages ({' '.join(packages)})", "/etc/apt/sources.list"):
        _update()
        run_step("apt-get install", install_them, QUIET, 60)


@functools.cache
def _update() -> None:
    run_step("apt-get update", ["apt-get", "update", "-q"], QUIET, 10)


UV = VENV / "bin" / "uv"
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
MIRROR = "pip config set global.index-url URL"
LOCK_READER = Path(__file__).with_name("lock_file.py")
ANSWER_LIMIT_S = 60.0
# What uv, pip and apt-get say where no index is reached.
_OFFLINE = re.compile(
    r"dns error|resolv|[Nn]etwork is unreachable|[Cc]onnection refused|No route to host|timed out|[Cc]onnect error|"
    r"NewConnectionError|error sending request|[Cc]annot connect to proxy|tunnel"
)


class Unreachable(Failure):
    """Nothing can be installed from here."""


@contextlib.contextmanager
def _network(what: str, mirror: str) -> Iterator[None]:
    """A step that fails in the body for want of a network is told in a sentence, and not in the tool's own lines."""
    try:
        yield
    except Failure as failure:
        if not _OFFLINE.search(str(failure)):
            raise
        raise Unreachable(
            f"{what} cannot be installed: no package index is reached from here. Name a mirror ({mirror}) or a proxy "
            "(https_proxy), or make this call once where there is a network: what it installs stays in this folder."
        ) from failure


def python_below() -> str:
    """The Python that runs this; of a virtual environment the one that it was made with."""
    below = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return str(below) if sys.prefix != sys.base_prefix and below.exists() else sys.executable


def ensure() -> None:
    """Make .venv what uv.lock says. Interrupted half-way it is made anew at the next start."""
    if venv_is_there():
        return
    ensure_packages("environment")
    with setup_lock():
        if venv_is_there():
            return
        shutil.rmtree(VENV, ignore_errors=True)  # perhaps the one that runs this: it is activated
        run_step("making .venv", [python_below(), "-m", "venv", str(VENV)])
        _install_uv()
        install_locked("installing the Python packages", about_s=10)
        write_stamp(VENV_STAMP, venv_wanted())


def ensure_group(name: str) -> None:
    """Have in .venv what a group of pyproject.toml names, too. Only from within it: ensure() has made it."""
    stamp = VENV / f"overlap-bench-{name}.stamp"
    if has_stamp(stamp, venv_wanted()):
        return
    with setup_lock():
        if has_stamp(stamp, venv_wanted()):
            return
        install_locked(f"installing the Python packages for {name}", name, about_s=10)
        write_stamp(stamp, venv_wanted())


def _install_uv() -> None:
    # uv does not read pip's configuration: where that names an index, it may be the only one that is reached from here
    configured = process.answer([*PIP, "config", "list"], ANSWER_LIMIT_S).out
    if "index" in configured:
        say("pip is configured with an index of its own here: pip installs the Python packages")
        return
    try:
        install_locked("installing uv", "installer")
    except Unreachable:
        raise
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
            with _network("Python packages", MIRROR):
                run_step(title, command, about_s=about_s)
        except Failure as failure:  # pip may be configured otherwise
            say(f"{failure}\nTrying pip instead.")
        else:
            return
    elsewhere = [] if prefix == VENV else ["--python", target]
    with _network("Python packages", MIRROR):
        run_step(title, [*PIP, *elsewhere, "install", "-q", *wanted], about_s=4 * about_s)
