# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the checks; those that run whole sessions are in harness/tests."""
