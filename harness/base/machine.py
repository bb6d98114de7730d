# SPDX-License-Identifier: BSD-3-Clause
"""Provenance: what machine this is, for ./bench doctor too, and which commit a repository is at. Standard library only:
it also runs on compute nodes.

`python -m harness.base.machine FOLDER` writes FOLDER/<host>.<digest>.json: provenance once a node.

A repository may be somebody else's: git then answers nothing unless it is told that the folder is meant. And a folder
may be an exported tree: whatever repository it happens to lie in is not its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import socket
import sys
from pathlib import Path
from typing import Any

from harness.base import process
from harness.base.errors import UsageError

CPU = Path("/sys/devices/system/cpu")
NET = Path("/sys/class/net")
RDMA_DRIVERS = ("mlx4", "mlx5", "hfi1", "irdma", "bnxt_re", "efa", "cxi", "qedr", "ib_")


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _cpu_info(key: str) -> list[str]:
    return re.findall(rf"^{key}\s*:\s*(.*)$", _read(Path("/proc/cpuinfo")) or "", re.MULTILINE)


def topology() -> dict[str, Any]:
    """Sockets, cores, threads a core, and the caches as seen from CPU 0."""
    cpus = [path for path in CPU.glob("cpu[0-9]*") if (path / "topology").is_dir()]
    sockets = {_read(cpu / "topology/physical_package_id") for cpu in cpus}
    cores = {(_read(cpu / "topology/physical_package_id"), _read(cpu / "topology/core_id")) for cpu in cpus}
    caches = {}
    for cache in sorted((CPU / "cpu0/cache").glob("index*")):
        level, kind = _read(cache / "level"), (_read(cache / "type") or "").lower()
        caches[f"L{level} {kind}"] = {"size": _read(cache / "size"), "cpus": _read(cache / "shared_cpu_list")}
    return {
        "cpus": os.cpu_count(),
        "sockets": len(sockets) or None,
        "cores": len(cores) or None,
        "threads_per_core": len(cpus) // len(cores) if cores else None,
        "caches": caches,
    }


def available_cores(allowed: set[int] | None = None) -> list[list[int]]:
    """The CPUs that this process may use, or `allowed`, by core, cores of one socket next to each other."""
    cores: dict[tuple[int, int], list[int]] = {}
    for cpu in sorted(os.sched_getaffinity(0) if allowed is None else allowed):
        topology = CPU / f"cpu{cpu}" / "topology"
        try:
            key = int((topology / "physical_package_id").read_text()), int((topology / "core_id").read_text())
        except (OSError, ValueError):  # not all kernels and containers show it
            key = (0, cpu)
        cores.setdefault(key, []).append(cpu)
    return [cores[key] for key in sorted(cores)]


def socket_of(cpu: int) -> str | None:
    """The socket that a CPU belongs to, by its number as text; None where the system does not say."""
    return _read(CPU / f"cpu{cpu}/topology/physical_package_id")


def mwait() -> str | None:
    """What user mode can wait for a store with."""
    flags = (_cpu_info("flags") or [""])[0].split()
    return next((name for flag, name in (("waitpkg", "umwait"), ("mwaitx", "mwaitx")) if flag in flags), None)


def _turbo() -> str:
    for path, on in ((CPU / "intel_pstate/no_turbo", "0"), (CPU / "cpufreq/boost", "1")):
        if (value := _read(path)) is not None:
            return "on" if value == on else "off"
    return "unknown"


def _distribution() -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', _read(Path("/etc/os-release")) or "", re.MULTILINE)
    return found.group(1) if found else "unknown"


def interfaces() -> list[dict[str, Any]]:
    """Network interfaces but loopback, InfiniBand-like devices included."""
    found = []
    for path in sorted(NET.glob("*")):
        if path.name != "lo":
            driver = (path / "device/driver").resolve().name if (path / "device/driver").exists() else "virtual"
            speed = _read(path / "speed")
            rate = int(speed) * 10**6 if speed and speed.lstrip("-").isdigit() and int(speed) > 0 else None
            found.append({"name": path.name, "driver": driver, "rate_bits_per_s": rate})
    for port in sorted(Path("/sys/class/infiniband").glob("*/ports/*")):
        rate_words = _read(port / "rate") or ""
        match = re.match(r"([\d.]+) Gb/sec", rate_words)
        name = f"{port.parent.parent.name}:{port.name}"
        rate = int(float(match.group(1)) * 10**9) if match else None
        found.append({"name": name, "driver": _read(port / "link_layer") or "rdma", "rate_bits_per_s": rate})
    return found


def facts() -> dict[str, Any]:
    """The machine's part of a session's provenance."""
    model = _cpu_info("model name") or _cpu_info("cpu") or [platform.processor() or platform.machine()]
    memory = re.search(r"^MemTotal:\s+(\d+) kB", _read(Path("/proc/meminfo")) or "", re.MULTILINE)
    return {
        "cpu_model": model[0],
        **topology(),
        "mwait": mwait(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "distribution": _distribution(),
        "governor": _read(CPU / "cpu0/cpufreq/scaling_governor") or "unknown",
        "turbo": _turbo(),
        "clock_source": _read(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")) or "unknown",
        "virtual_machine": "hypervisor" in (_cpu_info("flags") or [""])[0].split(),
        "memory_bytes": int(memory.group(1)) * 1024 if memory else None,
        "nics": interfaces(),
    }


def write(folder: Path) -> None:
    """Write this node's facts into `folder`, atomically.

    The name holds a digest of the facts: two nodes of one name, or one node that changed between two attempts, do not
    overwrite each other, and ranks of one node write the same file.
    """
    host = socket.gethostname()
    text = json.dumps({"host": host} | facts(), indent=1) + "\n"
    path = folder / f"{host}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_text(text)
    partial.replace(path)


GIT_LIMIT_S = 120.0


def ask_git(where: Path, *words: str) -> process.Answer:
    """What git says, in English; an answer without status where there is no repository."""
    if not (where / ".git").exists():
        return process.Answer(None, "", f"{where} is no git repository")
    # without the locks that a refreshed index takes: killed, git would leave one behind in somebody's repository
    command = ["git", "--no-optional-locks", "-C", str(where), "-c", f"safe.directory={where}", *words]
    return process.answer(command, GIT_LIMIT_S, dict(os.environ) | {"LC_ALL": "C"})


def commit_of(repository: Path, revision: str) -> str:
    """The full name of a commit; UsageError if there is none."""
    found = ask_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.status is None:
        raise UsageError(f"There is no commit '{revision}': {found.last_line}.")
    if found.status != 0:
        raise UsageError(f"{repository} has no such commit: '{revision}'.{_shallow(repository)}")
    return found.out.strip()


def _shallow(repository: Path) -> str:
    """What may help where a commit is not there; empty unless the clone was made without its history."""
    if ask_git(repository, "rev-parse", "--is-shallow-repository").out.strip() != "true":
        return ""
    return (
        " It is a shallow clone, which lacks older commits and other branches: fetch all (git fetch --unshallow; in CI "
        "fetch-depth: 0 or GIT_DEPTH: 0), and name a branch as origin/BRANCH."
    )


def dirty(repository: Path) -> bool | None:
    """Whether its files are not those of its commit; None where that cannot be told."""
    state = ask_git(repository, "status", "--porcelain")
    return bool(state.out.strip()) if state.status == 0 else None


def commit_state(repository: Path) -> dict[str, Any] | None:
    """`commit` and `dirty` of its files; None where git knows nothing of them."""
    commit, changed = ask_git(repository, "rev-parse", "HEAD"), dirty(repository)
    return None if commit.status != 0 or changed is None else {"commit": commit.out.strip(), "dirty": changed}


def commit_line(repository: Path, commit: str) -> str:
    """A commit in a line: its name, its date and what it says of itself."""
    return ask_git(repository, "log", "-1", "--format=%h %as %s", commit).out.strip()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
