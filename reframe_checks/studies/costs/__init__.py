# SPDX-License-Identifier: BSD-3-Clause
"""What the engine costs where messages are sent; what it costs without any is measured by its own benchmarks."""
