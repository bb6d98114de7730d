# SPDX-License-Identifier: BSD-3-Clause
"""The schedule of launches inside one job: planned by the check, run on the allocation, one record file a launch."""
