# SPDX-License-Identifier: BSD-3-Clause
"""The studies: a folder a paper, a file a study with its parameters and its check."""
