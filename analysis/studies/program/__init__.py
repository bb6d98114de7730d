# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a user's own program."""
