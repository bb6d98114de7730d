# SPDX-License-Identifier: BSD-3-Clause
"""Which settings are best? What a search of settings shows, who goes on, what is tried next, and what is confirmed.

found = measured.read(Path("results/SESSION")); print(verdict.of(found).sentence)
"""
