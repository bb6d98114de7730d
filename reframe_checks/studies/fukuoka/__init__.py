# SPDX-License-Identifier: BSD-3-Clause
"""Fukuoka, Endo, Taura, "An Efficient Inter-node Communication System with Lightweight-thread Scheduling", HPCC 2019:
studies F1, F2 and F3."""
