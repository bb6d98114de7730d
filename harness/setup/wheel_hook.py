# SPDX-License-Identifier: BSD-3-Clause
"""Hatchling's build hook: the wheel of `./bench wheel` brings what that has built. Any other stays pure Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[misc] # Hatchling is where the wheel is built, and not here
    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        given = os.environ.get("OVERLAP_BENCH_PREBUILT")  # by `./bench wheel`
        if not given:
            return
        made = Path(given)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"  # auditwheel says which Linux
        build_data["shared_scripts"] |= {str(tool): tool.name for tool in (made / "bin").iterdir()}
        build_data["shared_data"] |= {str(made / folder): folder for folder in ("include", "lib")}
        build_data["force_include"] |= {str(made / "prebuilt"): "overlap_bench/prebuilt"}
