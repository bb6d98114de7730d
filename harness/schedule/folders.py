# SPDX-License-Identifier: BSD-3-Clause
"""Where the parts of a session are. The analysis reads the same layout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
