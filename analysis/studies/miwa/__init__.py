# SPDX-License-Identifier: BSD-3-Clause
"""Miwa, Nakashima, Naruse, "Interference-aware incoming message detection for MPI threaded progression"."""
