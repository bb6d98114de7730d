# SPDX-License-Identifier: BSD-3-Clause
"""Fukuoka, Endo, Taura, "An Efficient Inter-node Communication System with Lightweight-thread Scheduling", 2019."""
