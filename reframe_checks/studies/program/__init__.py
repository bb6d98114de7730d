# SPDX-License-Identifier: BSD-3-Clause
"""A user's own program."""
