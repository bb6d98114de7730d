# SPDX-License-Identifier: BSD-3-Clause
"""Does the engine slow any workload down? ./bench harm."""
