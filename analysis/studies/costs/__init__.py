# SPDX-License-Identifier: BSD-3-Clause
"""No paper's: what the engine costs where messages are sent."""
