# SPDX-License-Identifier: BSD-3-Clause
"""The two ways in which the analysis ends badly; who calls it turns them into a sentence and a status."""

from harness.base.errors import there_are

__all__ = ["Failure", "UsageError", "there_are"]


class UsageError(Exception):
    """What was asked for cannot be done as asked; the message is the sentence that the user reads."""


class Failure(Exception):  # noqa: N818 - the field's word; it is not a programming error
    """Something that should have worked did not, such as writing a file."""
