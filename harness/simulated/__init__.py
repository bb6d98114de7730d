# SPDX-License-Identifier: BSD-3-Clause
"""The simulated system: nothing is launched, a model predicts.

    model_folder.py where the simulator is, and with which files it predicts
    model_file.py   the file of an MPI in a model
    smpi.py         the real workloads in SimGrid's MPI, in simulated time

The simulator itself, and what fits and checks its models, is in simulator/.
"""
