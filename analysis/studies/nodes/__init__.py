# SPDX-License-Identifier: BSD-3-Clause
"""What is said of the nodes of an allocation."""
