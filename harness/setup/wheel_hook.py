# SPDX-License-Identifier: BSD-3-Clause
"""Hatchling's build hook: a wheel names the commit that it was made of. That of `./bench wheel` brings what that has
built, any other stays pure Python."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[misc] # Hatchling is where the wheel is built, and not here
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            self._name_commit(build_data)
        given = os.environ.get("OVERLAP_BENCH_PREBUILT")  # by `./bench wheel`
        if not given:
            return
        made = Path(given)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"  # auditwheel says which Linux
        build_data["shared_scripts"] |= {str(tool): tool.name for tool in (made / "bin").iterdir()}
        build_data["shared_data"] |= {str(made / folder): folder for folder in ("include", "lib")}
        build_data["force_include"] |= {str(made / "prebuilt"): "overlap_bench/prebuilt"}

    def _name_commit(self, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from harness.base import machine, paths  # noqa: PLC0415 # found since that line

        if state := machine.commit_state(Path(self.root)):
            self._made = tempfile.TemporaryDirectory()  # there until the wheel is packed: as long as this hook
            file = Path(self._made.name) / paths.PACKED_FROM
            file.write_text(json.dumps(state))
            build_data["force_include"][str(file)] = f"overlap_bench/{file.name}"
