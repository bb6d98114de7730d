# SPDX-License-Identifier: BSD-3-Clause
"""Does the engine slow any workload down? Every benchmark of every workload under the presets, against bare."""
