# SPDX-License-Identifier: BSD-3-Clause
"""The wheel of ./bench wheel, installed in bare images without a compiler: Debian 12, and Debian 11 with glibc 2.31."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, ROOT
from harness.setup import environment

from .compiler import PROGRAM

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.timeout(3600)]

MOST_BYTES = 20_000_000
SYSROOT = BUILD_DIR / "portable" / "sysroot"
INSTALL = "apt-get update -q && apt-get install -q -y --no-install-recommends"
# How an image gets a virtual environment. Debian 11's own Python is too old: Debian 12's is compiled there.
VENV = {
    "bookworm": [f"{INSTALL} python3-venv && python3 -m venv /venv"],
    "bullseye": [
        "echo deb-src http://deb.debian.org/debian bookworm main >>/etc/apt/sources.list",
        f"{INSTALL} gcc libc6-dev make libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev zlib1g-dev",
        "mkdir /python && cd /python && apt-get source -q --download-only python3.11",
        "cd /python && tar xf *.orig.tar.* --strip-components=1",
        "cd /python && ./configure -q CFLAGS=-O1 --disable-test-modules && make -s -j2",
        "cd /python && make -s install",
        "apt-get purge -q -y gcc gcc-10 cpp cpp-10 make && /usr/local/bin/python3.11 -m venv /venv",
    ],
}
DEMO = [
    "! command -v cc gcc g++ clang cmake",
    "/venv/bin/pip install -q /root/*.whl",
    "cd /root && OVERLAP_BENCH_HOME=/home /venv/bin/bench demo",
]
USERS = "export LD_LIBRARY_PATH=/home/.mpi/mpich/lib && /home/.mpi/mpich/bin/mpiexec -n 2 /venv/bin/progress-run"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    command = [sys.executable, "-m", "harness", "wheel", "--to", str(tmp_path_factory.mktemp("wheel"))]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=2400)
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.splitlines()[-1])


def test_auditwheel_takes_it_and_it_is_small(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl")
    assert wheel.stat().st_size <= MOST_BYTES


@pytest.mark.parametrize("suite", VENV)
def test_the_demo_and_a_users_program_run_without_a_compiler(wheel: Path, suite: str, tmp_path: Path) -> None:
    if not environment.may_install() or shutil.which("debootstrap") is None:
        pytest.skip("an image takes root and debootstrap")

    def image(*commands: str) -> str:
        call = [str(ROOT / ".ci" / "bare_image"), suite, str(tmp_path / "image"), *commands]
        done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    image(*VENV[suite])
    shutil.copy(wheel, tmp_path / "image" / "root")
    said = image(*DEMO)
    assert "/report.html" in said and "building" not in said
    (tmp_path / "app.c").write_text(PROGRAM)
    older = f"gcc --sysroot={SYSROOT} -B{SYSROOT}/usr/lib/x86_64-linux-gnu/ -Wl,--allow-shlib-undefined"
    command = [str(MPIS["mpich"].mpicc), "app.c", "-o", "image/root/app"]
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"MPICH_CC": older}, check=True, timeout=60)
    assert "progress engine: adaptive on 2 ranks" in image(f"{USERS} --strict --report -- /root/app")
