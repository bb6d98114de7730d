# SPDX-License-Identifier: BSD-3-Clause
"""Ruhela et al., "Efficient Asynchronous Communication Progress for MPI without Dedicated Resources", EuroMPI 2018."""
