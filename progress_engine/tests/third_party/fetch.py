# SPDX-License-Identifier: BSD-3-Clause
"""What these tests need from PyPI beyond uv.lock: pinned with its hash, unpacked once below .bench."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import unpack_archive

from harness.base.paths import ROOT
from harness.base.steps import setup_lock


@dataclass(frozen=True)
class Archive:
    """One file of a PyPI project; `sha256` names which: its source package or its wheel."""

    project: str
    version: str
    sha256: str
    source: bool

    @property
    def place(self) -> Path:
        return ROOT / ".bench" / "third_party" / f"{self.project}-{self.version}"

    def folder(self) -> Path:
        """The unpacked archive, downloaded at the first call. Safe to call from several processes."""
        with setup_lock():
            if not self.place.exists():
                self.place.parent.mkdir(parents=True, exist_ok=True)
                self._download()
        return self.place

    def _download(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.place.parent) as name:
            wanted = Path(name) / "wanted.txt"
            wanted.write_text(f"{self.project}=={self.version} --hash=sha256:{self.sha256}\n")
            kind = "--no-binary" if self.source else "--only-binary"
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps"]
            command = [*pip, kind, self.project, "--require-hashes", "-r", str(wanted), "-d", name]
            subprocess.run(command, check=True, timeout=240)
            (archive,) = (path for path in Path(name).iterdir() if path != wanted)
            unpacked = Path(name) / "unpacked"
            unpack_archive(archive, unpacked, "gztar" if self.source else "zip")
            unpacked.rename(self.place)


MPI4PY = Archive("mpi4py", "4.1.2", "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02", source=True)
# IMB-MT of Intel's wheel is linked with Intel's OpenMP run time, which has a wheel of its own.
INTEL_OPENMP = Archive(
    "intel-openmp", "2026.2.0", "2308a1a3e74718a9cd8cccf218c34d8cd80b43d3b89dfbb01b38dee205c50980", source=False
)
