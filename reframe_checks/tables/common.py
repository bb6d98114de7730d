# SPDX-License-Identifier: BSD-3-Clause
"""What the papers' tables share."""

from __future__ import annotations

KIB, MIB = 1024, 1024 * 1024
