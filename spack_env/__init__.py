# SPDX-License-Identifier: BSD-3-Clause
"""Overlap Bench through Spack: recipes, environments one an MPI, fabrics, and what writes a site's externals.

repo/           recipes of the engine and the workloads
environments/   one an MPI, and the third-party codes
templates/      one a fabric: which variants of MPIs and transports suit it
make_site.py    finds what a machine has and writes sites/NAME/packages.yaml (not in git)
TESTED.md       what of this has been run, installed, concretised or linted only
"""
