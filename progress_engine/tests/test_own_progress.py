# SPDX-License-Identifier: BSD-3-Clause
"""Where a network moves messages by itself the engine stays off and says so. The rules: own_progress_test.cpp.

Here a whole process meets such a network, made up: in name spaces of its own its /dev and /sys show the adapter, the
device is open as if the MPI had opened it, and a library of that name is loaded. The MPI goes over TCP all the same.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.mpis import MPIS

from .conftest import TIME_LIMIT, compiled, reports

pytestmark = pytest.mark.mpi
FULL = pytest.mark.full

# $1: the device, $2: where a list of the kernel's has the adapter ("" if nowhere); then the command.
MADE_UP = """
set -e
device=$1; adapter=$2; shift 2
old=$(mktemp -d)
mount -t tmpfs none "$old"
mkdir "$old/dev"
mount --rbind /dev "$old/dev"
mount -t tmpfs none /dev
for name in null zero full random urandom; do touch /dev/$name; mount --bind "$old/dev/$name" /dev/$name; done
mkdir /dev/shm
mount --rbind "$old/dev/shm" /dev/shm
mkdir -p "$(dirname "$device")"
touch "$device"
mkdir "$old/net"
mount --rbind /sys/class/net "$old/net"
mount -t tmpfs none /sys/class
mkdir /sys/class/net
mount --rbind "$old/net" /sys/class/net
if [ "$adapter" ]; then mkdir -p "$adapter"; fi
exec "$@" < "$device"  # its standard input: other numbers are the launcher's
"""


@dataclass(frozen=True)
class Network:
    device: str
    library: str = ""
    adapter: str = ""


SLINGSHOT = Network("/dev/cxi0", adapter="/sys/class/cxi/cxi0")
OMNI_PATH = Network("/dev/hfi1_0", "libpsm2.so")
INFINIBAND = Network("/dev/infiniband/uverbs0", "libuct_ib.so", "/sys/class/infiniband/mlx5_0")


def run(
    folder: Path, network: Network, variables: dict[str, str], *settings: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    """One rank on such a network: what it printed, and its report."""
    mpi = MPIS["mpich"]
    if not mpi.installed() or not (mpi.build_dir / "bin" / "progress-run").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")
    alone = ["unshare", "-rm", "sh", "-c", MADE_UP, "-", network.device, network.adapter]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine gives no name spaces")
    loaded = []
    if network.library:
        empty = folder / "empty.c"
        empty.write_text("int unused;\n")
        options = ["-shared", "-fPIC", "-o", str(folder / network.library), str(empty)]
        subprocess.run([mpi.mpicc, *options], check=True, env=os.environ | mpi.environment())
        loaded = [f"LD_PRELOAD={folder / network.library}"]
    program = compiled(mpi, "bell.c", folder)
    given = [word for setting in (f"report_file={folder}/report.%r", *settings) for word in ("--set", setting)]
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive", "--report", *given, "--"]
    done = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *mpi.launch_command(1, 1),
         *alone, "env", *loaded, *engine, str(program)],
        env=os.environ | mpi.environment("tcp") | variables, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "rank 0: done" in done.stdout
    assert "wrong" not in done.stdout
    return done, reports(folder, 1)[0]


@pytest.mark.parametrize(
    ("network", "variables", "who"),
    [
        (SLINGSHOT, {}, "the Slingshot adapter matches and moves messages (FI_CXI_RX_MATCH_MODE=software"),
        pytest.param(OMNI_PATH, {}, "PSM2 has a thread of its own (PSM2_RCVTHREAD=0", marks=FULL),
        pytest.param(
            INFINIBAND,
            {"UCX_RC_MLX5_TM_ENABLE": "y"},
            "UCX lets the InfiniBand adapter match messages (UCX_RC_MLX5",
            marks=FULL,
        ),
    ],
    ids=["slingshot", "omni-path", "infiniband"],
)
def test_it_stays_off_and_says_why(tmp_path: Path, network: Network, variables: dict[str, str], who: str) -> None:
    done, report = run(tmp_path, network, variables)
    assert report["active"] is False
    assert str(report["reason"]).startswith(who)
    assert str(report["reason"]).endswith("with events=none the engine polls all the same")
    line, reported = (line for line in done.stderr.splitlines() if who in line)
    assert line.endswith("the program runs without it.")
    assert "rank 0: adaptive: inactive: " in reported
    assert report["polls"] == 0


@pytest.mark.parametrize(
    ("network", "variables", "hint"),
    [
        (SLINGSHOT, {"FI_CXI_RX_MATCH_MODE": "software"}, "FI_CXI_RX_MATCH_MODE=hardware"),
        pytest.param(OMNI_PATH, {"PSM2_RCVTHREAD": "0"}, "PSM2_RCVTHREAD=1", marks=FULL),
        pytest.param(INFINIBAND, {}, "UCX_RC_MLX5_TM_ENABLE=y", marks=FULL),
    ],
    ids=["slingshot", "omni-path", "infiniband"],
)
def test_where_it_is_off_the_report_names_the_variable(
    tmp_path: Path, network: Network, variables: dict[str, str], hint: str
) -> None:
    done, report = run(tmp_path, network, variables)
    assert report["active"] is True, report["reason"]
    events = report["events"]
    assert isinstance(events, dict)
    assert hint in events["hint"]
    assert hint in done.stderr


@FULL
def test_who_asks_for_it_has_the_engine_all_the_same(tmp_path: Path) -> None:
    _, report = run(tmp_path, SLINGSHOT, {}, "events=none")
    assert report["active"] is True, report["reason"]
