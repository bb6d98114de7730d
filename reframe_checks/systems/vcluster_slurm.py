# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster under a real Slurm, see vcluster.py."""

from reframe_checks.systems.vcluster import configuration

site_configuration = configuration("vcluster-slurm")
