# SPDX-License-Identifier: BSD-3-Clause
"""The two ways a command ends badly.

The message is the sentence that the user reads: what was wrong, where, what would be right.
"""


class UsageError(Exception):
    """What was asked for cannot be done as asked: exit status 2."""


class Failure(Exception):  # noqa: N818 - the field's word; it is not a programming error
    """Something that should have worked did not: exit status 1."""
