# SPDX-License-Identifier: BSD-3-Clause
"""Sites' files to start from, one a fabric and a batch system. docs/how-to/cluster.md goes through them."""
