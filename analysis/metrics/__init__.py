# SPDX-License-Identifier: BSD-3-Clause
"""From the samples of ranks to metrics with intervals: formulas, times, the limit, the frame of all metrics."""
