# SPDX-License-Identifier: BSD-3-Clause
"""The pages, and what generates some of them (docs/generate)."""
