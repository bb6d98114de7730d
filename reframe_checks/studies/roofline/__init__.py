# SPDX-License-Identifier: BSD-3-Clause
"""What the machine can do, and the serial kernels against it."""
