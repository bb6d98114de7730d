# SPDX-License-Identifier: BSD-3-Clause
"""Sessions to report.html: the verdict, what was found a study, tables, figures."""
