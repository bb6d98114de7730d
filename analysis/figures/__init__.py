# SPDX-License-Identifier: BSD-3-Clause
"""One file a figure, drawn with one toolkit; `draw_all` draws those that the records can fill."""
