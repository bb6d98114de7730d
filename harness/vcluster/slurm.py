# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm on a virtual cluster: slurmctld on vc0, slurmd on the compute nodes, munged on each.

`cluster.up(nodes=N, slurm=True)` does it. The daemons are services of the nodes' inits, in the foreground; commands
find the configuration by SLURM_CONF, which each node's init sets. The MPIs' own mpiexec works inside sbatch without any
setting; srun needs --mpi=pmi2 (MPICH, Intel MPI) or --mpi=pmix (Open MPI).
"""

from __future__ import annotations

import os
import pwd
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from string import Template

from harness.base import process
from harness.base.errors import Failure

from . import network, sacct, support
from .cluster_settings import Settings

_PROGRAMS = {"slurm-wlm": ("slurmctld", "slurmd", "sbatch", "sacct"), "munge": ("munged",)}
_TEMPLATE = Path(__file__).with_name("slurm.conf.in")
_LIMIT_S = 30.0

Start = Callable[[str, str, list[str]], object]  # node, name of the service, its command


def missing() -> str | None:
    """None, or the sentence that says which Debian packages Slurm needs."""
    lacking = [package for package, programs in _PROGRAMS.items() if not all(map(_path_of, programs))]
    if not lacking:
        return None
    return f"Slurm on the virtual cluster needs Debian packages: apt-get install {' '.join(lacking)}."


def _path_of(program: str) -> str | None:
    return shutil.which(program, path=support.search_path())


def prepare(directory: Path, settings: Settings) -> tuple[dict[str, str], dict[str, str]]:
    """Write the configuration below `directory`; what nodes have mounted (target -> source), and their variables."""
    slurm = directory / "slurm"
    for name in ("state", *settings.names):
        (slurm / name).mkdir(parents=True)
    key = slurm / "munge.key"
    key.write_bytes(os.urandom(128))  # nobody else can enter the cluster's directory
    key.chmod(0o400)
    user, binds = _user(slurm)
    values = {
        "controller_address": network.address(0),
        "user": user,
        "directory": slurm,
        "logs": directory / "log",
        "munge_socket": _munge_socket(directory),
        "nodes": "\n".join(_node_line(index, name, settings) for index, name in enumerate(settings.names) if index),
        "node_list": ",".join(settings.names[1:]),
    }
    configuration = slurm / "slurm.conf"
    configuration.write_text(Template(_TEMPLATE.read_text()).substitute(values))
    (slurm / "mpi.conf").write_text(f"PMIxCliTmpDirBase={directory / 'tmp'}\n")
    stand_in = support.install_program(slurm / "sacct", Path(sacct.__file__))
    return {**binds, str(_path_of("sacct")): str(stand_in)}, {"SLURM_CONF": str(configuration)}


def _munge_socket(directory: Path) -> Path:
    """In the nodes' TMPDIR, which has other contents in each."""
    return directory / "tmp" / "munge.sock"


def _node_line(index: int, name: str, settings: Settings) -> str:
    return f"NodeName={name} NodeAddr={network.address(index)} CPUs={len(settings.cpus[name])} State=UNKNOWN"


def _user(slurm: Path) -> tuple[str, dict[str, str]]:
    """This user's name, and what to mount: Slurm needs an account, which a user in a container may lack."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        return pwd.getpwuid(uid).pw_name, {}
    except KeyError:
        passwd = slurm / "passwd"
        home = os.environ.get("HOME", "/")
        passwd.write_text(Path("/etc/passwd").read_text() + f"user{uid}:x:{uid}:{gid}::{home}:/bin/sh\n")
        return f"user{uid}", {"/etc/passwd": str(passwd)}


def daemons(settings: Settings) -> dict[str, list[str]]:
    """Node -> the services that it must have."""
    return {name: ["munged", "slurmd" if index else "slurmctld"] for index, name in enumerate(settings.names)}


def start(directory: Path, settings: Settings, start_service: Start) -> None:
    """Start all daemons and wait until each node takes jobs; raises Failure with the last words of a daemon."""
    socket = _munge_socket(directory)
    commands = {
        "munged": f"{_path_of('munged')} --foreground --force --socket={socket} --key-file={directory}/slurm/munge.key "
        f"--log-file={directory}/tmp/munged.log --pid-file={directory}/tmp/munged.pid "
        f"--seed-file={directory}/tmp/munged.seed",
        "slurmctld": f"{_path_of('slurmctld')} -D -c",
        "slurmd": f"{_path_of('slurmd')} -D",
    }
    for node, names in daemons(settings).items():
        for name in names:
            wait = "" if name == "munged" else f"until [ -S {socket} ]; do sleep 0.01; done; "
            start_service(node, name, ["/bin/sh", "-c", f"{wait}exec {commands[name]}"])
    _wait_until_idle(directory, settings)


def _wait_until_idle(directory: Path, settings: Settings) -> None:
    deadline = time.monotonic() + _LIMIT_S
    command = [str(directory / "exec"), settings.names[0], "sinfo", "--noheader", "--states=idle", "--format=%D"]
    while time.monotonic() < deadline:
        if process.answer(command, _LIMIT_S).out.strip() == str(settings.nodes):
            return
        time.sleep(0.02)
    logs = sorted((directory / "log").glob("*slurm*.log"), key=lambda path: path.stat().st_size, reverse=True)
    errors = [line for path in logs for line in path.read_text(errors="replace").splitlines() if "error" in line]
    raise Failure(f"Slurm did not come up within {_LIMIT_S:.0f} s: {errors[-1] if errors else 'no error in its logs'}")
