# SPDX-License-Identifier: BSD-3-Clause
"""What figures are drawn with: looks, panels, and the shapes that several studies share."""
