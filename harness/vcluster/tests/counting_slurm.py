# SPDX-License-Identifier: BSD-3-Clause
"""A virtual Slurm that counts energy and keeps accounts, as a site's: acct_gather_energy/rapl, slurmdbd with MariaDB.

All of it is the real one but what RAPL's plugin reads: each node's slurmd sees, in the place of its processors'
registers (/dev/cpu/N/msr), a file in which the test counts joules.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.base import process
from harness.base.errors import Failure
from harness.setup import environment
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.waiting import eventually
from harness.vcluster import cluster, slurm
from harness.vcluster.cluster import Cluster
from harness.vcluster.cluster_settings import Settings

COUNTED = {
    "JobAcctGatherType=jobacct_gather/none": "JobAcctGatherType=jobacct_gather/linux\n"
    "AcctGatherEnergyType=acct_gather_energy/rapl",
    "AccountingStorageType=accounting_storage/none": "AccountingStorageType=accounting_storage/slurmdbd\n"
    "AccountingStorageHost=vc0\nAccountingStoragePass=$munge_socket",
}
PORT = 3306
ACCOUNTS = """DbdHost=vc0
AuthType=auth/munge
AuthInfo=socket={directory}/tmp/munge.sock
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={port}
StorageUser={user}
StorageLoc=accounts
LogFile={directory}/log/slurmdbd.log
PidFile={directory}/slurm/slurmdbd.pid
"""
UNITS, PACKAGE, SIZE = 0x606, 0x611, 0x700  # registers: what a count is worth (3: 1 J), the package's counts
# In a mount namespace of slurmd's own.
REGISTERS = """mount -t tmpfs tmpfs /dev/cpu
for cpu in $(grep -o '^processor.*' /proc/cpuinfo | grep -o '[0-9]*$'); do
  mkdir /dev/cpu/$cpu && ln -s {file} /dev/cpu/$cpu/msr
done
"""


def supported() -> str | None:
    """None, or the sentence why there can be none here. Installs what is missing where it may."""
    if reason := virtual_slurm_supported():
        return reason
    with contextlib.suppress(Failure):
        environment.ensure_packages("slurm accounting")
    if missing := environment.missing_packages("slurm accounting"):
        return f"Slurm's accounting needs Debian packages: apt-get install {' '.join(missing)}."
    if not (Path("/dev/cpu").is_dir() and packages()):
        return "Slurm's RAPL plugin finds no processor package here, or no place for its registers (/dev/cpu)."
    return None


def packages() -> int:
    """As the plugin counts processor packages: each has the registers of its node's file."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return len({line.partition(":")[2] for line in lines if line.startswith("physical id")})


@contextlib.contextmanager
def counting(watts: dict[str, float], patch: pytest.MonkeyPatch, folder: Path) -> Iterator[Cluster]:
    """A cluster whose nodes each use so many watts, in the state directory that the environment names."""
    text = slurm._TEMPLATE.read_text()
    for ours, theirs in COUNTED.items():
        assert text.count(f"\n{ours}\n") == 1, ours
        text = text.replace(f"\n{ours}\n", f"\n{theirs}\n")
    (folder / "slurm.conf.in").write_text(text)
    patch.setattr(slurm, "_TEMPLATE", folder / "slurm.conf.in")
    patch.setattr(slurm, "prepare", _with_accounts(slurm.prepare))
    patch.setattr(slurm, "start", _with_database(slurm.start, folder))
    files = {folder / f"{node}.msr": power / packages() for node, power in watts.items()}
    _count(files, 0.0)
    done = threading.Event()
    counter = threading.Thread(target=_go_on, args=(files, done))
    counter.start()
    try:
        yield cluster.up(nodes=len(watts), slurm=True)
    finally:
        done.set()
        counter.join()
        cluster.down()


def _go_on(files: dict[Path, float], done: threading.Event) -> None:
    began = time.monotonic()
    while not done.wait(0.05):
        _count(files, time.monotonic() - began)


def _count(files: dict[Path, float], seconds: float) -> None:
    for path, watts in files.items():
        if not path.exists():
            path.write_bytes(bytes(UNITS) + struct.pack("<Q", 3) + bytes(SIZE - UNITS - 8))
        with path.open("r+b") as registers:
            registers.seek(PACKAGE)
            registers.write(struct.pack("<I", 1000 + round(watts * seconds)))


Prepare = Callable[[Path, Settings], tuple[dict[str, str], dict[str, str]]]
Start = Callable[[Path, Settings, slurm.Start], None]


def _with_accounts(prepare: Prepare) -> Prepare:
    """The same with slurmdbd's configuration, and Slurm's own sacct."""

    def whole(directory: Path, settings: Settings) -> tuple[dict[str, str], dict[str, str]]:
        binds, variables = prepare(directory, settings)
        user, _ = slurm._user(directory / "slurm")
        path = directory / "slurm" / "slurmdbd.conf"
        path.write_text(ACCOUNTS.format(directory=directory, user=user, port=PORT))
        path.chmod(0o600)
        return {target: source for target, source in binds.items() if not target.endswith("/sacct")}, variables

    return whole


def _with_database(start: Start, folder: Path) -> Start:
    """The same with MariaDB and slurmdbd before slurmctld, which needs them, and each slurmd before its registers."""

    def whole(directory: Path, settings: Settings, start_service: slurm.Start) -> None:
        def one(node: str, name: str, command: list[str]) -> object:
            if name == "slurmctld":
                _start_database(directory, start_service)
            if name == "slurmd":
                registers = REGISTERS.format(file=folder / f"{node}.msr")
                command = ["unshare", "--mount", "/bin/sh", "-ec", f"{registers}{command[-1]}"]
            return start_service(node, name, command)

        start(directory, settings, one)

    return whole


def _start_database(directory: Path, start_service: slurm.Start) -> None:
    data = f"--datadir={directory}/slurm/mariadb"
    as_root = ["--user=root"] if os.geteuid() == 0 else []
    made = process.answer(["mariadb-install-db", "--no-defaults", data, "--skip-test-db", *as_root], 120)
    assert made.status == 0, made
    options = ["--skip-grant-tables", "--bind-address=127.0.0.1", f"--port={PORT}"]
    options += [f"--{kind}={directory}/slurm/db.{kind}" for kind in ("socket", "pid-file")]
    options += ["--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite", *as_root]
    start_service("vc0", "mariadbd", [str(slurm._path_of("mariadbd")), "--no-defaults", data, *options])
    # slurmdbd ends if there is no database yet
    ready = f"until (exec 3<>/dev/tcp/127.0.0.1/{PORT}) 2>/dev/null; do sleep 0.05; done; "
    ready += f"until [ -S {directory}/tmp/munge.sock ]; do sleep 0.05; done; "
    start_service("vc0", "slurmdbd", ["/bin/bash", "-c", f"{ready}exec {slurm._path_of('slurmdbd')} -D"])
    add = [str(directory / "exec"), "vc0", "sacctmgr", "--immediate", "add", "cluster", "vc"]
    assert eventually(lambda: process.answer(add, 60).status == 0), process.answer(add, 60)
