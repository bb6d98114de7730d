# SPDX-License-Identifier: BSD-3-Clause
"""The 26 studies and all their claims, in the papers' order."""

from __future__ import annotations

from analysis.claims import fukuoka, gemini, miwa, pioman, ruhela

STUDIES = (*pioman.STUDIES, *miwa.STUDIES, *ruhela.STUDIES, *fukuoka.STUDIES, *gemini.STUDIES)
