# SPDX-License-Identifier: BSD-3-Clause
"""The systems that can be run on: site files, what is found on a machine, how a program is launched there."""
