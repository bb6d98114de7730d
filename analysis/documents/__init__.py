# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are printed by themselves and kept as documents: harm, the engine's costs, the roofline, studies."""
