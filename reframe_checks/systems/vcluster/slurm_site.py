# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster under a real Slurm, see site.py."""

from reframe_checks.systems.vcluster.site import configuration

site_configuration = configuration("vcluster-slurm")
