# SPDX-License-Identifier: BSD-3-Clause
"""All mends, for mends.py."""

from __future__ import annotations

from .mends_lifecycle import LIVES
from .mends_offload import OFFLOAD
from .mends_program import PROGRAM
from .mends_surroundings import SURROUNDINGS
from .mends_waking import WAKING

MENDS = (*PROGRAM, *LIVES, *OFFLOAD, *WAKING, *SURROUNDINGS)
