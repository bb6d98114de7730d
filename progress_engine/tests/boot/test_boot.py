# SPDX-License-Identifier: BSD-3-Clause
"""The wait functions of engine and workloads with umwait and mwaitx, on emulated processors that have them."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base import debian
from harness.base.errors import Failure
from harness.base.paths import ROOT, STATE_DIR

LAST_WORDS = "wait-loop: end"
LIMIT_S = 500  # on a busy machine
SECOND = 1_000_000_000  # of emulated time, in nanoseconds
A_FEW = 100  # turns of the wait loop; who does not sleep makes thousands


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("model", "instruction"),
    [("sapphire_rapids", "umwait-c0.2"), ("arrow_lake", "umwait-c0.2"), ("ryzen", "mwaitx-c1")],
)
def test_a_store_wakes_a_deadline_expires_and_no_wait_is_lost(model: str, instruction: str, tmp_path: Path) -> None:
    root = emulator(STATE_DIR / "emulator")
    if root is None:
        pytest.skip(f"Bochs 3.0 of Debian's {RELEASE.suites[0]} cannot be downloaded here")
    image = build(ROOT / "progress_engine", ROOT / "workloads", tmp_path)
    booted = boot(root, image, model, tmp_path, LAST_WORDS, LIMIT_S)
    assert LAST_WORDS in booted.serial, f"serial line: {booted.serial[-800:]}\nlog: {booted.log[-800:]}"
    found = results(booted.serial)
    assert found["instruction"] == instruction
    assert 2 * SECOND <= int(found["deadline"]) < 3 * SECOND
    assert int(found["deadline-looks"]) < A_FEW, "it did not sleep"
    assert int(found["store"]) < SECOND, "it slept on: the deadline is 600 s away"
    assert int(found["store-looks"]) < A_FEW, "it did not sleep"
    assert (found["waits"], found["lost"]) == ("100000", "0")
    for depth in ("light", "deep"):  # of workloads/interference/mwait.cpp, as many waits
        assert int(found[f"{depth}-turns"]) < A_FEW, "it did not sleep"
        assert found[f"{depth}-lost"] == "0"


# A machine of two emulated processors that runs one small program and nothing else, and says what that wrote.
RELEASE = debian.Release(("trixie",))
PACKAGE = "bochs"
SECTORS_A_CYLINDER = 16 * 63

BOCHSRC = """\
plugin_ctrl: voodoo=0, speaker=0, gameport=0, iodebug=0
display_library: rfb, options="timeout=0"
cpu: model={model}, count=2, ips=10000000, quantum=5, reset_on_triple_fault=0
megs: 64
romimage: file={data}/BIOS-bochs-latest
vgaromimage: file={data}/VGABIOS-lgpl-latest
ata0-master: type=disk, path={image}, mode=flat, cylinders=1, heads=16, spt=63
boot: disk
com1: enabled=1, mode=file, dev={serial}
clock: sync=none, time0=utc
panic: action=fatal
error: action=report
log: {log}
"""
COMPILE = (
    "g++ -std=c++20 -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-stack-protector -fno-pic -no-pie "
    "-fno-asynchronous-unwind-tables -mno-red-zone -U_FORTIFY_SOURCE -nostdlib -static -Wl,--oformat,binary "
    "-Wl,--build-id=none"
)


def emulator(cache: Path) -> Path | None:
    """The folder of the unpacked packages, below `cache`; None where they cannot be had."""
    root = cache / f"bochs-{RELEASE.suites[0]}"
    if not root.exists():
        try:
            debian.unpack(RELEASE, [PACKAGE], cache / "packages", root)
        except Failure:
            return None
    return root


def build(engine: Path, workloads: Path, folder: Path) -> Path:
    """A disk that boots boot/wait_machine.cpp with the wait functions of the engine and of a workload."""
    here, image = engine / "tests" / "boot", folder / "disk"
    waits = [engine / "src" / "wait" / "user_wait.cpp", workloads / "interference" / "mwait.cpp"]
    sources = [here / "machine.S", here / "wait_machine.cpp", *waits]
    command = [
        *COMPILE.split(),
        f"-I{engine / 'src'}",
        f"-I{workloads}",
        f"-Wl,-T,{here / 'machine.ld'}",
        "-o",
        str(image),
        *map(str, sources),
    ]
    subprocess.run(command, check=True)
    with image.open("r+b") as disk:
        disk.truncate(SECTORS_A_CYLINDER * 512)
    return image


@dataclass(frozen=True)
class Boot:
    """What an emulated machine said: on its serial line and, if something went wrong with it, in Bochs' log."""

    serial: str
    log: str


def boot(root: Path, image: Path, model: str, folder: Path, last_words: str, limit_s: float) -> Boot:
    """Boot `image` until the serial line holds `last_words`, or for `limit_s`; then end the emulator."""
    serial, log, config, commands = (folder / name for name in ("serial", "log", "bochsrc", "commands"))
    data, libraries = root / "usr/share/bochs", root / debian.LIBRARIES
    plugins = libraries / "bochs" / "plugins"
    config.write_text(BOCHSRC.format(model=model, data=data, image=image, serial=serial, log=log))
    commands.write_text("continue\n")  # its debugger stops before the first step
    bochs = debian.program(root, "usr/bin/bochs-bin", [plugins])
    command = [*bochs, "-q", "-f", str(config), "-rc", str(commands)]
    environment = {"LTDL_LIBRARY_PATH": str(plugins), "BXSHARE": str(data), "HOME": str(folder)}
    end, none = time.monotonic() + limit_s, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=none, stdout=none, stderr=none) as running:
        try:
            while last_words not in _text(serial) and running.poll() is None and time.monotonic() < end:
                time.sleep(0.2)
        finally:
            running.kill()
    return Boot(_text(serial), _text(log))


def results(serial: str) -> dict[str, str]:
    return dict(re.findall(r"wait-loop: (\S+) (\S+)", serial))


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
