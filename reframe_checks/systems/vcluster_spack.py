# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster with engine and workloads from Spack, see vcluster.py."""

from reframe_checks.systems.vcluster import configuration
from spack_env.site_environment import FROM_SPACK

site_configuration = configuration("vcluster-spack", FROM_SPACK)
