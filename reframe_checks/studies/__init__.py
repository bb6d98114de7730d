# SPDX-License-Identifier: BSD-3-Clause
"""The studies: a file a paper or another group, with what each study runs."""
