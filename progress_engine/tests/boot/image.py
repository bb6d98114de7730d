# SPDX-License-Identifier: BSD-3-Clause
"""A boot image of one program: Debian's kernel, an initial file system that holds the program as /init, isolinux.

And an emulator, Bochs, that boots it and says what came out of the serial line.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# What a boot needs, by Debian's package: the file or command that proves it is there.
FILES = {
    "isolinux": "/usr/lib/ISOLINUX/isolinux.bin",
    "syslinux-common": "/usr/lib/syslinux/modules/bios/ldlinux.c32",
    "bochsbios": "/usr/share/bochs/BIOS-bochs-latest",
    "vgabios": "/usr/share/vgabios/vgabios.bin",
}
COMMANDS = {"bochs": "bochs-bin", "genisoimage": "genisoimage"}
KERNEL_PACKAGE = "linux-image-cloud-amd64"
KERNELS = "boot/vmlinuz-*"
COMMAND_LINE = "console=ttyS0 nokaslr mitigations=off nosmp acpi=off pci=off tsc=reliable lpj=100000 panic=1"

BOCHSRC = """\
display_library: rfb, options="timeout=0"
plugin_ctrl: voodoo=0, speaker=0, gameport=0, iodebug=0
cpu: model=ryzen, count=1, ips=10000000, reset_on_triple_fault=0
megs: 256
romimage: file={bochsbios}
vgaromimage: file={vgabios}
ata0-master: type=cdrom, path={image}, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={serial}
clock: sync=none, time0=utc
panic: action=fatal
error: action=report
log: {log}
"""


def missing() -> list[str]:
    """The Debian packages that the emulator lacks here."""
    lacking = [package for package, path in FILES.items() if not Path(path).exists()]
    return lacking + [package for package, command in COMMANDS.items() if shutil.which(command) is None]


def kernel(cache: Path) -> Path | None:
    """Debian's kernel for virtual machines: small, with a serial console built in. None where it cannot be had.

    Its package is unpacked below `cache` and not installed: nothing of this machine's own boot may change.
    """
    if not list(cache.glob(KERNELS)) and shutil.which("apt-get"):
        cache.mkdir(parents=True, exist_ok=True)
        depends = _output(["apt-cache", "depends", KERNEL_PACKAGE], cache)
        if found := re.search(r"Depends: (linux-image-\S+)", depends):
            _output(["apt-get", "download", "-q", found.group(1)], cache)
        for package in cache.glob("*.deb"):
            _output(["dpkg", "-x", package.name, "."], cache)
            package.unlink()
    return next(iter(sorted(cache.glob(KERNELS))), None)


def _output(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def archive(files: dict[str, tuple[int, bytes]]) -> bytes:
    """A cpio archive as Linux wants it for an initramfs (newc): name -> mode and content."""
    entries = b""
    for number, (name, (mode, content)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))], start=1):
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        entries += _padded(head) + _padded(content)
    return entries


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def build(program: Path, linux: Path, folder: Path) -> Path:
    """An ISO image in `folder` that boots `linux` with `program`, a static one, as its first process."""
    tree = folder / "tree"
    tree.mkdir()
    shutil.copy(linux, tree / "linux")
    for package in ("isolinux", "syslinux-common"):
        shutil.copy(FILES[package], tree)
    files = {"dev": (0o040755, b""), "init": (0o100755, program.read_bytes())}
    (tree / "initrd").write_bytes(gzip.compress(archive(files), 1))
    (tree / "isolinux.cfg").write_text(
        f"default linux\nprompt 0\nlabel linux\n kernel linux\n append initrd=initrd {COMMAND_LINE}\n"
    )
    image = folder / "boot.iso"
    options = ["-quiet", "-o", str(image), "-b", "isolinux.bin", "-c", "boot.cat", "-no-emul-boot"]
    subprocess.run(["genisoimage", *options, "-boot-load-size", "4", "-boot-info-table", str(tree)], check=True)
    return image


@dataclass(frozen=True)
class Boot:
    """What an emulated machine said: on its serial line and, if something went wrong with it, in Bochs' log."""

    serial: str
    log: str


def boot(image: Path, folder: Path, last_words: str, limit_s: float) -> Boot:
    """Boot `image` in Bochs until its serial line holds `last_words`, or for `limit_s`; then end the emulator."""
    serial, log, config = folder / "serial.txt", folder / "bochs.log", folder / "bochsrc"
    config.write_text(
        BOCHSRC.format(image=image, serial=serial, log=log, bochsbios=FILES["bochsbios"], vgabios=FILES["vgabios"])
    )
    commands = folder / "commands"
    commands.write_text("continue\n")  # Debian's Bochs has its debugger built in, which stops before the first step
    end = time.monotonic() + limit_s
    command = ["bochs-bin", "-q", "-f", str(config), "-rc", str(commands)]
    none = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, stdin=none, stdout=none, stderr=none) as bochs:
        try:
            while last_words not in _text(serial) and bochs.poll() is None and time.monotonic() < end:
                time.sleep(0.5)
        finally:
            bochs.kill()
    return Boot(_text(serial), _text(log))


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
