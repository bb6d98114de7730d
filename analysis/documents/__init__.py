# SPDX-License-Identifier: BSD-3-Clause
"""What commands and the report say of sessions in tables: harm, the engine's costs, programs, other tools."""
