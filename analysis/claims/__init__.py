# SPDX-License-Identifier: BSD-3-Clause
"""What the papers claim, decided from intervals; history.json says when each claim was written and last changed."""
