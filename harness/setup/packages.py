# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages that a purpose needs: looked for, installed where we may, named where we may not."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import sys
from pathlib import Path

from harness.base.errors import Failure
from harness.base.steps import run_step, say

INCLUDE_DIRS = (Path("/usr/include"), Path("/usr/local/include"))

# purpose -> package -> what proves that it is there: a command, or a header below an include folder
NEEDS: dict[str, dict[str, str]] = {
    "environment": {"python3-venv": "module:ensurepip"},
    "build": {
        "g++": "g++",
        "ccache": "ccache",
        "libhwloc-dev": "header:hwloc.h",
        "libcli11-dev": "header:CLI/CLI.hpp",
        "nlohmann-json3-dev": "header:nlohmann/json.hpp",
        "libfmt-dev": "header:fmt/core.h",
        "libgtest-dev": "header:gtest/gtest.h",
        "libgmock-dev": "header:gmock/gmock.h",
        "libfftw3-dev": "header:fftw3.h",
        "libboost-fiber-dev": "header:boost/fiber/fiber.hpp",
        "libbenchmark-dev": "header:benchmark/benchmark.h",
    },
    "instruction counts": {"valgrind": "valgrind"},
    "simulator": {"libsimgrid-dev": "header:simgrid/s4u.hpp", "libssl-dev": "header:openssl/evp.h"},
    "vcluster": {"iproute2": "ip", "util-linux": "unshare", "procps": "ps"},
    # Slurm's PMIx plugin, which srun needs for Open MPI, loads the library by the name that only -dev has.
    "slurm": {"slurm-wlm": "sbatch", "munge": "munged", "libpmix-dev": "file:usr/lib/*/libpmix.so"},
    # a cluster's login node has it; here a test of the guide plays one
    "modules": {"lmod": "file:usr/share/lmod/lmod/libexec/lmod"},
    "test": {"shellcheck": "shellcheck", "git": "git"},
    "Debian's MPIs": {
        "mpich": "mpiexec.mpich",
        "libmpich-dev": "mpicc.mpich",
        "openmpi-bin": "mpirun.openmpi",
        "libopenmpi-dev": "mpicc.openmpi",
    },
    "full tests": {"gfortran": "gfortran", "chromium": "chromium", "chromium-driver": "chromedriver"},
}

# What these commands need in any case: installed while the Python packages are, see environment.py.
COMMANDS = {"demo": ("build", "vcluster"), "test": ("build", "vcluster", "slurm", "test")}
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


def missing(*purposes: str) -> list[str]:
    """The packages of these purposes that are not here."""
    return [package for purpose in purposes for package, probe in NEEDS[purpose].items() if not present(probe)]


def may_install() -> bool:
    """Whether packages can be installed from here at all."""
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def _agreed(packages: list[str]) -> bool:
    if os.environ.get("OVERLAP_BENCH_YES") or not sys.stdin.isatty():
        return True
    return input(f"Install the Debian packages {' '.join(packages)}? [Y/n] ").strip().lower() in ("", "y", "yes")


def ensure(*purposes: str) -> None:
    """Have the packages of these purposes here, or raise Failure with the line that would install them."""
    install(missing(*purposes))


def install(packages: list[str]) -> None:
    """Install Debian packages where we may; otherwise raise Failure with the line that would."""
    if packages:
        ask(packages)
        fetch(packages)


def ask(packages: list[str]) -> None:
    """Raise Failure with the line that would install these packages, unless we may."""
    line = f"sudo apt-get install --no-install-recommends {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        raise Failure(
            f"These are missing here, by their Debian names: {' '.join(packages)}. Install them and try again."
        )
    if not may_install() or not _agreed(packages):
        raise Failure(f"Some system packages are missing. This installs them: {line}")


def fetch(packages: list[str]) -> None:
    """Install packages that ask() has let pass."""
    say(f"installing Debian packages: {' '.join(packages)}")
    _update()
    run_step("apt-get install", ["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages], QUIET, 60)


@functools.cache
def _update() -> None:
    run_step("apt-get update", ["apt-get", "update", "-q"], QUIET, 10)
