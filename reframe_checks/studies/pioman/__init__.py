# SPDX-License-Identifier: BSD-3-Clause
"""Denis, "pioman: a pthread-based Multithreaded Communication Engine", PDP 2015: studies P1 to P10."""
