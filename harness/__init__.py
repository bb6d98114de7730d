# SPDX-License-Identifier: BSD-3-Clause
"""The harness behind ./bench: sets up, plans and runs sessions, and hands their records to the analysis."""

__version__ = "0.1.0"
