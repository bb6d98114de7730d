# SPDX-License-Identifier: BSD-3-Clause
"""What the papers claim, decided from intervals."""
