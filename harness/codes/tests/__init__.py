# SPDX-License-Identifier: BSD-3-Clause
"""Parsers on outputs as they came, whole and damaged."""
