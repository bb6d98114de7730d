# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes: how each is found, run, verified and read. No source of theirs is here."""
