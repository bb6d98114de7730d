# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster with engine and workloads from Spack, see site.py."""

from harness.spack import FROM_SPACK
from reframe_checks.systems.vcluster.site import configuration

site_configuration = configuration("vcluster-spack", FROM_SPACK)
