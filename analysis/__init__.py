# SPDX-License-Identifier: BSD-3-Clause
"""From records to statements: load, metrics, statistics, figures, claims, reports, comparisons.

Importing this package costs nothing; pandas, SciPy and matplotlib are imported by the modules that use them.
"""
