# SPDX-License-Identifier: BSD-3-Clause
"""Sizes as people write them: 64KB, 4 MB, 1.5M, 1GiB. Powers of two, as the report says sizes."""

from __future__ import annotations

import re

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+(?= ?[KMG]))?) ?([KMG]?)(?:i?B)?", re.IGNORECASE)


def size_of(text: str) -> int | None:
    """In bytes; None of what is no size."""
    found = _SIZE.fullmatch(text.strip())
    return round(float(found[1]) * UNITS.get(found[2].upper(), 1)) if found else None


def in_bytes(name: str, text: str) -> str:
    """The value of what is a size by its name as a number, 64KB as 65536; any other as it is."""
    size = size_of(text) if name.endswith("_bytes") and not text.isdecimal() else None
    return text if size is None else str(size)


def bytes_text(size: float) -> str:
    """4194304 -> '4 MB': powers of two, as message sizes are."""
    for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.4g} {unit}"
    return f"{size:g} B"
