# SPDX-License-Identifier: BSD-3-Clause
"""Where the parts of a session are. The analysis reads the same layout."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

PROBE_BYTES = 1 << 16  # larger than what a nearly full disk may still have in a block


@dataclass(frozen=True)
class Folders:
    """The folders of one session."""

    session: Path

    @property
    def records(self) -> Path:
        return self.session / "records"

    @property
    def calibration(self) -> Path:
        return self.session / "calibration"

    @property
    def logs(self) -> Path:
        return self.session / "logs"

    @property
    def nodes(self) -> Path:
        return self.session / "nodes"

    @property
    def scratch(self) -> Path:
        return self.session / "scratch"

    def make(self) -> None:
        for folder in (self.records, self.calibration, self.logs, self.nodes, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)


def trouble(session: Path) -> str:
    """Why this session does not take records any more, as the system calls it; empty if it does."""
    probe = Folders(session).records / f".probe.{os.getpid()}"
    try:
        with probe.open("wb") as stream:
            stream.write(bytes(PROBE_BYTES))
            os.fsync(stream.fileno())
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
    return ""
