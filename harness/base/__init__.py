# SPDX-License-Identifier: BSD-3-Clause
"""What everything else stands on: errors, paths, the machine, MPIs, variants. Imports nothing else of the project."""
