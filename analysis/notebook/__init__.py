# SPDX-License-Identifier: BSD-3-Clause
"""What the notebooks of notebooks/ are written with: a session, and sentences whose numbers are checked."""
